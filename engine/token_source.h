// The next tokens of a sequence, one after the other, sampled where the device samples best.
#pragma once
#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "engine/decoder.h"
#include "engine/sampler.h"

namespace warpchat {

struct TokenRun {
  SamplingParams sampling;
  std::vector<Token> recent;           // what penalties count, oldest first
  uint32_t position;                   // of the first token to come; those before are in the cache
  uint32_t last_column;                // of the pass before: its logits give the first token
  uint64_t max_tokens;                 // at least 1; no work is done for more
  std::vector<Token> end_tokens = {};  // behind which nothing is wanted; a source may know some of them only
  bool may_rewind = true;              // false: of a sequence whose state cannot be, so that end() must tell of it
};

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // The next token; nullopt if `stop` was set. A token's keys and values are in the cache once the next call has
  // returned a token. Error if the device fails: what the cache holds is then unknown.
  virtual std::optional<Token> next(const std::atomic<bool>& stop) = 0;
  // Ends it, where run.may_rewind is false: the tokens chosen beyond those given. What the sequence then has in cache
  // and state are all tokens, these too, but the last. nullopt: nobody knows what it has.
  virtual std::optional<std::vector<Token>> end() { return std::vector<Token>(); }
};

// The decoder must have had a pass that ended before run.position, with the logits of its last token alone, and do
// nothing else while the source lives. At most max_positions() - run.position + 1 tokens may be asked for.
std::unique_ptr<TokenSource> make_token_source(Decoder& decoder, TokenRun run);

// Of a device with a sampler, pass by pass.
std::unique_ptr<TokenSource> make_device_token_source(Decoder& decoder, const TokenRun& run);

}  // namespace warpchat
