#include "engine/cpu/read_bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "engine/cpu/thread_pool.h"

namespace warpchat {

namespace {

constexpr uint64_t kLeastBytes = uint64_t{32} << 20, kStretchBytes = uint64_t{64} << 20, kPieceBytes = 1 << 18;
constexpr uint64_t kStretches = 3;

// Of whole groups of eight words; what it is nobody cares, but it needs every byte.
uint64_t parity(std::span<const uint8_t> bytes) {
  constexpr size_t kWords = 8;
  uint64_t sums[kWords] = {}, words[kWords];
  for (size_t i = 0; i + sizeof words <= bytes.size(); i += sizeof words) {
    std::memcpy(words, bytes.data() + i, sizeof words);
    for (size_t k = 0; k < kWords; ++k) sums[k] ^= words[k];
  }
  for (size_t k = 1; k < kWords; ++k) sums[0] ^= sums[k];
  return sums[0];
}

}  // namespace

double read_bandwidth(ThreadPool& pool, std::span<const uint8_t> memory) {
  if (memory.size() < kLeastBytes) return 0;
  const uint64_t stretch = std::min(memory.size() / kStretches, kStretchBytes) / kPieceBytes * kPieceBytes;
  std::atomic<uint64_t> all = 0;  // keeps the reads alive
  double best = 0;
  for (uint64_t i = 0; i < kStretches; ++i) {
    const std::span<const uint8_t> part = memory.subspan(memory.size() / kStretches * i, stretch);
    const auto start = std::chrono::steady_clock::now();
    pool.for_each(static_cast<uint32_t>(stretch / kPieceBytes),
                  [&](uint32_t piece) { all ^= parity(part.subspan(piece * kPieceBytes, kPieceBytes)); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, static_cast<double>(stretch) / seconds);
  }
  return best;
}

}  // namespace warpchat
