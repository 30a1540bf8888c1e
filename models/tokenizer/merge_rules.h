// The merges of a byte-level BPE vocabulary, by rank: which two tokens join, and to which. From tokenizer.ggml.merges.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "models/gguf_reader.h"
#include "models/token.h"
#include "models/tokenizer/merger.h"
#include "models/tokenizer/vocabulary.h"

namespace warpchat {

struct MergeRule {
  Token left, right, result;
};

// All of them, the first of the lowest rank. Error naming file and merge if a text is no two tokens, or makes none.
std::vector<MergeRule> read_merge_rules(const GgufFile& file, const Vocabulary& vocabulary);

// Rules by the pair they join; of several for one pair the one of the lowest rank.
class MergeTable {
 public:
  explicit MergeTable(const std::vector<MergeRule>& rules);
  Join find(Token left, Token right) const {
    const Slot& slot = slots_[slot_of(left, right)];
    return {slot.rank, slot.result};
  }

 private:
  struct Slot {
    Token left = -1, right = -1, result = -1;
    uint32_t rank = kNoRank;
  };
  size_t slot_of(Token left, Token right) const {
    const uint64_t pair = static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32 | static_cast<uint32_t>(right);
    size_t slot = pair * 0x9E3779B97F4A7C15u >> shift_;
    while (slots_[slot].rank != kNoRank && (slots_[slot].left != left || slots_[slot].right != right))
      slot = (slot + 1) & (slots_.size() - 1);
    return slot;
  }

  int shift_;  // keeps as many high bits of the hash as slots_ has index bits
  std::vector<Slot> slots_;
};

// Why joining any two neighbours whose texts together are a rule's result, best rule first, would not always give what
// the rules give; empty if it would. That is how sentencepiece merges: it knows results, not pairs. It is exact if
//  - every result has one rule, of a higher rank than those of its parts (so ranks only rise while a text is merged),
//  and
//  - merging a result's own text arrives at it by its rule's two parts.
// Then, wherever a result's text is up for joining, nothing has crossed its ends yet, so it is in just these two parts.
std::string why_pairs_matter(const std::vector<MergeRule>& rules, const MergeTable& table,
                             const Vocabulary& vocabulary);

}  // namespace warpchat
