// FNV-1a, for the part of a kernel's name that stands for more than its numbers.
#pragma once
#include <cstdint>
#include <string_view>

namespace warpchat {

// Continues `hash` with `bytes`.
constexpr uint32_t name_hash(std::string_view bytes, uint32_t hash = 2166136261u) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
  return hash;
}

}  // namespace warpchat
