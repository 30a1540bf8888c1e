// A caller's tensor in device memory, as the caller describes it.
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

// Throws with operation, tensor, expected and given type and shape if they differ. Also for a null or misaligned
// address, and a tensor that would wrap around the end of memory.
void require_tensor(std::string_view operation, std::string_view name, const TensorView& given, ElementType type,
                    const std::vector<uint64_t>& shape, uint64_t alignment);

}  // namespace warpchat
