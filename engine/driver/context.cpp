// RAII wrappers for contexts, memory, events and streams.
#include "engine/driver/context.h"

#include <map>
#include <utility>
#include <vector>

#include "models/text_format.h"

namespace warpchat {

using namespace ptx::cuda;

namespace {

// Returns the shared state of a device; a lost device's watch keeps it alive.
std::shared_ptr<SharedDevice> shared_device(const DriverTable& table, const GpuDevice& device) {
  static std::mutex mutex;
  static auto& devices = *new std::map<std::pair<const DriverTable*, int>, std::weak_ptr<SharedDevice>>;
  const std::lock_guard lock(mutex);
  std::weak_ptr<SharedDevice>& known = devices[{&table, device.index}];
  std::shared_ptr<SharedDevice> shared = known.lock();
  if (!shared) {
    shared = std::make_shared<SharedDevice>(DeviceBounds::of_device(device.is_emulated));
    // A lost device stays lost.
    shared->watch->add_listener([kept = std::weak_ptr(shared)](const std::string&) {
      static std::vector<std::shared_ptr<SharedDevice>>& lost = *new std::vector<std::shared_ptr<SharedDevice>>;
      if (auto found = kept.lock()) lost.push_back(std::move(found));
    });
    known = shared;
  }
  return shared;
}

}  // namespace

// Waiting at the gate precedes the watched call.
DriverCall::DriverCall(const DriverTable& table, SharedDevice& device, DeviceBound bound)
    : table_(table),
      load_(bound == DeviceBound::kLoad ? std::optional<DeviceGate::Load>(std::in_place, device.gate)
                                        : std::optional<DeviceGate::Load>()),
      watched_(device.watch, bound) {}

Context::Context(const DriverTable& table, const GpuDevice& device)
    : table_(table), device_(device), shared_(shared_device(table, device)) {}

std::shared_ptr<DeviceWatch> Context::watch_of(const DriverTable& table, const GpuDevice& device) {
  const std::shared_ptr<SharedDevice> shared = shared_device(table, device);
  return {shared, shared->watch.get()};  // opening another context must find the same watch
}

std::shared_ptr<Context> Context::open(const DriverTable& table, const GpuDevice& device) {
  std::shared_ptr<Context> context(new Context(table, device));
  const std::string what = "opening GPU " + std::to_string(device.index) + " (" + device.name + ")";
  const WatchedCall opening(context->shared_->watch, DeviceBound::kLoad);
  context->check(table.cuDeviceGet(&context->handle_, device.index), "cuDeviceGet", what);
  context->check(table.cuDevicePrimaryCtxRetain(&context->context_, context->handle_), "cuDevicePrimaryCtxRetain",
                 what);
  context->make_current();
  return context;
}

Context::~Context() {
  if (context_ != nullptr) release(DeviceBound::kLoad, &DriverTable::cuDevicePrimaryCtxRelease, handle_);
}

void Context::make_current() const { check(call()->cuCtxSetCurrent(context_), "cuCtxSetCurrent", "using the GPU"); }

void Context::synchronise() const { check(call()->cuCtxSynchronize(), "cuCtxSynchronize", "waiting for the GPU"); }

Context::MemoryInfo Context::memory() const {
  size_t free_bytes = 0, total = 0;
  check(load_call()->cuMemGetInfo(&free_bytes, &total), "cuMemGetInfo", "asking for the GPU's free memory");
  const std::lock_guard lock(shared_->mutex);
  shared_->free_bytes = free_bytes;
  return {free_bytes, total};
}

uint64_t Context::free_bytes_without_load() const {
  if (!gate().has_long_launch()) return memory().free_bytes;
  const std::lock_guard lock(shared_->mutex);
  return shared_->free_bytes;
}

DeviceMemory::DeviceMemory(ContextPointer context, uint64_t bytes, std::string_view purpose)
    : context_(std::move(context)), bytes_(bytes) {
  if (bytes == 0) return;
  CUdeviceptr address = 0;
  const CUresult code = context_->load_call()->cuMemAlloc(&address, bytes);
  if (code != CUDA_SUCCESS)
    context_->check(code, "cuMemAlloc",
                    "allocating " + grouped(bytes) + " bytes of GPU memory for " + std::string(purpose));
  address_ = address;
}

DeviceMemory::~DeviceMemory() {
  if (address_ == 0) return;
  context_->release(DeviceBound::kLoad, &DriverTable::cuMemFree, address_);
}

void DeviceMemory::swap(DeviceMemory& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(address_, other.address_);
  std::swap(bytes_, other.bytes_);
}

HostMemory::HostMemory(ContextPointer context, uint64_t bytes, std::string_view purpose)
    : context_(std::move(context)), bytes_(bytes) {
  if (bytes == 0) return;
  const CUresult code =
      context_->load_call()->cuMemHostAlloc(&data_, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (code != CUDA_SUCCESS)
    context_->check(code, "cuMemHostAlloc",
                    "allocating " + grouped(bytes) + " bytes of pinned memory for " + std::string(purpose));
}

HostMemory::~HostMemory() {
  if (data_ != nullptr) context_->release(DeviceBound::kLoad, &DriverTable::cuMemFreeHost, data_);
}

uint64_t HostMemory::device_address() const {
  CUdeviceptr address = 0;
  context_->check(context_->call()->cuMemHostGetDevicePointer(&address, data_, 0), "cuMemHostGetDevicePointer",
                  "mapping pinned memory");
  return address;
}

void HostMemory::swap(HostMemory& other) noexcept {
  std::swap(context_, other.context_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
}

GpuEvent::GpuEvent(ContextPointer context, Timing timing) : context_(std::move(context)) {
  const unsigned flags = timing == Timing::kOn ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING;
  context_->check(context_->call()->cuEventCreate(&event_, flags), "cuEventCreate", "preparing the GPU");
}

GpuEvent::~GpuEvent() {
  if (event_ != nullptr) context_->release(DeviceBound::kPass, &DriverTable::cuEventDestroy, event_);
}

void GpuEvent::wait() const {
  context_->check(context_->call()->cuEventSynchronize(event_), "cuEventSynchronize", "waiting for the GPU");
}

bool GpuEvent::has_come() const {
  const CUresult code = context_->call()->cuEventQuery(event_);
  if (code == CUDA_ERROR_NOT_READY) return false;
  context_->check(code, "cuEventQuery", "asking the GPU");
  return true;
}

double GpuEvent::seconds_since(const GpuEvent& earlier) const {
  float milliseconds = 0;
  context_->check(context_->call()->cuEventElapsedTime(&milliseconds, earlier.event_, event_), "cuEventElapsedTime",
                  "measuring a kernel");
  return milliseconds * 1e-3;
}

Stream::Stream(ContextPointer context) : context_(std::move(context)) {
  context_->check(context_->load_call()->cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING), "cuStreamCreate",
                  "preparing the GPU");
}

Stream::~Stream() {
  if (stream_ == nullptr) return;
  context_->release(DeviceBound::kPass, &DriverTable::cuStreamSynchronize,
                    stream_);  // pending work must not outlive its memory
  context_->release(DeviceBound::kLoad, &DriverTable::cuStreamDestroy, stream_);
}

void Stream::wait() const {
  context_->check(context_->call()->cuStreamSynchronize(stream_), "cuStreamSynchronize", "computing on the GPU");
}

void Stream::upload(uint64_t to, std::span<const std::byte> from) const {
  context_->check(context_->call()->cuMemcpyHtoDAsync(to, from.data(), from.size(), stream_), "cuMemcpyHtoDAsync",
                  "copying to the GPU");
}

void Stream::download(std::span<std::byte> to, uint64_t from) const {
  context_->check(context_->call()->cuMemcpyDtoHAsync(to.data(), from, to.size(), stream_), "cuMemcpyDtoHAsync",
                  "copying from the GPU");
}

void Stream::copy(uint64_t to, uint64_t from, uint64_t bytes) const {
  if (bytes == 0) return;
  context_->check(context_->call()->cuMemcpyDtoDAsync(to, from, bytes, stream_), "cuMemcpyDtoDAsync",
                  "copying within GPU memory");
}

void Stream::fill(uint64_t to, uint8_t value, uint64_t bytes) const {
  context_->check(context_->call()->cuMemsetD8Async(to, value, bytes, stream_), "cuMemsetD8Async",
                  "clearing GPU memory");
}

void Stream::record(const GpuEvent& event) const {
  context_->check(context_->call()->cuEventRecord(event.handle(), stream_), "cuEventRecord", "computing on the GPU");
}

void Stream::wait_for(const GpuEvent& event) const {
  context_->check(context_->call()->cuStreamWaitEvent(stream_, event.handle(), 0), "cuStreamWaitEvent",
                  "computing on the GPU");
}

}  // namespace warpchat
