// Executes one piece of work on the calling thread. Ranges were checked at submission, but memory of a graph or delayed
// copy may have been freed since: the result is then an illegal address.
#include <algorithm>
#include <cstring>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

CUresult to_result(Fault fault) {
  switch (fault) {
    case Fault::kNone:
      return CUDA_SUCCESS;
    case Fault::kIllegalAddress:
      return CUDA_ERROR_ILLEGAL_ADDRESS;
    case Fault::kMisaligned:
      return CUDA_ERROR_MISALIGNED_ADDRESS;
    case Fault::kInvalidAddressSpace:
      return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case Fault::kAssert:
      return CUDA_ERROR_ASSERT;
    case Fault::kStack:
      return CUDA_ERROR_HARDWARE_STACK_ERROR;
    case Fault::kLaunchFailed:
      return CUDA_ERROR_LAUNCH_FAILED;
    case Fault::kStopped:
      return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  return CUDA_ERROR_UNKNOWN;
}

namespace {

// Host view of one side of a copy: device memory through the device, anything else is the program's own memory.
std::byte* view(Device& device, uint64_t address) {
  return device.find(address).bytes > 0 ? device.host_view(address) : reinterpret_cast<std::byte*>(address);
}

void set_row(std::byte* to, const CUDA_MEMSET_NODE_PARAMS& p) {
  if (p.elementSize == 1)
    std::memset(to, static_cast<unsigned char>(p.value), p.width);
  else if (p.elementSize == 2)
    std::fill_n(reinterpret_cast<uint16_t*>(to), p.width, static_cast<uint16_t>(p.value));
  else
    std::fill_n(reinterpret_cast<uint32_t*>(to), p.width, p.value);
}

struct Executor {
  Driver& d;
  Context& context;

  CUresult operator()(const EmptyWork&) { return CUDA_SUCCESS; }

  CUresult operator()(const KernelWork& work) {
    return to_result(work.function->run(work.shape, work.parameters, context.stop));
  }

  CUresult operator()(const CopyWork& work) {
    Device& device = *d.device;
    const bool to_device = device.find(work.to).bytes > 0;
    for (uint64_t z = 0; z < work.depth; ++z)
      for (uint64_t y = 0; y < work.height; ++y) {
        const uint64_t to = work.to + z * work.to_slice + y * work.to_pitch;
        const uint64_t from = work.from + z * work.from_slice + y * work.from_pitch;
        std::memmove(view(device, to), view(device, from), work.width);
        if (to_device) device.mark_initialised(to, work.width);
      }
    return CUDA_SUCCESS;
  }

  CUresult operator()(const SetWork& work) {
    const CUDA_MEMSET_NODE_PARAMS& p = work.asked;
    for (uint64_t y = 0; y < p.height; ++y) {
      const uint64_t row = p.dst + y * p.pitch;
      set_row(d.device->host_view(row), p);
      d.device->mark_initialised(row, p.width * p.elementSize);
    }
    return CUDA_SUCCESS;
  }

  CUresult operator()(const HostWork& work) {
    work.function(work.user_data);
    return CUDA_SUCCESS;
  }

  CUresult operator()(const RecordWork& work) {
    if (work.completion) return CUDA_SUCCESS;  // the stream completes it
    std::lock_guard lock(d.mutex);             // inside a graph: a fresh completion each time the graph runs
    if (Event* event = d.events.find(work.event)) {
      event->recorded = std::make_shared<Completion>();
      event->recorded->is_done = true;
      event->recorded->at = std::chrono::steady_clock::now();
    }
    d.changed.notify_all();
    return CUDA_SUCCESS;
  }

  CUresult operator()(const WaitWork& work) {
    std::unique_lock lock(d.mutex);
    std::shared_ptr<Completion> completion = work.completion;
    if (!completion)
      if (Event* event = d.events.find(work.event)) completion = event->recorded;
    if (completion) d.changed.wait(lock, [&] { return completion->is_done || context.stop; });
    return CUDA_SUCCESS;
  }

  CUresult operator()(const GraphWork& work) {
    for (const Work& node : work.program->works)
      if (CUresult result = execute(d, context, node); result != CUDA_SUCCESS) return result;
    return CUDA_SUCCESS;
  }

  CUresult operator()(const FreeWork& work) {
    std::lock_guard lock(d.mutex);
    release_memory(d, context, work.address);
    return CUDA_SUCCESS;
  }

  CUresult operator()(const MemoryWork& work) { return execute_memory_work(d, context, work); }
};

}  // namespace

// Runs on a stream's thread, so it must not throw.
CUresult execute(Driver& d, Context& context, const Work& work) {
  try {
    return std::visit(Executor{d, context}, work);
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

}  // namespace ptx::emulator::driver
