// A hash map from 64-bit keys to 32-bit values with open addressing: the automaton looks up several entries a byte.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpchat::grammar {

inline constexpr uint32_t kAbsent = UINT32_MAX;

constexpr uint64_t pair_key(uint32_t high, uint32_t low) { return uint64_t{high} << 32 | low; }
constexpr uint64_t mixed(uint64_t hash) {
  hash ^= hash >> 32;
  hash *= 0xD6E8FEB86659FD93;
  return hash ^ hash >> 32;
}

class FlatMap {
 public:
  FlatMap() : entries_(64) {}

  uint32_t find(uint64_t key) const {  // kAbsent if there is none
    for (size_t i = mixed(key);; ++i) {
      const Entry& entry = entries_[i & (entries_.size() - 1)];
      if (entry.value == kAbsent || entry.key == key) return entry.value;
    }
  }

  void insert(uint64_t key, uint32_t value) {  // a key that is absent; value: not kAbsent
    if (++n_ * 2 > entries_.size()) grow();
    place({key, value});
  }

  size_t size() const { return n_; }
  void clear() { *this = FlatMap(); }

 private:
  struct Entry {
    uint64_t key = 0;
    uint32_t value = kAbsent;
  };

  void place(const Entry& entry) {
    size_t i = mixed(entry.key);
    while (entries_[i & (entries_.size() - 1)].value != kAbsent) ++i;
    entries_[i & (entries_.size() - 1)] = entry;
  }

  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& entry : old)
      if (entry.value != kAbsent) place(entry);
  }

  std::vector<Entry> entries_;  // a power of two, at most half full
  size_t n_ = 0;
};

}  // namespace warpchat::grammar
