// A device function: code that several kernels of a module call and that is emitted once. Arguments are in registers;
// its shared memory is the caller's, at an address the caller passes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/target.h"
#include "ptx/types.h"

namespace ptx {

// Which threads have the same value, or reach a point together: a block's, a warp's, or none.
enum class Sharing : uint8_t { kBlock, kWarp, kNone };

struct Function {
  struct Argument {
    std::string name;
    Type type;  // 32 or 64 bits wide
    Sharing sharing;
    uint32_t alignment;  // power of two that divides it
  };
  std::string name;
  std::string text;  // the definition
  Target target;
  Version version;  // oldest PTX version that has all its instructions
  std::vector<Argument> arguments;
  uint32_t shared_bytes = 0;       // at the address passed for shared_argument, aligned to kSharedAlignment
  Sharing together;                // threads that must call it together
  std::vector<std::string> notes;  // raw lines, which are not verified
  std::string declarations;        // of module scope
};
using FunctionPointer = std::shared_ptr<const Function>;
inline constexpr uint32_t kSharedAlignment = 16;

}  // namespace ptx
