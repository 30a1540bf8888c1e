// Words in memory that a stream waits for or writes: single operations, batches, and graph nodes.
#include <algorithm>
#include <atomic>

#include "ptx/emulator/driver/driver.h"
#include "ptx/emulator/full_fence.h"

namespace ptx::emulator::driver {

namespace {

constexpr unsigned kMaxOperations = 256;  // per batch

bool is_wide(CUstreamBatchMemOpType type) {
  return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

// Range and flags of a wait or write.
CUresult check_value(Driver& d, const CUstreamBatchMemOpParams& operation, unsigned known_flags) {
  const auto& value = operation.waitValue;  // writeValue has the same fields
  const uint64_t bytes = is_wide(operation.operation) ? 8 : 4;
  if (value.flags & ~known_flags) return CUDA_ERROR_INVALID_VALUE;
  if (value.address % bytes != 0 || !is_device_range(d, value.address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult check_operation(Driver& d, const CUstreamBatchMemOpParams& operation) {
  switch (operation.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      if (operation.waitValue.flags & CU_STREAM_WAIT_VALUE_FLUSH) return CUDA_ERROR_NOT_SUPPORTED;
      return check_value(d, operation, CU_STREAM_WAIT_VALUE_NOR);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return check_value(d, operation, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER);
    case CU_STREAM_MEM_OP_BARRIER:
      return operation.memoryBarrier.flags <= 1 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
      return CUDA_ERROR_NOT_SUPPORTED;  // matches the device's attribute
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

template <class Word>
bool has_come(uint64_t address, uint64_t value, unsigned flags) {
  const Word now = std::atomic_ref(*reinterpret_cast<Word*>(address)).load(std::memory_order_acquire);
  const Word wanted = static_cast<Word>(value);
  switch (flags) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & wanted) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return static_cast<Word>(~(now | wanted)) != 0;
    default:
      return static_cast<Word>(now - wanted) >> (8 * sizeof(Word) - 1) == 0;
  }
}

template <class Word>
void write(Device& device, uint64_t address, uint64_t value) {
  std::atomic_ref(*reinterpret_cast<Word*>(address)).store(static_cast<Word>(value), std::memory_order_release);
  device.mark_initialised(address, sizeof(Word));
}

bool is_still_there(Driver& d, const CUstreamBatchMemOpParams& operation) {
  return is_device_range(d, operation.waitValue.address, is_wide(operation.operation) ? 8 : 4);
}

void wait(Context& context, const CUstreamBatchMemOpParams& operation) {
  const auto& w = operation.waitValue;
  const auto come = is_wide(operation.operation) ? has_come<uint64_t> : has_come<uint32_t>;
  while (!context.stop && !come(w.address, w.value64, w.flags))
    std::this_thread::sleep_for(std::chrono::microseconds(20));
}

CUresult submit_batch(CUstream handle, std::vector<CUstreamBatchMemOpParams> operations) {
  return in_context([&](Driver& d, Context& context, auto&) -> CUresult {
    std::shared_ptr<Stream> stream = find_stream(context, handle);
    if (!stream) return CUDA_ERROR_INVALID_HANDLE;
    for (const CUstreamBatchMemOpParams& operation : operations)
      if (CUresult result = check_operation(d, operation); result != CUDA_SUCCESS) return result;
    return submit(d, *stream, MemoryWork{std::move(operations)});
  });
}

CUresult submit_one(CUstream stream, CUstreamBatchMemOpType type, CUdeviceptr address, uint64_t value, unsigned flags) {
  CUstreamBatchMemOpParams operation{};
  operation.waitValue = {type, address, value, flags, 0};
  return submit_batch(stream, {operation});
}

CUresult submit_many(CUstream stream, unsigned count, const CUstreamBatchMemOpParams* operations, unsigned flags) {
  if (count > kMaxOperations || (count > 0 && operations == nullptr) || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return submit_batch(stream, {operations, operations + count});
}

}  // namespace

CUresult make_memory_work(Driver& d, const CUDA_BATCH_MEM_OP_NODE_PARAMS& asked, MemoryWork* work) {
  if (asked.count > kMaxOperations || (asked.count > 0 && asked.paramArray == nullptr) || asked.flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  work->operations.assign(asked.paramArray, asked.paramArray + asked.count);
  for (const CUstreamBatchMemOpParams& operation : work->operations)
    if (CUresult result = check_operation(d, operation); result != CUDA_SUCCESS) return result;
  return CUDA_SUCCESS;
}

CUresult execute_memory_work(Driver& d, Context& context, const MemoryWork& work) {
  for (const CUstreamBatchMemOpParams& operation : work.operations) {
    const auto& w = operation.writeValue;
    if (operation.operation == CU_STREAM_MEM_OP_BARRIER) {
      full_fence();
      continue;
    }
    if (!is_still_there(d, operation)) return CUDA_ERROR_ILLEGAL_ADDRESS;
    if (operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_32)
      write<uint32_t>(*d.device, w.address, w.value64);
    else if (operation.operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
      write<uint64_t>(*d.device, w.address, w.value64);
    else
      wait(context, operation);
  }
  return CUDA_SUCCESS;
}

}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_32, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WAIT_VALUE_64, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_32, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  return submit_one(stream, CU_STREAM_MEM_OP_WRITE_VALUE_64, address, value, flags);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  return submit_many(stream, count, operations, flags);
}

// The newer functions do not support writes without a barrier.
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  return cuStreamWaitValue32(stream, address, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  return cuStreamWaitValue64(stream, address, value, flags);
}
CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned flags) {
  return flags == CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? CUDA_ERROR_NOT_SUPPORTED
                                                          : cuStreamWriteValue32(stream, address, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned flags) {
  return flags == CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER ? CUDA_ERROR_NOT_SUPPORTED
                                                          : cuStreamWriteValue64(stream, address, value, flags);
}
CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  return submit_many(stream, count, operations, flags);
}

}  // extern "C"
}  // namespace ptx::cuda
