// Models of the hub for who has none yet: small enough for most machines, and what each is good for.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace warpchat {

struct ModelSuggestion {
  std::string_view repository;
  uint64_t bytes;  // of its Q4_K_M, roughly
  std::string_view good_for;
};
std::span<const ModelSuggestion> model_suggestions();

// What a file of that size takes once it is loaded, roughly: weights as the decoder holds them, a context and buffers.
uint64_t memory_for_file(uint64_t file_bytes);

}  // namespace warpchat
