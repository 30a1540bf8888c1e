// Copies and sets: all become one piece of work with addresses and pitches. Ranges are checked before queuing.
#include <cstring>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

enum class Side { kDevice, kHost, kEither };

struct Pieces {
  Side to, from;
  bool is_async;
};

bool covers(Driver& d, Side side, uint64_t address, uint64_t bytes) {
  if (address == 0) return false;
  if (side == Side::kDevice) return is_device_range(d, address, bytes);
  if (side == Side::kEither && d.device->find(address).bytes > 0) return is_device_range(d, address, bytes);
  return true;  // the program's own memory
}

CopyWork line(uint64_t to, uint64_t from, uint64_t bytes) {
  CopyWork work{to, from, bytes, 1, 1, bytes, bytes, bytes, bytes, nullptr, {}};
  work.asked.WidthInBytes = bytes;
  work.asked.Height = work.asked.Depth = 1;
  work.asked.srcMemoryType = work.asked.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  work.asked.srcDevice = from;
  work.asked.dstDevice = to;
  return work;
}

CUresult run(Driver& d, std::unique_lock<std::mutex>& lock, Context& context, CUstream handle, Work work, bool async) {
  std::shared_ptr<Stream> stream = find_stream(context, handle);
  if (!stream) return CUDA_ERROR_INVALID_HANDLE;
  if (stream->is_legacy)
    if (CUresult refused = refuse_implicit_dependency(context); refused != CUDA_SUCCESS) return refused;
  if (!async)
    if (CUresult refused = refuse_while_capturing(d); refused != CUDA_SUCCESS) return refused;
  if (CUresult result = submit(d, *stream, std::move(work)); result != CUDA_SUCCESS) return result;
  if (async) return CUDA_SUCCESS;
  const std::shared_ptr<Completion> last = stream->last;
  return wait_for(d, lock, context, last);
}

// Asynchronous copies of pageable memory, as documented: a source is read, and a destination written, before the call
// returns.
bool stage_pageable(Driver& d, Context& context, CUstream handle, CopyWork& work) {
  std::shared_ptr<Stream> stream = find_stream(context, handle);
  if (!stream || stream->capture) return true;
  if (d.device->find(work.from).bytes == 0) {
    const std::byte* source = reinterpret_cast<const std::byte*>(work.from);
    work.staged = std::make_shared<std::vector<std::byte>>(source, source + work.width);
    work.from = reinterpret_cast<uint64_t>(work.staged->data());
  }
  return d.device->find(work.to).bytes > 0;
}

CUresult copy(uint64_t to, uint64_t from, size_t bytes, Pieces pieces, CUstream stream = nullptr) {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (bytes == 0) return CUDA_SUCCESS;
    if (!covers(d, pieces.to, to, bytes) || !covers(d, pieces.from, from, bytes)) return CUDA_ERROR_INVALID_VALUE;
    CopyWork work = line(to, from, bytes);
    const bool is_async = pieces.is_async && stage_pageable(d, context, stream, work);
    return run(d, lock, context, stream, std::move(work), is_async);
  });
}

// One side of a 2- or 3-dimensional copy: address of its first byte, and distance to its last.
CUresult place(Driver& d, CUmemorytype type, uint64_t host, uint64_t device, uint64_t x, uint64_t y, uint64_t z,
               uint64_t pitch, uint64_t slice, const CUDA_MEMCPY3D& c, uint64_t* address) {
  if (type == CU_MEMORYTYPE_ARRAY) return CUDA_ERROR_NOT_SUPPORTED;
  if (type < CU_MEMORYTYPE_HOST || type > CU_MEMORYTYPE_UNIFIED) return CUDA_ERROR_INVALID_VALUE;
  const uint64_t start = (type == CU_MEMORYTYPE_HOST ? host : device) + z * slice + y * pitch + x;
  const uint64_t reach = (c.Depth - 1) * slice + (c.Height - 1) * pitch + c.WidthInBytes;
  const Side side = type == CU_MEMORYTYPE_HOST     ? Side::kHost
                    : type == CU_MEMORYTYPE_DEVICE ? Side::kDevice
                                                   : Side::kEither;
  if (!covers(d, side, start, reach)) return CUDA_ERROR_INVALID_VALUE;
  *address = start;
  return CUDA_SUCCESS;
}

uint64_t address_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

CUresult make_copy(Driver& d, const CUDA_MEMCPY3D& c, CopyWork* work) {
  *work = {};
  work->asked = c;
  if (c.WidthInBytes == 0 || c.Height == 0 || c.Depth == 0) return CUDA_SUCCESS;  // an empty box
  work->width = c.WidthInBytes;
  work->height = c.Height;
  work->depth = c.Depth;
  work->from_pitch = c.srcPitch ? c.srcPitch : c.WidthInBytes;
  work->to_pitch = c.dstPitch ? c.dstPitch : c.WidthInBytes;
  if (work->from_pitch < c.WidthInBytes || work->to_pitch < c.WidthInBytes) return CUDA_ERROR_INVALID_VALUE;
  work->from_slice = work->from_pitch * (c.srcHeight ? c.srcHeight : c.Height);
  work->to_slice = work->to_pitch * (c.dstHeight ? c.dstHeight : c.Height);
  if (CUresult result = place(d, c.srcMemoryType, address_of(c.srcHost), c.srcDevice, c.srcXInBytes, c.srcY, c.srcZ,
                              work->from_pitch, work->from_slice, c, &work->from);
      result != CUDA_SUCCESS)
    return result;
  return place(d, c.dstMemoryType, address_of(c.dstHost), c.dstDevice, c.dstXInBytes, c.dstY, c.dstZ, work->to_pitch,
               work->to_slice, c, &work->to);
}

CUresult check_set(Driver& d, const CUDA_MEMSET_NODE_PARAMS& p) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return CUDA_ERROR_INVALID_VALUE;
  if (p.dst % p.elementSize != 0 || (p.height > 1 && p.pitch % p.elementSize != 0)) return CUDA_ERROR_INVALID_VALUE;
  if (p.width == 0 || p.height == 0) return CUDA_SUCCESS;
  const uint64_t row = p.width * p.elementSize;
  if (p.width > UINT64_MAX / 4 || (p.height > 1 && p.pitch < row)) return CUDA_ERROR_INVALID_VALUE;
  return is_device_range(d, p.dst, (p.height - 1) * p.pitch + row) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

namespace {

CUresult set(CUDA_MEMSET_NODE_PARAMS params, bool async, CUstream stream = nullptr) {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (CUresult result = check_set(d, params); result != CUDA_SUCCESS) return result;
    return run(d, lock, context, stream, SetWork{params}, async);
  });
}

CUresult copy_box(const CUDA_MEMCPY3D* c, bool async, CUstream stream = nullptr) {
  return in_context([&](Driver& d, Context& context, std::unique_lock<std::mutex>& lock) -> CUresult {
    if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CopyWork work;
    if (CUresult result = make_copy(d, *c, &work); result != CUDA_SUCCESS) return result;
    return run(d, lock, context, stream, std::move(work), async);
  });
}

CUDA_MEMCPY3D deepen(const CUDA_MEMCPY2D& c) {
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = c.srcXInBytes;
  box.srcY = c.srcY;
  box.srcMemoryType = c.srcMemoryType;
  box.srcHost = c.srcHost;
  box.srcDevice = c.srcDevice;
  box.srcPitch = c.srcPitch;
  box.dstXInBytes = c.dstXInBytes;
  box.dstY = c.dstY;
  box.dstMemoryType = c.dstMemoryType;
  box.dstHost = c.dstHost;
  box.dstDevice = c.dstDevice;
  box.dstPitch = c.dstPitch;
  box.WidthInBytes = c.WidthInBytes;
  box.Height = c.Height;
  box.Depth = 1;
  return box;
}

CUresult copy_plane(const CUDA_MEMCPY2D* c, bool async, CUstream stream = nullptr) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUDA_MEMCPY3D box = deepen(*c);
  return copy_box(&box, async, stream);
}

constexpr Pieces kToDevice{Side::kDevice, Side::kHost, false}, kToHost{Side::kHost, Side::kDevice, false},
    kWithin{Side::kDevice, Side::kDevice, false}, kAny{Side::kEither, Side::kEither, false};

constexpr Pieces async(Pieces pieces) { return {pieces.to, pieces.from, true}; }

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n) { return copy(to, from, n, kAny); }
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t n) {
  return copy(to, address_of(from), n, kToDevice);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t n) { return copy(address_of(to), from, n, kToHost); }
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t n) { return copy(to, from, n, kWithin); }
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  return copy(to, from, n, async(kAny), s);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t n, CUstream s) {
  return copy(to, address_of(from), n, async(kToDevice), s);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t n, CUstream s) {
  return copy(address_of(to), from, n, async(kToHost), s);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t n, CUstream s) {
  return copy(to, from, n, async(kWithin), s);
}
CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* c) { return copy_plane(c, false); }
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* c) { return copy_plane(c, false); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* c, CUstream s) { return copy_plane(c, true, s); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* c) { return copy_box(c, false); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* c, CUstream s) { return copy_box(c, true, s); }

CUresult cuMemsetD8_v2(CUdeviceptr p, unsigned char v, size_t n) { return set({p, 0, v, 1, n, 1}, false); }
CUresult cuMemsetD16_v2(CUdeviceptr p, unsigned short v, size_t n) { return set({p, 0, v, 2, n, 1}, false); }
CUresult cuMemsetD32_v2(CUdeviceptr p, unsigned v, size_t n) { return set({p, 0, v, 4, n, 1}, false); }
CUresult cuMemsetD8Async(CUdeviceptr p, unsigned char v, size_t n, CUstream s) {
  return set({p, 0, v, 1, n, 1}, true, s);
}
CUresult cuMemsetD16Async(CUdeviceptr p, unsigned short v, size_t n, CUstream s) {
  return set({p, 0, v, 2, n, 1}, true, s);
}
CUresult cuMemsetD32Async(CUdeviceptr p, unsigned v, size_t n, CUstream s) { return set({p, 0, v, 4, n, 1}, true, s); }
CUresult cuMemsetD2D8_v2(CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h) {
  return set({p, pitch, v, 1, w, h}, false);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h) {
  return set({p, pitch, v, 2, w, h}, false);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h) {
  return set({p, pitch, v, 4, w, h}, false);
}
CUresult cuMemsetD2D8Async(CUdeviceptr p, size_t pitch, unsigned char v, size_t w, size_t h, CUstream s) {
  return set({p, pitch, v, 1, w, h}, true, s);
}
CUresult cuMemsetD2D16Async(CUdeviceptr p, size_t pitch, unsigned short v, size_t w, size_t h, CUstream s) {
  return set({p, pitch, v, 2, w, h}, true, s);
}
CUresult cuMemsetD2D32Async(CUdeviceptr p, size_t pitch, unsigned v, size_t w, size_t h, CUstream s) {
  return set({p, pitch, v, 4, w, h}, true, s);
}

}  // extern "C"
}  // namespace ptx::cuda
