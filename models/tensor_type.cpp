#include "models/tensor_type.h"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace warpchat {
namespace {

constexpr TensorTypeTraits kSupported[] = {
    {TensorType::kF32, "F32", 1, 4},       {TensorType::kF16, "F16", 1, 2},       {TensorType::kBF16, "BF16", 1, 2},
    {TensorType::kQ4_0, "Q4_0", 32, 18},   {TensorType::kQ4_1, "Q4_1", 32, 20},   {TensorType::kQ5_0, "Q5_0", 32, 22},
    {TensorType::kQ5_1, "Q5_1", 32, 24},   {TensorType::kQ8_0, "Q8_0", 32, 34},   {TensorType::kQ2_K, "Q2_K", 256, 84},
    {TensorType::kQ3_K, "Q3_K", 256, 110}, {TensorType::kQ4_K, "Q4_K", 256, 144}, {TensorType::kQ5_K, "Q5_K", 256, 176},
    {TensorType::kQ6_K, "Q6_K", 256, 210},
};

// Every number that ggml has given a meaning, so that a refusal can name what the file holds.
constexpr std::string_view kGgmlNames[] = {
    "F32",        "F16",        "Q4_0",       "Q4_1",  "Q4_2",     "Q4_3",     "Q5_0",     "Q5_1",    "Q8_0",
    "Q8_1",       "Q2_K",       "Q3_K",       "Q4_K",  "Q5_K",     "Q6_K",     "Q8_K",     "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS",    "IQ1_S",      "IQ4_NL",     "IQ3_S", "IQ2_S",    "IQ4_XS",   "I8",       "I16",     "I32",
    "I64",        "F64",        "IQ1_M",      "BF16",  "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0",
    "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4", "NVFP4",    "Q1_0",     "Q2_0",
};
static_assert(std::size(kGgmlNames) == 43);

}  // namespace

std::optional<TensorTypeTraits> find_tensor_type(uint32_t number) {
  for (const TensorTypeTraits& entry : kSupported)
    if (static_cast<uint32_t>(entry.type) == number) return entry;
  return std::nullopt;
}

const TensorTypeTraits& traits(TensorType type) {
  const auto* entry = std::find_if(std::begin(kSupported), std::end(kSupported),
                                   [&](const TensorTypeTraits& candidate) { return candidate.type == type; });
  assert(entry != std::end(kSupported));
  return *entry;
}

std::span<const TensorTypeTraits> supported_tensor_types() { return kSupported; }

std::string tensor_type_name(uint32_t number) {
  if (number < std::size(kGgmlNames)) return std::string(kGgmlNames[number]);
  return "number " + std::to_string(number);
}

uint64_t bytes_per_row(TensorType type, uint64_t k) {
  const TensorTypeTraits& format = traits(type);
  assert(k % format.block_weights == 0);
  return k / format.block_weights * format.block_bytes;
}

}  // namespace warpchat
