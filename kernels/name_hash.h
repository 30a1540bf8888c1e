// FNV-1a, for the part of a kernel's name that stands for more than numbers.
#pragma once
#include <cstdint>
#include <string_view>

namespace warpchat {

// Of `bytes` behind those of which `hash` is.
constexpr uint32_t name_hash(std::string_view bytes, uint32_t hash = 2166136261u) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 16777619u;
  return hash;
}

}  // namespace warpchat
