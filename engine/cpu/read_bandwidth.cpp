#include "engine/cpu/read_bandwidth.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>

#include "engine/cpu/thread_pool.h"

namespace warpchat {

namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20, kPieceBytes = kMiB / 4;
constexpr uint64_t kMinBytes = 32 * kMiB, kMaxAgain = 256 * kMiB, kStretchBytes = 64 * kMiB;
constexpr uint64_t kRounds = 3;

// Xor of whole cache lines, which depends on every byte. Eight streams side by side, because with one a core waits for
// each line in turn.
uint64_t parity(std::span<const uint8_t> bytes) {
  using Words = uint64_t __attribute__((vector_size(16)));
  constexpr size_t kStreams = 8;
  const size_t stream_bytes = bytes.size() / kStreams;
  Words sums[kStreams] = {};
  for (size_t at = 0; at + sizeof(Words) <= stream_bytes; at += sizeof(Words))
    for (size_t stream = 0; stream < kStreams; ++stream) {
      Words words;
      std::memcpy(&words, bytes.data() + stream * stream_bytes + at, sizeof words);
      sums[stream] ^= words;
    }
  for (size_t stream = 1; stream < kStreams; ++stream) sums[0] ^= sums[stream];
  return sums[0][0] ^ sums[0][1];
}

}  // namespace

double read_bandwidth(ThreadPool& pool, std::span<const uint8_t> memory) {
  if (memory.size() < kMinBytes) return 0;
  const bool again = memory.size() <= kMaxAgain;
  const uint64_t stretch = (again ? memory.size() : kStretchBytes) / kPieceBytes * kPieceBytes;
  std::atomic<uint64_t> all = 0;  // prevents removal of the reads
  double best = 0;
  for (uint64_t round = 0; round < kRounds; ++round) {
    const std::span<const uint8_t> part = memory.subspan(again ? 0 : memory.size() / kRounds * round, stretch);
    const auto start = std::chrono::steady_clock::now();
    pool.for_each(static_cast<uint32_t>(stretch / kPieceBytes),
                  [&](uint32_t piece) { all ^= parity(part.subspan(piece * kPieceBytes, kPieceBytes)); });
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    best = std::max(best, static_cast<double>(stretch) / seconds);
  }
  return best;
}

}  // namespace warpchat
