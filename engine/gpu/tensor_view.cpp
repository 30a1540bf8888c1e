// Checks of tensors that callers pass to a launch.
#include "engine/gpu/tensor_view.h"

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

uint64_t element_bytes(ElementType type) {
  switch (type) {
    case ElementType::kU8:
      return 1;
    case ElementType::kF16:
      return 2;
    case ElementType::kF32:
    case ElementType::kU32:
      return 4;
    case ElementType::kU64:
      return 8;
  }
  return 0;
}

std::string describe(ElementType type, const std::vector<uint64_t>& shape) {
  constexpr const char* kNames[] = {"f32", "f16", "u32", "u64", "u8"};
  std::string text = std::string(kNames[static_cast<size_t>(type)]) + " [";
  for (size_t i = 0; i < shape.size(); ++i) text += (i > 0 ? ", " : "") + grouped(shape[i]);
  return text + "]";
}

void require_tensor(std::string_view operation, std::string_view name, const TensorView& given, ElementType type,
                    const std::vector<uint64_t>& shape, uint64_t alignment) {
  const std::string subject = std::string(operation) + ": " + std::string(name);
  if (given.type != type || given.shape != shape)
    throw Error(subject + " is " + describe(given.type, given.shape) + ", expected " + describe(type, shape));
  if (given.address == 0) throw Error(subject + " has no address, expected " + describe(type, shape));
  if (given.address % alignment != 0)
    throw Error(subject + " lies at address " + grouped(given.address) + ", expected a multiple of " +
                grouped(alignment));
  uint64_t n_bytes = element_bytes(type), end = 0;
  for (uint64_t n : shape)
    if (__builtin_mul_overflow(n_bytes, n, &n_bytes)) n_bytes = UINT64_MAX;
  if (__builtin_add_overflow(given.address, n_bytes, &end))
    throw Error(subject + " of " + describe(type, shape) + " does not fit into memory at address " +
                grouped(given.address));
}

}  // namespace warpchat
