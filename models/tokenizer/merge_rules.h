// Merges of a byte-level BPE vocabulary by rank: pairs of tokens and their results, from tokenizer.ggml.merges.
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

// All rules, lowest rank first. Error with file and merge if a text is not two tokens, or has no result.
std::vector<MergeRule> read_merge_rules(const GgufFile& file, const Vocabulary& vocabulary);

// Rules by pair; for duplicates the one of the lowest rank.
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

  int shift_;  // keeps the hash's high bits, as many as slots_ has index bits
  std::vector<Slot> slots_;
};

// Reason why merging like sentencepiece, which joins any two neighbours whose joined text is a rule's result (best rule
// first) and ignores pairs, may differ from these rules; empty if it is exact. It is exact if
//  - every result has one rule, of a higher rank than the rules of its parts (so that ranks only rise during merging),
// and
//  - merging a result's own text ends with its rule's two parts.
// Then nothing has crossed the ends of a result's text when it can be joined, so it consists of exactly these parts.
std::string why_pairs_matter(const std::vector<MergeRule>& rules, const MergeTable& table,
                             const Vocabulary& vocabulary);

}  // namespace warpchat
