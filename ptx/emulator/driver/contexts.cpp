// Driver initialisation, devices, and contexts: the primary one and those that programs create.
#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ptx/emulator/driver/driver.h"
#include "ptx/emulator/driver/environment.h"

namespace ptx::emulator::driver {

namespace {

// Created in sequence, and never destroyed.
struct Drivers {
  static constexpr int kMax = 64;
  std::mutex mutex;  // guards additions
  std::atomic<int> n = 1;
  std::array<Driver*, kMax> list{new Driver};
  std::array<Profile, kMax> profiles;
};

Drivers& drivers() {
  static Drivers* instance = new Drivers;
  return *instance;
}

}  // namespace

Driver& driver() {
  const auto& stack = context_stack();
  return stack.empty() ? *drivers().list[0] : *stack.back().driver;
}

Driver* driver_of(CUdevice device) {
  return device >= 0 && device < count_devices() ? drivers().list[static_cast<size_t>(device)] : nullptr;
}

int count_devices() { return drivers().n; }

int emulated_device(std::string_view profile) {
  const Profile wanted = profile_named(profile);
  if (cuda::cuInit(0) != CUDA_SUCCESS) throw std::invalid_argument("the emulator does not start");
  Drivers& all = drivers();
  const std::lock_guard lock(all.mutex);
  for (int i = 0; i < all.n; ++i)
    if (all.profiles[static_cast<size_t>(i)] == wanted) return i;
  if (all.n == Drivers::kMax) throw std::invalid_argument("64 devices are emulated already");
  const auto at = static_cast<size_t>(all.n);
  all.list[at] = new Driver;
  all.list[at]->ordinal = all.n;
  all.list[at]->device = make_device(wanted);
  all.list[at]->loads_wait_for_idle = loads_drain_from_environment();
  all.list[at]->is_initialised = true;
  all.profiles[at] = wanted;
  return all.n++;
}

ContextStack& context_stack() {
  static thread_local ContextStack stack;
  return stack;
}

Context* current_context() {
  const auto& stack = context_stack();
  return stack.empty() ? nullptr : driver().contexts.find(stack.back().context);
}

namespace {

// The primary context's handle is constant for the life of the process.
std::unique_ptr<Context> fresh_context(Driver& d, bool is_primary) {
  if (!is_primary || !d.inactive_primary) return std::make_unique<Context>();
  std::destroy_at(d.inactive_primary.get());
  std::construct_at(d.inactive_primary.get());
  return std::move(d.inactive_primary);
}

Context* make_context(Driver& d, unsigned flags, bool is_primary) {
  std::unique_ptr<Context> context = fresh_context(d, is_primary);
  context->flags = flags;
  context->is_primary = is_primary;
  context->id = d.next_id++;
  context->limits = {{CU_LIMIT_STACK_SIZE, 1024},
                     {CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20},
                     {CU_LIMIT_MALLOC_HEAP_SIZE, 8 << 20},
                     {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
                     {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0}};
  context->legacy = make_stream(d, *context, 0, 0);
  context->legacy->is_legacy = true;
  return d.contexts.add(std::move(context));
}

void destroy_context(Driver& d, std::unique_lock<std::mutex>& lock, Context& context) {
  close_streams(d, lock, context);
  std::erase_if(d.captures, [&](const auto& capture) { return capture->status != CU_STREAM_CAPTURE_STATUS_ACTIVE; });
  d.modules.erase_if([&](Module& module) { return module.context == &context; });
  d.links.erase_if([&](LinkState& link) { return link.context == &context; });
  d.events.erase_if([&](Event& event) { return event.context == &context; });
  while (!context.allocations.empty()) release_memory(d, context, context.allocations.begin()->first);
  for (const auto& [pointer, flags] : context.pinned) {
    d.device->unmap_host(pointer);
    std::free(pointer);
  }
  for (void* pointer : context.registered) d.device->unmap_host(pointer);
  while (!context.managed.empty()) release_managed(d, context, *context.managed.begin());
  context.legacy.reset();
  std::unique_ptr<Context> object = d.contexts.extract(&context);
  if (d.primary == &context) {
    d.primary = nullptr;
    d.inactive_primary = std::move(object);
  } else {
    d.destroyed.push_back(std::move(object));
  }
}

constexpr unsigned kContextFlags = 0xff;  // CU_CTX_FLAGS_MASK

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Driver& d = *driver_of(0);
  if (d.is_forked) return CUDA_ERROR_NOT_INITIALIZED;
  std::lock_guard lock(d.mutex);
  if (d.is_initialised) return CUDA_SUCCESS;
  try {
    drivers().profiles[0] = profile_from_environment();
    d.device = make_device(drivers().profiles[0]);
    d.loads_wait_for_idle = loads_drain_from_environment();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "emulator: %s\n", error.what());
    return CUDA_ERROR_INVALID_VALUE;
  }
  pthread_atfork(nullptr, nullptr, [] {
    for (int i = 0; i < count_devices(); ++i) driver_of(i)->is_forked = true;
  });
  d.is_initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return api([&](Driver&, auto&) -> CUresult {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = count_devices();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return api([&](Driver&, auto&) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (driver_of(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* out, CUdevice device) {
  return api_of(device, [&](Driver& d, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    d.changed.wait(lock, [&] { return d.primary == nullptr || !d.primary->is_draining; });
    if (d.primary == nullptr) d.primary = make_context(d, d.primary_flags, true);
    ++d.primary_references;
    *out = reinterpret_cast<CUcontext>(d.primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return api_of(device, [&](Driver& d, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (d.primary_references == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--d.primary_references == 0 && d.primary) destroy_context(d, lock, *d.primary);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return api_of(device, [&](Driver& d, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (d.primary) destroy_context(d, lock, *d.primary);
    d.primary_references = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return api_of(device, [&](Driver& d, auto&) -> CUresult {
    if (flags & ~kContextFlags) return CUDA_ERROR_INVALID_VALUE;
    d.primary_flags = flags;
    if (d.primary) d.primary->flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return api_of(device, [&](Driver& d, auto&) -> CUresult {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = d.primary_flags;
    *active = d.primary != nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxCreate_v4(CUcontext* out, CUctxCreateParams* params, unsigned flags, CUdevice device) {
  return api_of(device, [&](Driver& d, auto&) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (flags & ~kContextFlags) return CUDA_ERROR_INVALID_VALUE;
    if (params != nullptr && (params->numExecAffinityParams > 0 || params->cigParams)) return CUDA_ERROR_NOT_SUPPORTED;
    Context* context = make_context(d, flags, false);
    context_stack().push_back({context, &d});
    *out = reinterpret_cast<CUcontext>(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxCreate_v2(CUcontext* out, unsigned flags, CUdevice device) {
  return cuCtxCreate_v4(out, nullptr, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return api_of(handle, [&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (context.is_primary) return CUDA_ERROR_INVALID_CONTEXT;
    auto& stack = context_stack();
    if (!stack.empty() && stack.back().context == &context) stack.pop_back();
    destroy_context(d, lock, context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return api_of(handle, [&](Driver& d, Context& context, auto&) -> CUresult {
    context_stack().push_back({&context, &d});
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* out) {
  return api([&](Driver&, auto&) -> CUresult {
    auto& stack = context_stack();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (out != nullptr) *out = reinterpret_cast<CUcontext>(stack.back().context);
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext handle) {
  auto& stack = context_stack();
  if (handle == nullptr)
    return api([&](Driver&, auto&) {
      if (!stack.empty()) stack.pop_back();
      return CUDA_SUCCESS;
    });
  return api_of(handle, [&](Driver& d, Context& context, auto&) {
    if (!stack.empty()) stack.pop_back();
    stack.push_back({&context, &d});
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext* out) {
  return api([&](Driver&, auto&) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<CUcontext>(current_context());
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return in_context([&](Driver& d, Context&, auto&) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = d.ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  if (handle == nullptr) return cuCtxGetDevice(device);
  return api_of(handle, [&](Driver& d, Context&, auto&) -> CUresult {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = d.ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    if (flags & ~kContextFlags) return CUDA_ERROR_INVALID_VALUE;
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  if (handle == nullptr) handle = reinterpret_cast<CUcontext>(current_context());
  return api_of(handle, [&](Driver&, Context& context, auto&) -> CUresult {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = context.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
    return synchronise(d, lock, context);
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  if (handle == nullptr) return cuCtxSynchronize();
  return api_of(handle, [&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
    return synchronise(d, lock, context);
  });
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    auto found = context.limits.find(limit);
    if (found == context.limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    found->second = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetLimit(size_t* value, CUlimit limit) {
  return in_context([&](Driver&, Context& context, auto&) -> CUresult {
    auto found = context.limits.find(limit);
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (found == context.limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = found->second;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return in_context([&](Driver&, Context&, auto&) -> CUresult {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return in_context([&](Driver&, Context&, auto&) -> CUresult {
    return config <= 3 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;  // a hint; every split behaves the same
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  if (handle == nullptr) handle = reinterpret_cast<CUcontext>(current_context());
  return api_of(handle, [&](Driver&, Context&, auto&) -> CUresult {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return in_context([&](Driver&, Context&, auto&) -> CUresult {
    if (least != nullptr) *least = 0;
    if (greatest != nullptr) *greatest = -5;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
}  // namespace ptx::cuda
