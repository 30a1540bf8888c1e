#include "kernels/attention/kv_cache.h"

#include <array>
#include <utility>

namespace warpchat {
namespace {

constexpr std::array<std::pair<KvType, std::string_view>, 3> kNames = {
    {{KvType::kF16, "f16"}, {KvType::kQ8_0, "q8_0"}, {KvType::kF32, "f32"}}};

}  // namespace

std::string_view name_of(KvType type) { return kNames[static_cast<size_t>(type)].second; }

std::optional<KvType> kv_type_named(std::string_view name) {
  for (const auto& [type, known] : kNames)
    if (known == name) return type;
  return {};
}

std::string kv_suffix(KvType k_type, KvType v_type) {
  const auto part = [](const char* side, KvType type) {
    return type == KvType::kF16 ? std::string() : side + std::string(type == KvType::kF32 ? "f32" : "q8");
  };
  return part("_k", k_type) + part("_v", v_type);
}

uint32_t KvLayout::scales_per_row() const {
  return type != KvType::kQ8_0 ? 0 : (head_dim + 2 * kGroup - 1) / (2 * kGroup) * 2;
}

}  // namespace warpchat
