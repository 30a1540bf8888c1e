// Source of a sequence's next tokens, sampled where the device does it best.
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
  std::vector<Token> recent;           // tokens that penalties count, oldest first
  uint32_t position;                   // first new token's position; earlier tokens are in the cache
  uint32_t last_column;                // column of the previous pass whose logits give the first token
  uint64_t max_tokens;                 // at least 1; limits the work
  std::vector<Token> end_tokens = {};  // stop tokens; a source may check only some of them
  bool may_rewind = true;              // false: the state cannot be rewound, so end() must report extra tokens
};

class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // The next token; nullopt if `stop` was set. A token's keys and values are in the cache once the next call has
  // returned a token. Error if the device fails; the cache's contents are then unknown.
  virtual std::optional<Token> next(const std::atomic<bool>& stop) = 0;
  // Call at the end where run.may_rewind is false: returns tokens sampled beyond those returned by next(). Cache and
  // state then contain all tokens, including these, except the last. nullopt: contents unknown.
  virtual std::optional<std::vector<Token>> end() { return std::vector<Token>(); }
};

// The decoder's last pass must have ended before run.position with the logits of its last token alone, and the decoder
// must stay unused while the source lives. At most max_positions() - run.position + 1 tokens may be requested.
std::unique_ptr<TokenSource> make_token_source(Decoder& decoder, TokenRun run);

// For a device with a sampler: pass by pass.
std::unique_ptr<TokenSource> make_device_token_source(Decoder& decoder, const TokenRun& run);

}  // namespace warpchat
