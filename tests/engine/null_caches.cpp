// The CPU's KV cache kernels with every combination of key and value types; pointers of unused types are null. Clang's
// undefined-behaviour sanitizer reports arithmetic on null pointers.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "engine/cpu/kernels/portable.cpp"

namespace warpchat {
namespace {

constexpr uint32_t kWidth = 64, kPages = 2, kPositions = kPages * kKeyTile;

enum class Cells { kHalves, kCodes, kFloats };

// Stores and attends over positions of several blocks and tiles. Returns false if a result is NaN.
bool walk(Cells keys, Cells values) {
  constexpr uint32_t kTile = kKeyTile * kWidth, kScales = kKeyTile * code_groups(kWidth);
  struct Page {
    uint16_t keys[kTile], values[kTile];
    int8_t key_codes[kTile], value_codes[kTile];
    float key_scales[kScales], value_scales[kScales];
    float key_floats[kTile], value_floats[kTile];
  };
  std::vector<Page> pool(kPages);
  std::vector<float> row(kWidth, 0.5f);
  const auto tile_of_page = [&](uint32_t page) {
    Page& p = pool[page];
    for (float* scales : {p.key_scales, p.value_scales}) std::fill_n(scales, kScales, 0.01f);
    return HeadTile{keys == Cells::kHalves ? p.keys : nullptr,
                    values == Cells::kHalves ? p.values : nullptr,
                    kWidth,
                    kWidth,
                    keys == Cells::kCodes ? HeadCodes{p.key_codes, p.key_scales} : HeadCodes{},
                    values == Cells::kCodes ? HeadCodes{p.value_codes, p.value_scales} : HeadCodes{},
                    keys == Cells::kFloats ? p.key_floats : nullptr,
                    values == Cells::kFloats ? p.value_floats : nullptr};
  };
  for (Page& p : pool)
    for (int8_t* codes : {p.key_codes, p.value_codes}) std::fill_n(codes, kTile, 1);
  const uint32_t table[kPages] = {1, 0};
  for (uint32_t position = 0; position < kPositions; ++position)
    store_head(tile_of_page(table[position / kKeyTile]), position % kKeyTile, row.data(), row.data());
  const HeadCache cache{tile_of_page(0), sizeof(Page), table};
  bool is_number = true;
  for (const uint32_t rows : {1u, 8u}) {  // read directly, and converted first
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
  using enum warpchat::Cells;
  const char* const names[] = {"f16", "q8_0", "f32"};
  for (const auto keys : {kHalves, kCodes, kFloats})
    for (const auto values : {kHalves, kCodes, kFloats})
      if (!warpchat::walk(keys, values)) {
        std::printf("no result with %s keys and %s values\n", names[static_cast<int>(keys)],
                    names[static_cast<int>(values)]);
        return 1;
      }
  return 0;
}
