// A sequence's keys or values on the host: quantised as kernels/attention/kv_cache.h says, their values in double, and
// the device's bytes. Bytes of rows that were not set count as never written. PagedCache places several sequences'
// pages.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "emulated_kernel.h"
#include "kernels/attention/kv_cache.h"
#include "models/half.h"
#include "models/quant_blocks.h"
#include "tests/support/gguf/quantise.h"

namespace warpchat {

class KvImage {
 public:
  KvImage(const KvLayout& shape, uint32_t n_positions)
      : layout(shape), bytes(pages_of(n_positions) * shape.n_bytes(), 0xff), written(bytes.size()) {}

  // values: [head_dim]
  void set(uint32_t head, uint32_t position, std::span<const float> values) {
    const uint64_t cells = cells_at(head, position), scales = scales_at(head, position);
    const uint32_t d = layout.head_dim;
    if (layout.type == KvType::kF32) {
      for (uint32_t i = 0; i < d; ++i) put(cells + 4 * i, values[i]);
      return;
    }
    if (layout.type == KvType::kF16) {
      for (uint32_t i = 0; i < d; ++i) put(cells + 2 * i, to_f16(values[i]));
      return;
    }
    for (uint32_t group = 0; group < layout.scales_per_row(); ++group) {
      float block[KvLayout::kGroup] = {};  // zeros beyond the row
      const float max = KvLayout::kMaxScale * 127;
      for (uint32_t i = group * 32; i < std::min(d, group * 32 + 32); ++i)
        block[i % 32] = std::min(std::max(values[i], -max), max);
      BlockQ8_0 quantised;
      std::memcpy(&quantised, quantise_row(TensorType::kQ8_0, block).data(), sizeof quantised);
      put(scales + 2 * group, quantised.d);
      for (uint32_t i = group * 32; i < std::min(d, group * 32 + 32); ++i)
        put(cells + i, static_cast<uint8_t>(quantised.qs[i % 32] + KvLayout::kBias));
    }
  }

  // Dequantised value i of a row.
  double at(uint32_t head, uint32_t position, uint32_t i) const {
    const uint64_t cells = cells_at(head, position);
    if (layout.type == KvType::kF32) return get<float>(cells + 4 * i);
    if (layout.type == KvType::kF16) return to_float(get<f16>(cells + 2 * i));
    const f16 scale = get<f16>(scales_at(head, position) + 2 * (i / KvLayout::kGroup));
    return (get<uint8_t>(cells + i) - KvLayout::kBias) * double{to_float(scale)};
  }

  // Copies the written bytes of a page to the device.
  void copy_page(GuardedDevice& device, uint32_t page, uint8_t* to) const {
    const uint64_t first = page * layout.n_bytes(), last = first + layout.n_bytes();
    for (uint64_t i = first; i < last;) {
      uint64_t end = i;
      while (end < last && written[end] == written[i]) ++end;
      if (written[i] != 0) {
        std::memcpy(to + (i - first), &bytes[i], end - i);
        device.mark_initialised(to + (i - first), end - i);
      }
      i = end;
    }
  }
  uint32_t n_pages() const { return static_cast<uint32_t>(bytes.size() / layout.n_bytes()); }

  KvLayout layout;
  std::vector<uint8_t> bytes, written;  // [n_pages, page]

 private:
  static uint64_t row_of(uint32_t head, uint32_t position) {
    return uint64_t{head} * kPagePositions + position % kPagePositions;
  }
  uint64_t page_at(uint32_t position) const { return position / kPagePositions * layout.n_bytes(); }
  uint64_t cells_at(uint32_t head, uint32_t position) const {
    return page_at(position) + row_of(head, position) * layout.cells_bytes();
  }
  uint64_t scales_at(uint32_t head, uint32_t position) const {
    return page_at(position) + layout.scales_offset() + row_of(head, position) * layout.scales_per_row() * 2;
  }
  template <class T>
  void put(uint64_t offset, T value) {
    std::memcpy(&bytes[offset], &value, sizeof value);
    std::memset(&written[offset], 1, sizeof value);
  }
  template <class T>
  T get(uint64_t offset) const {
    T value;
    std::memcpy(&value, &bytes[offset], sizeof value);
    return value;
  }
};

// Places the pages of several sequences at random, with as many unused pages between them. Pages without an image are
// poison.
class PagedCache {
 public:
  // positions: per sequence; the tables hold all of its pages.
  PagedCache(const std::vector<uint32_t>& positions, uint32_t seed) {
    for (const uint32_t n : positions) n_pages += 2 * pages_of(n) + 1;
    std::vector<uint32_t> all(n_pages);
    std::iota(all.begin(), all.end(), 0u);
    std::shuffle(all.begin(), all.end(), std::mt19937(seed));
    for (const uint32_t n : positions) {
      tables.emplace_back(all.end() - pages_of(n), all.end());
      all.resize(all.size() - pages_of(n));
    }
  }

  // Returns the device addresses of the tables.
  uint64_t* upload(GuardedDevice& device) const {
    std::vector<uint64_t> addresses;
    for (const std::vector<uint32_t>& table : tables)
      addresses.push_back(reinterpret_cast<uint64_t>(device.upload(table)));
    return device.upload(addresses);
  }
  // Returns the pages of one layer's keys or values. images: of the first sequences.
  uint8_t* upload(GuardedDevice& device, const KvLayout& layout, const std::vector<KvImage>& images = {}) const {
    auto* pages = device.poisoned<uint8_t>(n_pages * layout.n_bytes());
    for (size_t i = 0; i < images.size(); ++i)
      for (uint32_t page = 0; page < images[i].n_pages(); ++page)
        images[i].copy_page(device, page, pages + tables[i].at(page) * layout.n_bytes());
    return pages;
  }

  uint32_t n_pages = 0;
  std::vector<std::vector<uint32_t>> tables;
};

}  // namespace warpchat
