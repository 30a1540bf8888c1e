// A set of bytes, as 256 bits.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

namespace warpchat::grammar {

class ByteSet {
 public:
  constexpr ByteSet() = default;
  static constexpr ByteSet range(int from, int to) {  // both included
    ByteSet set;
    for (int byte = from; byte <= to; ++byte) set.insert(static_cast<uint8_t>(byte));
    return set;
  }
  static constexpr ByteSet all() { return range(0, 255); }

  constexpr void insert(uint8_t byte) { words_[byte / 64] |= uint64_t{1} << (byte % 64); }
  constexpr bool contains(uint8_t byte) const { return (words_[byte / 64] >> (byte % 64) & 1) != 0; }
  constexpr bool is_empty() const { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  int size() const {
    int n = 0;
    for (uint64_t word : words_) n += std::popcount(word);
    return n;
  }

  constexpr ByteSet operator|(const ByteSet& other) const {
    ByteSet set;
    for (int i = 0; i < 4; ++i) set.words_[i] = words_[i] | other.words_[i];
    return set;
  }
  constexpr ByteSet operator&(const ByteSet& other) const {
    ByteSet set;
    for (int i = 0; i < 4; ++i) set.words_[i] = words_[i] & other.words_[i];
    return set;
  }
  bool operator==(const ByteSet&) const = default;

  uint64_t hash() const {
    uint64_t hash = 0;
    for (uint64_t word : words_) hash = (hash ^ word) * 0x9E3779B97F4A7C15 + (hash >> 29);
    return hash ^ hash >> 32;
  }

  template <class F>
  void for_each(const F& visit) const {  // ascending
    for (int i = 0; i < 4; ++i)
      for (uint64_t word = words_[i]; word != 0; word &= word - 1)
        visit(static_cast<uint8_t>(i * 64 + std::countr_zero(word)));
  }

 private:
  std::array<uint64_t, 4> words_{};
};

}  // namespace warpchat::grammar
