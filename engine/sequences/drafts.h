// Prompt look-up: where an answer repeats what has been said, a file with a change or itself, the tokens that followed
// there are likely to follow here. They are decoded together with the token before them, as columns of one pass, and
// count as far as the sampler chooses them; so they change how fast tokens come, and no token.
#pragma once
#include <cstdint>
#include <iterator>
#include <span>
#include <unordered_map>
#include <vector>

#include "engine/steps.h"
#include "models/token.h"

namespace warpchat {

// What is known to have followed what, of one sequence of tokens that grows at its end.
class PromptLookup {
 public:
  static constexpr uint32_t kNgram = 3;     // tokens that must agree for there to be a draft
  static constexpr uint32_t kLongest = 16;  // of which more are not counted

  // tokens: all of them, of which those told of before are known already.
  void grow(std::span<const Token> tokens);

  struct Draft {
    std::span<const Token> tokens;  // within those given; empty: nothing is known
    uint32_t agreeing = 0;          // tokens before them that are those at the end: kNgram to kLongest
  };
  // At most `most` tokens that followed where the last kNgram stood the last time before. tokens: as for grow().
  Draft next(std::span<const Token> tokens, uint32_t most) const;

 private:
  std::unordered_map<uint64_t, uint32_t> behind_;  // by a hash of kNgram tokens: the position behind their last place
  uint32_t known_ = 0;
};

// How many tokens to draft, so that it pays: a pass of several columns takes longer than one of one, and what nobody
// chose was in vain. What either is worth is learnt from the passes of one answer while it alone is decoded. All that
// is lost is at most kMayLose of the answer's time, and a pass or two.
class DraftLength {
 public:
  static constexpr uint32_t kMost = kMostOneByOne - 1;
  static constexpr uint32_t kLengths[] = {1, 3, kMost};  // with the token before them as wide as a CPU's tiles are
  static constexpr uint32_t kSure = 8;                   // tokens that agree, and a draft is likely to be accepted
  static constexpr double kMayLose = 0.01;               // of an answer's time
  static constexpr uint32_t kPassesUntilPlain = 32;  // with drafts; then one without tells what a token takes by now

  // Of a draft of at most `most` tokens, behind so many that agree; 0: none this time.
  uint32_t next(uint32_t agreeing, uint32_t most);
  // The pass then, which gave n_accepted + 1 tokens.
  void took(uint32_t n_drafted, uint32_t n_accepted, double seconds);
  // A pass without draft that had to compute again what the one before had accepted.
  void caught_up(double seconds);

 private:
  static size_t width_of(uint32_t n_drafted);  // the number of the shortest of kLengths that holds them
  double saved_by(uint32_t n_drafted) const;

  double plain_seconds_ = 0;                                    // 0: not known yet
  double all_seconds_ = 0, saved_ = 0;                          // of all passes; below 0: lost
  double pass_seconds_[std::size(kLengths)] = {1.2, 1.5, 2.5};  // in passes without draft: by width_of
  double likelihood_[2] = {0.5, 0.9};  // that a token is accepted if the one before it was; of sure ones
  bool is_sure_ = false;               // the last one asked for
  uint32_t n_since_plain_ = 0;
};

}  // namespace warpchat
