// What a builder gives back: a kernel's text with everything a launch needs, and modules of several kernels.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ptx/function.h"
#include "ptx/target.h"
#include "ptx/types.h"

namespace ptx {

struct Dimensions {
  uint32_t x, y, z;
  Dimensions(uint32_t x_ = 1, uint32_t y_ = 1, uint32_t z_ = 1) : x(x_), y(y_), z(z_) {}
  uint64_t total() const { return uint64_t{x} * y * z; }
};

struct Launch {
  Dimensions blocks;         // of the grid
  Dimensions threads = 0;    // of a block; 0: left to the launcher
  bool cooperative = false;  // all blocks resident together, as grid barriers need
};

// What one launch moves and computes, for the profiler; the caller's numbers.
struct Cost {
  uint64_t bytes = 0;
  uint64_t flops = 0;
};

struct Parameter {
  std::string name;
  Type type;  // of the value, or of the elements behind a pointer
  bool pointer;
  uint64_t elements;  // behind a pointer; 0 where unknown
  uint32_t offset;    // bytes, in the packed parameter buffer
};

struct Kernel {
  std::string name;  // of the entry
  std::string text;  // a complete module with this one entry and what it calls
  Target target;
  Version version;  // the oldest PTX version that has all its instructions
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  Launch launch;
  Cost cost;
  std::vector<std::string> notes;  // what the verifier cannot vouch for: raw lines
  std::string declarations;        // of module scope
  std::string entry;
  std::vector<FunctionPointer> functions;  // that it calls
};

// Several kernels in one module, and once each function that they call; throws Error for two kernels of one name, for two
// functions of one name that differ, or for different targets.
std::string module_text(std::span<const Kernel> kernels);

}  // namespace ptx
