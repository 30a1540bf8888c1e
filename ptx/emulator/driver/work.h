// The work that streams execute and graphs hold: a complete description of a launch, copy, set or host call.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>
#include <vector>

#include "ptx/driver_api.h"
#include "ptx/emulator/driver/device.h"

namespace ptx::emulator::driver {

using namespace ptx::cuda;

struct Completion;
struct GraphProgram;

struct KernelWork {
  const LoadedFunction* function;
  CUfunction handle;
  LaunchShape shape;
  std::vector<std::byte> parameters;  // packed, laid out as in the function's traits
  int priority = 0;                   // of a graph node; stored only
};

// A box of depth * height rows of `width` bytes; addresses are those of its first byte.
struct CopyWork {
  uint64_t to, from;
  uint64_t width, height, depth;
  uint64_t to_pitch, to_slice, from_pitch, from_slice;  // bytes from row to row and from plane to plane
  std::shared_ptr<std::vector<std::byte>> staged;       // owns `from` if it is a copy of pageable memory
  CUDA_MEMCPY3D asked;                                  // the caller's parameters, for node queries
};

struct SetWork {
  CUDA_MEMSET_NODE_PARAMS asked;  // height rows of width elements
};

struct HostWork {
  CUhostFn function;
  void* user_data;
};

struct RecordWork {
  CUevent event;
  std::shared_ptr<Completion> completion;
};  // completion: null inside graphs
struct WaitWork {
  CUevent event;
  std::shared_ptr<Completion> completion;
};
struct GraphWork {
  std::shared_ptr<const GraphProgram> program;
};
struct EmptyWork {};
struct FreeWork {
  uint64_t address;
};
struct MemoryWork {  // words to wait for and to write, in order
  std::vector<CUstreamBatchMemOpParams> operations;
};

using Work = std::variant<EmptyWork, KernelWork, CopyWork, SetWork, HostWork, RecordWork, WaitWork, GraphWork, FreeWork,
                          MemoryWork>;

// A program's object that reports when its last reference is gone.
struct UserObject {
  UserObject(void* p, CUhostFn f) : pointer(p), destroy(f) {}
  UserObject(const UserObject&) = delete;
  ~UserObject();
  void* pointer;
  CUhostFn destroy;  // called on a separate thread
};

// An executable graph: its nodes in topological order.
struct GraphProgram {
  std::vector<Work> works;
  std::vector<std::shared_ptr<UserObject>> held;
};

CUresult to_result(Fault fault);

}  // namespace ptx::emulator::driver
