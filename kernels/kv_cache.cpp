#include "kernels/kv_cache.h"

#include <array>
#include <utility>

namespace warpchat {
namespace {

constexpr std::array<std::pair<KvType, std::string_view>, 2> kNames = {
    {{KvType::kF16, "f16"}, {KvType::kQ8_0, "q8_0"}}};

}  // namespace

std::string_view name_of(KvType type) { return kNames[static_cast<size_t>(type)].second; }

std::optional<KvType> kv_type_named(std::string_view name) {
  for (const auto& [type, known] : kNames)
    if (known == name) return type;
  return {};
}

std::string_view kv_suffix(KvType k_type, KvType v_type) {
  if (k_type == KvType::kF16) return v_type == KvType::kF16 ? "" : "_vq8";
  return v_type == KvType::kF16 ? "_kq8" : "_kq8_vq8";
}

uint32_t KvLayout::scales_per_row() const {
  return type == KvType::kF16 ? 0 : (head_dim + 2 * kGroup - 1) / (2 * kGroup) * 2;
}

}  // namespace warpchat
