// A set of small numbers, for data-flow analysis over basic blocks.
#pragma once
#include <cstdint>
#include <vector>

namespace ptx {

class BitSet {
 public:
  explicit BitSet(size_t n, bool full = false) : words_((n + 63) / 64, full ? ~uint64_t{0} : 0) {}
  void set(int i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  bool has(int i) const { return words_[i / 64] >> (i % 64) & 1; }
  void remove(const BitSet& other) {
    for (size_t w = 0; w < words_.size(); ++w) words_[w] &= ~other.words_[w];
  }
  // Keeps only members of `other`; returns whether any was removed.
  bool intersect(const BitSet& other) {
    bool changed = false;
    for (size_t w = 0; w < words_.size(); ++w) {
      changed |= (words_[w] & ~other.words_[w]) != 0;
      words_[w] &= other.words_[w];
    }
    return changed;
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace ptx
