// The KV cache's kernels where keys, values or both are codes, so that the pointers to their halves are null: compiled
// by Clang with its undefined-behaviour sanitizer, which finds arithmetic on them.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "engine/cpu/kernels/portable.cpp"

namespace warpchat {
namespace {

constexpr uint32_t kWidth = 64, kPages = 2, kPositions = kPages * kKeyTile;

// Stores and attends over positions of several blocks and tiles; false if a result is no number.
bool walk(bool keys_are_codes, bool values_are_codes) {
  constexpr uint32_t kTile = kKeyTile * kWidth, kScales = kKeyTile * code_groups(kWidth);
  struct Page {
    uint16_t keys[kTile], values[kTile];
    int8_t key_codes[kTile], value_codes[kTile];
    float key_scales[kScales], value_scales[kScales];
  };
  std::vector<Page> pool(kPages);
  std::vector<float> row(kWidth, 0.5f);
  const auto tile_of_page = [&](uint32_t page) {
    Page& p = pool[page];
    for (float* scales : {p.key_scales, p.value_scales}) std::fill_n(scales, kScales, 0.01f);
    return HeadTile{keys_are_codes ? nullptr : p.keys,
                    values_are_codes ? nullptr : p.values,
                    kWidth,
                    kWidth,
                    keys_are_codes ? HeadCodes{p.key_codes, p.key_scales} : HeadCodes{},
                    values_are_codes ? HeadCodes{p.value_codes, p.value_scales} : HeadCodes{}};
  };
  for (Page& p : pool)
    for (int8_t* codes : {p.key_codes, p.value_codes}) std::fill_n(codes, kTile, 1);
  const uint32_t table[kPages] = {1, 0};
  for (uint32_t position = 0; position < kPositions; ++position)
    store_head(tile_of_page(table[position / kKeyTile]), position % kKeyTile, row.data(), row.data());
  const HeadCache cache{tile_of_page(0), sizeof(Page), table};
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
