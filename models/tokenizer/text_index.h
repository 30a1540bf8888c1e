// Hash index from text to number, for vocabularies of 100,000 texts: built in milliseconds, 8 bytes per slot. Texts are
// not stored; the caller provides them.
#pragma once
#include <bit>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace warpchat {

class TextIndex {
 public:
  explicit TextIndex(size_t n_texts) : slots_(std::bit_ceil(n_texts + n_texts / 2 + 2)) {}

  // Adds a number under its text. Returns the text's existing number, or the new one. text_of(number): text of an added
  // number.
  template <class TextOf>
  int32_t add(std::string_view text, int32_t number, TextOf text_of) {
    const uint64_t slot = slot_of(text, text_of);
    if (slots_[slot] == 0) slots_[slot] = tag_of(text) << 32 | static_cast<uint32_t>(number + 1);
    return number_in(slot);
  }

  // Number of a text, or -1.
  template <class TextOf>
  int32_t find(std::string_view text, TextOf text_of) const {
    return number_in(slot_of(text, text_of));
  }

 private:
  static uint64_t hash(std::string_view text) { return std::hash<std::string_view>{}(text); }
  static uint64_t tag_of(std::string_view text) { return hash(text) >> 32; }
  int32_t number_in(uint64_t slot) const { return static_cast<int32_t>(static_cast<uint32_t>(slots_[slot])) - 1; }

  template <class TextOf>
  uint64_t slot_of(std::string_view text, TextOf text_of) const {
    const uint64_t mask = slots_.size() - 1, tag = tag_of(text);
    uint64_t slot = hash(text) & mask;
    while (slots_[slot] != 0 && (slots_[slot] >> 32 != tag || text_of(number_in(slot)) != text))
      slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<uint64_t> slots_;  // high half: of the text's hash; low half: number + 1, 0 if free
};

}  // namespace warpchat
