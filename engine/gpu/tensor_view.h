// A tensor of the caller's in device memory: where it is, and what he says it is.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

enum class ElementType : uint8_t { kF32, kF16, kU32, kU64, kU8 };
uint64_t element_bytes(ElementType type);

struct TensorView {
  uint64_t address = 0;
  ElementType type = ElementType::kF32;
  std::vector<uint64_t> shape;  // outermost first
};

// "f32 [2, 896]".
std::string describe(ElementType type, const std::vector<uint64_t>& shape);

// Error naming operation and tensor, with the expected and the given type and shape; also for an address that is null
// or not a multiple of `alignment`, and for a tensor that would wrap round the end of memory.
void require_tensor(std::string_view operation, std::string_view name, const TensorView& given, ElementType type,
                    const std::vector<uint64_t>& shape, uint64_t alignment);

}  // namespace warpchat
