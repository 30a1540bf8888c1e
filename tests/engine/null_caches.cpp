// The KV cache's kernels where keys, values or both are codes, so that the pointers to their halves are null: compiled
// by Clang with its undefined-behaviour sanitizer, which finds arithmetic on them.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "engine/cpu/kernels/portable.cpp"

namespace warpchat {
namespace {

constexpr uint32_t kWidth = 64, kPositions = 128;

// Stores and attends over positions of several blocks and tiles; false if a result is no number.
bool walk(bool keys_are_codes, bool values_are_codes) {
  std::vector<uint16_t> halves(2 * kPositions * kWidth);
  std::vector<int8_t> codes(2 * kPositions * kWidth, 1);
  std::vector<float> scales(2 * kPositions * code_groups(kWidth), 0.01f), row(kWidth, 0.5f);
  uint16_t *keys = halves.data(), *values = keys + kPositions * kWidth;
  const HeadCodes key_codes{codes.data(), scales.data()};
  const HeadCodes value_codes{codes.data() + kPositions * kWidth, scales.data() + kPositions * code_groups(kWidth)};
  const HeadCache cache{
      keys_are_codes ? nullptr : keys,          values_are_codes ? nullptr : values,         kWidth, kWidth,
      keys_are_codes ? key_codes : HeadCodes{}, values_are_codes ? value_codes : HeadCodes{}};
  for (uint32_t position = 0; position < kPositions; ++position) store_head(cache, position, row.data(), row.data());
  bool is_number = true;
  for (const uint32_t rows : {1u, 8u}) {  // read as they are, and widened first
    const std::vector<uint32_t> limits(rows, kPositions - 3);
    std::vector<float> queries(rows * kWidth, 0.1f), out(rows * kWidth), highest(rows), sum(rows);
    std::vector<float> scratch(attend_scratch(kWidth) + 16);
    float* aligned = scratch.data() + (64 - reinterpret_cast<uintptr_t>(scratch.data()) % 64) % 64 / sizeof(float);
    attend({cache, queries.data(), limits.data(), rows, 0, kPositions - 3, out.data(), highest.data(), sum.data(),
            aligned});
    is_number = is_number && sum[0] > 0 && out[0] / sum[0] > 0;
  }
  return is_number;
}

}  // namespace
}  // namespace warpchat

int main() {
  for (const bool keys : {false, true})
    for (const bool values : {false, true})
      if (!warpchat::walk(keys, values)) {
        std::printf("no result with %s keys and %s values\n", keys ? "q8_0" : "f16", values ? "q8_0" : "f16");
        return 1;
      }
  return 0;
}
