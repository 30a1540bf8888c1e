// The builder's result: a kernel's text with everything needed to launch it, and modules of several kernels.
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
  Dimensions blocks;         // per grid
  Dimensions threads = 0;    // per block; 0: chosen by the launcher
  bool cooperative = false;  // all blocks must be resident at once, for grid barriers
};

// Work of one launch, for the profiler, as estimated by the caller.
struct Cost {
  uint64_t bytes = 0;
  uint64_t flops = 0;
};

struct Parameter {
  std::string name;
  Type type;  // type of the value, or of the elements behind a pointer
  bool pointer;
  uint64_t elements;  // behind a pointer; 0 if unknown
  uint32_t offset;    // bytes, in the packed parameter buffer
};

struct Kernel {
  std::string name;  // the entry's
  std::string text;  // a complete module with this one entry and what it calls
  Target target;
  Version version;  // oldest PTX version that has all its instructions
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t static_shared_bytes = 0, dynamic_shared_bytes = 0;
  Launch launch;
  Cost cost;
  std::vector<std::string> notes;  // raw lines, which are not verified
  std::string declarations;        // of module scope
  std::string entry;
  std::vector<FunctionPointer> functions;  // called functions
};

// Joins kernels into one module, with each function they call once. Throws Error for two kernels of the same name, for
// different functions of the same name, or for different targets.
std::string module_text(std::span<const Kernel> kernels);

}  // namespace ptx
