// The machine as the Driver API's functions see it: one device with profile, memory, modules and launches. It is
// independent of streams, contexts and CUresult.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/emulator/link_input.h"
#include "ptx/emulator/profile.h"

namespace ptx::emulator::driver {

struct DeviceProfile {
  uint32_t target = 90;  // 10 * major + minor
  uint32_t n_sms = 4;
  uint32_t max_threads_per_sm = 2048;
  uint32_t max_blocks_per_sm = 32;
  uint32_t registers_per_sm = 65536;
  uint64_t shared_per_block = 48 << 10;  // without the opt-in
  uint64_t shared_per_block_optin = 227 << 10;
  uint64_t shared_per_sm = 228 << 10;
  uint64_t memory_bytes = uint64_t{4} << 30;  // device memory
};

enum class Fault {
  kNone,
  kIllegalAddress,
  kMisaligned,
  kInvalidAddressSpace,
  kAssert,
  kStack,
  kLaunchFailed,
  kStopped
};

struct LaunchShape {
  uint32_t grid[3], block[3];
  uint64_t dynamic_shared_bytes;
  bool is_cooperative;
};

struct FunctionTraits {
  std::string name;
  struct Parameter {
    uint64_t offset, bytes;
  };
  std::vector<Parameter> parameters;
  uint64_t parameter_bytes = 0;  // in the packed buffer
  uint64_t static_shared_bytes = 0, local_bytes = 0;
  uint64_t constant_bytes = 0;               // of the module, shared by all its kernels
  uint32_t max_threads = 1024;               // from .maxntid or .reqntid, else the device's limit
  uint32_t required_threads[3] = {0, 0, 0};  // from .reqntid; all 0: any
  uint32_t n_registers = 32;                 // estimated: the emulator has no register file
  uint32_t ptx_version = 0, target = 0;
};

class LoadedFunction {
 public:
  virtual ~LoadedFunction() = default;
  virtual const FunctionTraits& traits() const = 0;
  // Runs the whole grid on the calling thread and helper threads; returns early with kStopped once *stop is set.
  // Findings of the checks count as kLaunchFailed; their descriptions go to stderr.
  virtual Fault run(const LaunchShape& shape, const std::vector<std::byte>& parameters,
                    const std::atomic<bool>& stop) const = 0;
};

class LoadedModule {
 public:
  virtual ~LoadedModule() = default;
  virtual std::vector<const LoadedFunction*> functions() const = 0;  // entries, in text order
  struct GlobalVariable {
    std::string name;
    uint64_t address, bytes;
  };
  virtual std::vector<GlobalVariable> globals() const = 0;
};

// Thrown by load: the lines of the JIT log.
struct InvalidPtx {
  std::string log;
  bool unsupported_version;  // .version is newer than the loader supports
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceProfile& profile() const = 0;
  // One text, or several separately compiled ones.
  virtual std::unique_ptr<LoadedModule> load(const std::vector<LinkInput>& inputs) = 0;
  virtual void check_input(std::string_view ptx) = 0;  // an input of a link: throws as load does

  // Device memory. Addresses are never null; allocate returns 0 for 0 bytes or if memory is exhausted.
  virtual uint64_t allocate(uint64_t bytes) = 0;
  virtual bool release(uint64_t address) = 0;  // false: not an allocation's start
  // Host memory that kernels may read and write under its own address; counts as initialised.
  virtual void map_host(void* start, uint64_t bytes) = 0;
  virtual void unmap_host(void* start) = 0;
  struct Range {
    uint64_t start = 0, bytes = 0;
    bool is_host = false;
  };
  virtual Range find(uint64_t address) const = 0;  // bytes == 0: not found
  virtual uint64_t free_bytes() const = 0;
  // Access by the host or a copy engine. Both ends have been checked with find().
  virtual std::byte* host_view(uint64_t address) = 0;
  virtual void mark_initialised(uint64_t address, uint64_t bytes) = 0;  // written by a copy or a set
};

// A device with that profile and the checks of CUDA_EMULATOR_CHECKS. Throws std::invalid_argument with a message if
// they are invalid.
std::unique_ptr<Device> make_device(const Profile& profile);

}  // namespace ptx::emulator::driver
