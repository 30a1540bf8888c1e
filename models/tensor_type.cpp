#include "models/tensor_type.h"

#include <iterator>

#include "models/block_types.h"

namespace warpchat {
namespace {

// All type numbers of ggml, so that a message can name an unsupported one.
constexpr std::string_view kGgmlNames[] = {
    "F32",        "F16",        "Q4_0",       "Q4_1",  "Q4_2",     "Q4_3",     "Q5_0",     "Q5_1",    "Q8_0",
    "Q8_1",       "Q2_K",       "Q3_K",       "Q4_K",  "Q5_K",     "Q6_K",     "Q8_K",     "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS",    "IQ1_S",      "IQ4_NL",     "IQ3_S", "IQ2_S",    "IQ4_XS",   "I8",       "I16",     "I32",
    "I64",        "F64",        "IQ1_M",      "BF16",  "Q4_0_4_4", "Q4_0_4_8", "Q4_0_8_8", "TQ1_0",   "TQ2_0",
    "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4", "NVFP4",    "Q1_0",     "Q2_0",
};
static_assert(std::size(kGgmlNames) == 43);

constexpr std::string_view kExpandedNames[] = {"IQ2_expanded", "IQ3_XXS_expanded", "IQ3_S_expanded"};

constexpr std::string_view name_of(TensorType type) {
  const auto number = static_cast<uint32_t>(type), first = static_cast<uint32_t>(TensorType::kIQ2Expanded);
  return number < first ? kGgmlNames[number] : kExpandedNames[number - first];
}

constexpr auto kTraits = [](auto format) {
  return TensorTypeTraits{format.kType, name_of(format.kType), format.kWeights,
                          sizeof(typename decltype(format)::Block)};
};
constexpr auto kSupported = SupportedBlocks::table(kTraits);
constexpr auto kRead = KernelBlocks::table(kTraits);
constexpr auto kAll = AllBlocks::table(kTraits);

}  // namespace

std::optional<TensorTypeTraits> find_tensor_type(uint32_t number) {
  for (const TensorTypeTraits& entry : kSupported)
    if (static_cast<uint32_t>(entry.type) == number) return entry;
  return std::nullopt;
}

const TensorTypeTraits& traits(TensorType type) { return row_of(kAll, type); }

std::span<const TensorTypeTraits> supported_tensor_types() { return kSupported; }
std::span<const TensorTypeTraits> kernel_tensor_types() { return kRead; }

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
