// Names of results, and one sentence each about their meaning here.
#include "ptx/driver_api.h"

namespace ptx::cuda {

namespace {

struct ErrorText {
  CUresult result;
  const char* name;
  const char* text;
};

#define ROW(result, text) \
  { result, #result, text }
const ErrorText kErrors[] = {
    ROW(CUDA_SUCCESS, "no error"),
    ROW(CUDA_ERROR_INVALID_VALUE, "an argument is out of range"),
    ROW(CUDA_ERROR_OUT_OF_MEMORY, "not enough memory"),
    ROW(CUDA_ERROR_NOT_INITIALIZED, "cuInit has not been called"),
    ROW(CUDA_ERROR_DEINITIALIZED, "the driver is shutting down"),
    ROW(CUDA_ERROR_STUB_LIBRARY, "the library is a stub without a driver"),
    ROW(CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, "the call needs a newer driver"),
    ROW(CUDA_ERROR_DEVICE_UNAVAILABLE, "the device is in use or unavailable"),
    ROW(CUDA_ERROR_NO_DEVICE, "no CUDA-capable device"),
    ROW(CUDA_ERROR_INVALID_DEVICE, "no device has that number"),
    ROW(CUDA_ERROR_INVALID_IMAGE, "the module's image is not valid"),
    ROW(CUDA_ERROR_INVALID_CONTEXT, "no context is current, or it is not valid"),
    ROW(CUDA_ERROR_MAP_FAILED, "mapping failed"),
    ROW(CUDA_ERROR_NO_BINARY_FOR_GPU, "no code for this device in the image"),
    ROW(CUDA_ERROR_ECC_UNCORRECTABLE, "an uncorrectable memory error"),
    ROW(CUDA_ERROR_UNSUPPORTED_LIMIT, "the limit is not supported"),
    ROW(CUDA_ERROR_INVALID_PTX, "the PTX text was refused"),
    ROW(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "the PTX compiler was not found"),
    ROW(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "the PTX text is newer than this driver or device"),
    ROW(CUDA_ERROR_INVALID_SOURCE, "the kernel source is not valid"),
    ROW(CUDA_ERROR_FILE_NOT_FOUND, "the file was not found"),
    ROW(CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "a symbol of a shared object was not found"),
    ROW(CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "a shared object could not be loaded"),
    ROW(CUDA_ERROR_OPERATING_SYSTEM, "a call to the operating system failed"),
    ROW(CUDA_ERROR_INVALID_HANDLE, "a handle is not valid"),
    ROW(CUDA_ERROR_ILLEGAL_STATE, "a resource is not in the state the call needs"),
    ROW(CUDA_ERROR_NOT_FOUND, "the name was not found"),
    ROW(CUDA_ERROR_NOT_READY, "the work has not finished"),
    ROW(CUDA_ERROR_ILLEGAL_ADDRESS, "a kernel used an address that is not mapped"),
    ROW(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, "the launch needs more than the device has"),
    ROW(CUDA_ERROR_LAUNCH_TIMEOUT, "a kernel ran too long"),
    ROW(CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE, "the primary context is already active"),
    ROW(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context has been destroyed"),
    ROW(CUDA_ERROR_ASSERT, "an assertion in a kernel failed"),
    ROW(CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "the host memory is already registered"),
    ROW(CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "the host memory is not registered"),
    ROW(CUDA_ERROR_HARDWARE_STACK_ERROR, "a kernel's call stack was corrupted or ran out"),
    ROW(CUDA_ERROR_ILLEGAL_INSTRUCTION, "a kernel met an illegal instruction"),
    ROW(CUDA_ERROR_MISALIGNED_ADDRESS, "a kernel used an address that is not aligned"),
    ROW(CUDA_ERROR_INVALID_ADDRESS_SPACE, "a kernel used an address outside its memory space"),
    ROW(CUDA_ERROR_INVALID_PC, "a kernel jumped outside its code"),
    ROW(CUDA_ERROR_LAUNCH_FAILED, "a kernel failed while it ran"),
    ROW(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, "more blocks than can be resident at once"),
    ROW(CUDA_ERROR_NOT_PERMITTED, "the operation is not permitted"),
    ROW(CUDA_ERROR_NOT_SUPPORTED, "the operation is not supported here"),
    ROW(CUDA_ERROR_SYSTEM_NOT_READY, "the system is not ready yet"),
    ROW(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "kernel driver and library do not match"),
    ROW(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, "forward compatibility is not supported on this device"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the operation is not permitted while a stream is captured"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "the capture was invalidated by an earlier error"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_MERGE, "two captures would merge"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture did not begin in this stream"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "a forked stream was not joined before the capture ended"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "a dependency would cross the capture's border"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "an implicit dependency on the default stream during a capture"),
    ROW(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture"),
    ROW(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "the capture must end in the thread that began it"),
    ROW(CUDA_ERROR_TIMEOUT, "a wait ran out of time"),
    ROW(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graphs differ in more than parameters"),
    ROW(CUDA_ERROR_FUNCTION_NOT_LOADED, "the function has not been loaded"),
    ROW(CUDA_ERROR_UNKNOWN, "unknown error"),
};
#undef ROW

CUresult look_up(CUresult error, const char* ErrorText::*field, const char** out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = nullptr;
  for (const ErrorText& row : kErrors)
    if (row.result == error) *out = row.*field;
  return *out != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

extern "C" {

CUresult cuGetErrorName(CUresult error, const char** name) { return look_up(error, &ErrorText::name, name); }
CUresult cuGetErrorString(CUresult error, const char** text) { return look_up(error, &ErrorText::text, text); }

}  // extern "C"
}  // namespace ptx::cuda
