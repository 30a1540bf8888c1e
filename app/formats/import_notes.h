// What an import did not take, and why, in words.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace warpchat {

enum class LeftOut {
  kPicture,
  kSound,
  kVideo,
  kFile,
  kToolCall,
  kToolResult,
  kSystemMessage,  // one that follows other messages: a conversation has one, in front
  kCitation,
  kPart,      // of an unknown kind
  kMessage,   // without a role that is known
  kActivity,  // that is no prompt
  kCount
};

class ImportNotes {
 public:
  void leave_out(LeftOut what, size_t n = 1) { counts_[static_cast<size_t>(what)] += n; }

  // sentence: makes "conversation 2 has no object as 'mapping'"; called for the first few faults only.
  template <class Sentence>
  void add_fault(Sentence sentence) {
    if (++n_faults_ <= kMaxFaults) faults_.push_back(sentence());
  }

  // "conversation 2 has ...; and 3 more faults; left out: 3 pictures and 1 tool call". Empty: all was taken.
  std::string sentence() const;

 private:
  static constexpr size_t kMaxFaults = 3;
  std::array<size_t, static_cast<size_t>(LeftOut::kCount)> counts_{};
  std::vector<std::string> faults_;
  size_t n_faults_ = 0;
};

}  // namespace warpchat
