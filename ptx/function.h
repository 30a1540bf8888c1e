// A device function: code that several kernels of a module call, and that stands in its text once. Its arguments lie
// in registers; its shared memory is the caller's, behind an address that the caller passes.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/target.h"
#include "ptx/types.h"

namespace ptx {

// Which threads have the same value, or come to a place together: those of a block, those of each warp, none.
enum class Sharing : uint8_t { kBlock, kWarp, kNone };

struct Function {
  struct Argument {
    std::string name;
    Type type;  // of 32 or 64 bits
    Sharing sharing;
    uint32_t alignment;  // a number that divides it; a power of two
  };
  std::string name;
  std::string text;  // the definition
  Target target;
  Version version;  // the oldest PTX version that has all its instructions
  std::vector<Argument> arguments;
  uint32_t shared_bytes = 0;       // behind the address that it takes as argument, aligned to kSharedAlignment
  Sharing together;                // which threads must call it together
  std::vector<std::string> notes;  // what the verifier cannot vouch for: raw lines
  std::string declarations;        // of module scope
};
using FunctionPointer = std::shared_ptr<const Function>;
inline constexpr uint32_t kSharedAlignment = 16;

}  // namespace ptx
