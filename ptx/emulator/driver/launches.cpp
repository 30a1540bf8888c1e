// Functions: attributes, occupancy, and launches, whose arguments are all checked before queuing.
#include <algorithm>
#include <cstring>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

Function* find_function(Driver& d, const void* handle) {
  Function* found = nullptr;
  d.modules.for_each([&](Module& module) {
    for (const auto& function : module.functions)
      if (function.get() == handle) found = function.get();
  });
  return found;
}

namespace {

CUresult pack_parameters(const FunctionTraits& traits, void** params, void** extra, std::vector<std::byte>* packed) {
  packed->assign(traits.parameter_bytes, std::byte{0});
  if (params != nullptr && extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (extra == nullptr) {
    if (params == nullptr) return traits.parameters.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < traits.parameters.size(); ++i) {
      if (params[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      std::memcpy(packed->data() + traits.parameters[i].offset, params[i], traits.parameters[i].bytes);
    }
    return CUDA_SUCCESS;
  }
  const void* buffer = nullptr;
  size_t bytes = 0;
  for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
    if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
      buffer = extra[i + 1];
    else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
      bytes = *static_cast<const size_t*>(extra[i + 1]);
    else
      return CUDA_ERROR_INVALID_VALUE;
  }
  if (bytes < traits.parameter_bytes || (buffer == nullptr && bytes > 0)) return CUDA_ERROR_INVALID_VALUE;
  if (!packed->empty()) std::memcpy(packed->data(), buffer, packed->size());
  return CUDA_SUCCESS;
}

uint64_t shared_limit(const DeviceProfile& profile, const Function& function) {
  const uint64_t fixed = function.loaded->traits().static_shared_bytes;
  const uint64_t dynamic = function.max_dynamic_shared;
  return dynamic > 0 ? std::max(profile.shared_per_block, fixed + dynamic) : profile.shared_per_block;
}

uint32_t blocks_per_sm(const DeviceProfile& profile, const Function& function, uint64_t threads, uint64_t shared) {
  const FunctionTraits& traits = function.loaded->traits();
  const uint64_t warps = (threads + 31) / 32;
  uint64_t blocks = std::min<uint64_t>(profile.max_blocks_per_sm, profile.max_threads_per_sm / (warps * 32));
  blocks = std::min<uint64_t>(blocks, profile.registers_per_sm / (warps * 32 * std::max(1u, function.n_registers)));
  const uint64_t bytes = traits.static_shared_bytes + shared + 1024;  // the system reserves 1 KiB per block
  return static_cast<uint32_t>(std::min(blocks, profile.shared_per_sm / bytes));
}

CUresult check_shape(Driver& d, const Function& function, const CUDA_KERNEL_NODE_PARAMS& p, bool is_cooperative) {
  const FunctionTraits& traits = function.loaded->traits();
  const DeviceProfile& profile = d.device->profile();
  if (!p.gridDimX || !p.gridDimY || !p.gridDimZ || !p.blockDimX || !p.blockDimY || !p.blockDimZ)
    return CUDA_ERROR_INVALID_VALUE;
  if (p.gridDimX > 0x7fffffffu || p.gridDimY > 65535 || p.gridDimZ > 65535) return CUDA_ERROR_INVALID_VALUE;
  if (p.blockDimX > 1024 || p.blockDimY > 1024 || p.blockDimZ > 64) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t threads = uint64_t{p.blockDimX} * p.blockDimY * p.blockDimZ;
  if (threads > 1024) return CUDA_ERROR_INVALID_VALUE;
  if (threads > traits.max_threads) return CUDA_ERROR_INVALID_VALUE;
  const auto& required = traits.required_threads;
  if (required[0] > 0 && (p.blockDimX != required[0] || p.blockDimY != required[1] || p.blockDimZ != required[2]))
    return CUDA_ERROR_INVALID_VALUE;
  if (traits.static_shared_bytes + p.sharedMemBytes > shared_limit(profile, function)) return CUDA_ERROR_INVALID_VALUE;
  if (!is_cooperative) return CUDA_SUCCESS;
  const uint64_t blocks = uint64_t{p.gridDimX} * p.gridDimY * p.gridDimZ;
  const uint64_t resident = uint64_t{profile.n_sms} * blocks_per_sm(profile, function, threads, p.sharedMemBytes);
  return blocks <= resident ? CUDA_SUCCESS : CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
}

CUresult launch(const CUDA_KERNEL_NODE_PARAMS& asked, CUstream handle, bool is_cooperative) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    KernelWork work;
    if (CUresult result = make_kernel(d, asked, is_cooperative, &work); result != CUDA_SUCCESS) return result;
    return submit(d, *stream, std::move(work));
  });
}

template <class Body>
CUresult with_function(const void* handle, Body body) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    Function* function = find_function(d, handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return body(d, *function);
  });
}

CUresult get_attribute(int* value, CUfunction_attribute attribute, const void* handle) {
  return with_function(handle, [&](Driver& d, Function& function) -> CUresult {
    const FunctionTraits& traits = function.loaded->traits();
    auto answer = [&](uint64_t n) {
      *value = static_cast<int>(n);
      return CUDA_SUCCESS;
    };
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return answer(traits.max_threads);
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return answer(traits.static_shared_bytes);
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        return answer(traits.constant_bytes);
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return answer(traits.local_bytes);
      case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return answer(function.n_registers);
      case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return answer(traits.target);  // in spite of its name this is the virtual architecture
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return answer(d.device->profile().target);
      case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        return answer(0);
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return answer(function.max_dynamic_shared ? function.max_dynamic_shared
                                                : d.device->profile().shared_per_block - traits.static_shared_bytes);
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = function.carveout;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult set_attribute(const void* handle, CUfunction_attribute attribute, int value) {
  return with_function(handle, [&](Driver& d, Function& function) -> CUresult {
    if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT) {
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      function.carveout = value;
      return CUDA_SUCCESS;
    }
    if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) return CUDA_ERROR_INVALID_VALUE;
    const uint64_t fixed = function.loaded->traits().static_shared_bytes;
    if (value < 0 || fixed + static_cast<uint64_t>(value) > d.device->profile().shared_per_block_optin)
      return CUDA_ERROR_INVALID_VALUE;
    function.max_dynamic_shared = static_cast<uint64_t>(value);
    return CUDA_SUCCESS;
  });
}

CUresult parameter_info(const void* handle, size_t index, size_t* offset, size_t* bytes) {
  return with_function(handle, [&](Driver&, Function& function) -> CUresult {
    const auto& parameters = function.loaded->traits().parameters;
    if (index >= parameters.size() || offset == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *offset = parameters[index].offset;
    if (bytes != nullptr) *bytes = parameters[index].bytes;
    return CUDA_SUCCESS;
  });
}

CUresult get_name(const char** name, const void* handle) {
  return with_function(handle, [&](Driver&, Function& function) -> CUresult {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = function.loaded->traits().name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult get_module(void** module, const void* handle) {
  return with_function(handle, [&](Driver&, Function& function) -> CUresult {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = function.module;
    return CUDA_SUCCESS;
  });
}

}  // namespace

CUresult make_kernel(Driver& d, const CUDA_KERNEL_NODE_PARAMS& asked, bool is_cooperative, KernelWork* work) {
  Function* function = find_function(d, asked.func != nullptr ? static_cast<void*>(asked.func) : asked.kern);
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (CUresult result = check_shape(d, *function, asked, is_cooperative); result != CUDA_SUCCESS) return result;
  work->function = function->loaded;
  work->handle = reinterpret_cast<CUfunction>(function);
  work->shape = {{asked.gridDimX, asked.gridDimY, asked.gridDimZ},
                 {asked.blockDimX, asked.blockDimY, asked.blockDimZ},
                 asked.sharedMemBytes,
                 is_cooperative};
  return pack_parameters(function->loaded->traits(), asked.kernelParams, asked.extra, &work->parameters);
}

}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                        unsigned shared, CUstream stream, void** params, void** extra) {
  return launch({f, gx, gy, gz, bx, by, bz, shared, params, extra, nullptr, nullptr}, stream, false);
}

CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                   unsigned bz, unsigned shared, CUstream stream, void** params) {
  return launch({f, gx, gy, gz, bx, by, bz, shared, params, nullptr, nullptr, nullptr}, stream, true);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction f, void** params, void** extra) {
  if (c == nullptr || (c->numAttrs > 0 && c->attrs == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  bool is_cooperative = false;
  for (unsigned i = 0; i < c->numAttrs; ++i) {
    const CUlaunchAttribute& attribute = c->attrs[i];
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) is_cooperative = attribute.value.cooperative != 0;
    if (attribute.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
        attribute.value.clusterDim.x * attribute.value.clusterDim.y * attribute.value.clusterDim.z > 1)
      return CUDA_ERROR_NOT_SUPPORTED;  // blocks of a cluster would share memory, which is not emulated
  }
  return launch({f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY, c->blockDimZ, c->sharedMemBytes,
                 params, extra, nullptr, nullptr},
                c->hStream, is_cooperative);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction f) {
  return get_attribute(value, attribute, f);
}
CUresult cuFuncSetAttribute(CUfunction f, CUfunction_attribute attribute, int value) {
  return set_attribute(f, attribute, value);
}
CUresult cuFuncSetCacheConfig(CUfunction f, CUfunc_cache config) {
  return with_function(f, [&](Driver&, Function&) { return config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; });
}
CUresult cuFuncGetModule(CUmodule* module, CUfunction f) {
  return get_module(static_cast<void**>(static_cast<void*>(module)), f);
}
CUresult cuFuncGetName(const char** name, CUfunction f) { return get_name(name, f); }
CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t* offset, size_t* bytes) {
  return parameter_info(f, index, offset, bytes);
}
CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction f) {
  return with_function(f, [&](Driver&, Function&) -> CUresult {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = 1;
    return CUDA_SUCCESS;
  });
}
CUresult cuFuncLoad(CUfunction f) {
  return with_function(f, [&](Driver&, Function&) { return CUDA_SUCCESS; });
}

CUresult cuKernelGetFunction(CUfunction* function, CUkernel kernel) {
  return with_function(kernel, [&](Driver&, Function& found) -> CUresult {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *function = reinterpret_cast<CUfunction>(&found);
    return CUDA_SUCCESS;
  });
}
CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return parameter_info(kernel, index, offset, bytes);
}
CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device) {
  return device == driver().ordinal ? cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config)
                                    : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuKernelGetName(const char** name, CUkernel kernel) { return get_name(name, kernel); }
CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel kernel) {
  return get_module(static_cast<void**>(static_cast<void*>(library)), kernel);
}
CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return device == driver().ordinal ? get_attribute(value, attribute, kernel) : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return device == driver().ordinal ? set_attribute(kernel, attribute, value) : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction f, int threads, size_t shared) {
  return with_function(f, [&](Driver& d, Function& function) -> CUresult {
    if (blocks == nullptr || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    const FunctionTraits& traits = function.loaded->traits();
    const bool fits = static_cast<unsigned>(threads) <= traits.max_threads &&
                      traits.static_shared_bytes + shared <= d.device->profile().shared_per_block_optin;
    *blocks =
        fits ? static_cast<int>(blocks_per_sm(d.device->profile(), function, static_cast<unsigned>(threads), shared))
             : 0;
    return CUDA_SUCCESS;
  });
}
CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction f, int threads, size_t shared,
                                                              unsigned flags) {
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE : cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, f, threads, shared);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block, CUfunction f, CUoccupancyB2DSize shared_of,
                                          size_t shared, int limit) {
  return with_function(f, [&](Driver& d, Function& function) -> CUresult {
    if (min_grid == nullptr || block == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const DeviceProfile& profile = d.device->profile();
    int max = static_cast<int>(std::min(1024u, function.loaded->traits().max_threads));
    if (limit > 0) max = std::min(max, limit);
    uint32_t best = 0;
    for (int threads = max / 32 * 32; threads >= 32; threads -= 32) {
      const size_t bytes = shared_of != nullptr ? shared_of(threads) : shared;
      const uint32_t blocks = blocks_per_sm(profile, function, static_cast<unsigned>(threads), bytes);
      if (blocks * static_cast<uint32_t>(threads) <= best) continue;
      best = blocks * static_cast<uint32_t>(threads);
      *block = threads;
      *min_grid = static_cast<int>(blocks * profile.n_sms);
    }
    return best > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block, CUfunction f,
                                                   CUoccupancyB2DSize shared_of, size_t shared, int limit,
                                                   unsigned flags) {
  return flags > 1 ? CUDA_ERROR_INVALID_VALUE
                   : cuOccupancyMaxPotentialBlockSize(min_grid, block, f, shared_of, shared, limit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction f, int blocks, int threads) {
  return with_function(f, [&](Driver& d, Function& function) -> CUresult {
    if (bytes == nullptr || blocks <= 0 || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    const DeviceProfile& profile = d.device->profile();
    const uint64_t share = profile.shared_per_sm / static_cast<unsigned>(blocks);
    const uint64_t taken = function.loaded->traits().static_shared_bytes + 1024;
    *bytes = share > taken ? std::min(share - taken, profile.shared_per_block_optin) : 0;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
