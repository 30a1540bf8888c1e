#include "models/tokenizer/merge_rules.h"

#include <bit>

#include "models/text_format.h"
#include "models/tokenizer/byte_map.h"

namespace warpchat {
namespace {

constexpr std::string_view kMerges = "tokenizer.ggml.merges";
constexpr size_t kMaxScores = size_t{1} << 24;  // integers that float32 represents exactly

// Results of rules, with the rank of their rule.
class Origins {
 public:
  explicit Origins(uint32_t n_tokens) : rank_of_(n_tokens, kNoRank) {}
  bool has(Token token) const { return rank_of_[token] != kNoRank; }
  int64_t rank(Token token) const {
    return has(token) ? int64_t{rank_of_[token]} : -1;
  }  // -1: a byte, not made by a rule
  void set(Token token, uint32_t rank) { rank_of_[token] = rank; }

 private:
  std::vector<uint32_t> rank_of_;
};

// Whether rules before `rank` never merge across the border of two tokens, so that merging the joined text gives both
// tokens. Works backwards: undoes the younger token at the border until both are bytes. If the same token is on both
// sides, the right one is younger, since the leftmost pair merges first.
bool border_holds(const std::vector<MergeRule>& rules, const MergeTable& table, const Origins& origins, Token left,
                  Token right, int64_t rank) {
  bool right_undone = false;
  for (;;) {
    const int64_t across = table.find(left, right).rank;
    // Ties go to the leftmost pair: the one across the border only if its rival is on its right.
    if (across < rank || (across == rank && right_undone)) return false;
    const int64_t left_rank = origins.rank(left), right_rank = origins.rank(right);
    if (left_rank < 0 && right_rank < 0) return true;
    right_undone = right_rank >= left_rank;
    rank = right_undone ? right_rank : left_rank;
    if (right_undone) {
      right = rules[right_rank].left;
    } else {
      left = rules[left_rank].right;
    }
  }
}

}  // namespace

std::vector<MergeRule> read_merge_rules(const GgufFile& file, const Vocabulary& vocabulary) {
  const std::vector<std::string_view> merges = file.get_strings(kMerges);
  std::vector<MergeRule> rules;
  rules.reserve(merges.size());
  std::string joined;
  for (const std::string_view merge : merges) {
    const auto fail = [&](const std::string& fault) {
      file.fail("element " + grouped(rules.size()) + " of key " + std::string(kMerges) + ", \"" + printable(merge) +
                "\", " + fault);
    };
    const size_t space = merge.find(' ', 1);
    if (space == std::string_view::npos || space + 1 == merge.size())
      fail("is not two tokens with a space between them");
    const std::string_view left = merge.substr(0, space), right = merge.substr(space + 1);
    joined.assign(left).append(right);
    const MergeRule rule = {vocabulary.find(left), vocabulary.find(right), vocabulary.find(joined)};
    if (rule.left < 0 || rule.right < 0 || rule.result < 0)
      fail("names \"" +
           printable(rule.left < 0    ? left
                     : rule.right < 0 ? right
                                      : joined) +
           "\", which tokenizer.ggml.tokens does not have");
    rules.push_back(rule);
  }
  return rules;
}

MergeTable::MergeTable(const std::vector<MergeRule>& rules)
    : slots_(std::bit_ceil(rules.size() + rules.size() / 2 + 2)) {
  shift_ = 64 - std::countr_zero(slots_.size());
  for (uint32_t rank = 0; rank < rules.size(); ++rank) {
    const MergeRule& rule = rules[rank];
    Slot& slot = slots_[slot_of(rule.left, rule.right)];
    if (slot.rank == kNoRank) slot = {rule.left, rule.right, rule.result, rank};
  }
}

std::string why_pairs_matter(const std::vector<MergeRule>& rules, const MergeTable& table,
                             const Vocabulary& vocabulary) {
  if (rules.size() > kMaxScores) return "more merges than sentencepiece's scores can tell apart";
  Origins origins(vocabulary.size());
  for (uint32_t rank = 0; rank < rules.size(); ++rank) {
    const auto [left, right, result] = rules[rank];
    const std::string merge = "merge " + grouped(rank);
    if (origins.has(result)) return merge + " makes the same token as an earlier one";
    for (const Token part : {left, right})
      if (!origins.has(part) && !unmapped_byte(vocabulary.text(part)))
        return merge + " joins a token that no earlier one makes";
    if (!border_holds(rules, table, origins, left, right, rank))
      return merge + " makes a token that merges to something else";
    origins.set(result, rank);
  }
  return "";
}

}  // namespace warpchat
