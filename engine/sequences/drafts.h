// Prompt lookup: where an answer repeats earlier text (a file with a change, or itself), the tokens that followed there
// are likely to follow here. They are verified in one pass with the token before them, and count as far as the sampler
// chooses the same. Drafts change speed, never tokens.
#pragma once
#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/steps.h"
#include "models/token.h"

namespace warpchat {

// Where each n-gram of a growing token sequence last occurred.
class PromptLookup {
 public:
  static constexpr uint32_t kNgram = 3;     // matching tokens needed for a draft
  static constexpr uint32_t kLongest = 16;  // maximum match length that is counted

  // tokens: all so far; those seen in earlier calls are indexed already.
  void grow(std::span<const Token> tokens);

  struct Draft {
    std::span<const Token> tokens;  // points into the argument; empty: no match
    uint32_t agreeing = 0;          // length of the match: kNgram to kLongest tokens
  };
  // At most `most` tokens that followed the last earlier occurrence of the final kNgram. tokens: as for grow().
  Draft next(std::span<const Token> tokens, uint32_t max) const;

 private:
  std::unordered_map<uint64_t, uint32_t> behind_;  // hash of kNgram tokens to the position after their last occurrence
  uint32_t known_ = 0;
};

// Chooses the draft length. A pass of several columns takes longer than one of one column, and rejected tokens are
// wasted. Times and acceptance rate are learned from the passes of one answer while it is decoded alone. Total loss is
// at most kMayLose of the answer's time plus one or two passes.
class DraftLength {
 public:
  static constexpr uint32_t kMax = kMaxVerifyTokens - 1;
  static constexpr uint32_t kLengths[] = {1, 3, kMax};   // with the token before them, as wide as a CPU's tiles
  static constexpr uint32_t kSure = 8;                   // match length from which acceptance is likely
  static constexpr double kMayLose = 0.01;               // fraction of an answer's time
  static constexpr uint32_t kPassesUntilPlain = 32;  // passes with drafts until one without refreshes the plain time

  static constexpr uint32_t kCertain = UINT32_MAX;  // "match length" of tokens that nothing else can replace

  // Draft length, given a match of length `agreeing` and at most `most` tokens; 0: no draft.
  uint32_t next(uint32_t agreeing, uint32_t max);
  // Reports the pass, which produced n_accepted + 1 tokens.
  void record_time(uint32_t n_drafted, uint32_t n_accepted, double seconds);
  // Reports a pass without draft that recomputed accepted tokens of the previous one.
  void caught_up(double seconds);

 private:
  static size_t width_of(uint32_t n_drafted);  // index of the shortest of kLengths that holds them
  double saved_by(uint32_t n_drafted) const;

  double plain_seconds_ = 0;                                    // per token; 0: unknown
  double all_seconds_ = 0, saved_ = 0;                          // over all passes; negative: lost
  double pass_seconds_[std::size(kLengths)] = {1.2, 1.5, 2.5};  // relative to a pass without draft, by width_of
  double likelihood_[2] = {0.5, 0.9};  // acceptance rate given that the previous token was accepted; [1]: long matches
  bool is_sure_ = false;     // whether the last request had a long match
  bool is_certain_ = false;  // or kCertain
  uint32_t n_since_plain_ = 0;
};

}  // namespace warpchat
