// A device's primary context and its resources: memory, modules, streams and events. Every object keeps its context
// alive, frees itself, and works on any thread where the context is current.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "engine/driver/device_gate.h"
#include "engine/driver/device_watch.h"
#include "engine/driver/driver_error.h"
#include "engine/driver/gpu_device.h"

namespace warpchat {

// State shared by all contexts of a device.
struct SharedDevice {
  explicit SharedDevice(DeviceBounds bounds) : watch(DeviceWatch::make(bounds)), gate(watch) {}
  const std::shared_ptr<DeviceWatch> watch;
  DeviceGate gate;
  std::mutex mutex;
  uint64_t free_bytes = 0;  // latest answer of the driver
};

// Access to the driver's functions within one expression, watched: context->call()->cuEventRecord(...).
class DriverCall {
 public:
  DriverCall(const DriverTable& table, SharedDevice& device, DeviceBound bound);
  const DriverTable* operator->() const { return &table_; }

 private:
  const DriverTable& table_;
  std::optional<DeviceGate::Load> load_;  // for DeviceBound::kLoad
  WatchedCall watched_;
};

class Context : public std::enable_shared_from_this<Context> {
 public:
  // The device's primary context, made current on this thread.
  static std::shared_ptr<Context> open(const DriverTable& table, const GpuDevice& device);
  ~Context();
  Context(const Context&) = delete;
  static std::shared_ptr<DeviceWatch> watch_of(const DriverTable& table,
                                               const GpuDevice& device);  // for use before a context is open

  void make_current() const;  // cheap; required on every thread before it uses the context
  void synchronise() const;   // waits for all work in the context
  struct MemoryInfo {
    uint64_t free_bytes, total_bytes;
  };
  MemoryInfo memory() const;                 // counts as a load
  uint64_t free_bytes_without_load() const;  // during a long launch, the latest known value

  // Both throw DeviceLost if the device is lost. load_call goes through the gate: for calls that a driver may hold
  // until the device is idle (modules, allocations, streams, instantiated graphs).
  DriverCall call() const { return {table_, *shared_, DeviceBound::kPass}; }
  DriverCall load_call() const { return {table_, *shared_, DeviceBound::kLoad}; }
  // For destructors. Resources of a lost device are leaked.
  template <class Function, class... Arguments>
  void release(DeviceBound bound, Function DriverTable::*function, Arguments... arguments) const noexcept {
    try {
      const DriverCall call(table_, *shared_, bound);
      (call.operator->()->*function)(arguments...);
    } catch (...) {  // must not leave a destructor
    }
  }
  DeviceGate& gate() const { return shared_->gate; }
  const std::shared_ptr<DeviceWatch>& watch() const { return shared_->watch; }
  const GpuDevice& device() const { return device_; }
  void check(ptx::cuda::CUresult code, std::string_view call, std::string_view what) const {
    warpchat::check(table_, code, call, what);
  }

 private:
  Context(const DriverTable& table, const GpuDevice& device);
  const DriverTable& table_;
  GpuDevice device_;
  std::shared_ptr<SharedDevice> shared_;
  ptx::cuda::CUdevice handle_ = 0;
  ptx::cuda::CUcontext context_ = nullptr;
};
using ContextPointer = std::shared_ptr<Context>;

// A range of device memory. Its address is an integer: only kernels and copies access the contents.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(ContextPointer context, uint64_t bytes, std::string_view purpose);
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory();

  uint64_t address() const { return address_; }
  uint64_t n_bytes() const { return bytes_; }

 private:
  void swap(DeviceMemory& other) noexcept;
  ContextPointer context_;
  uint64_t address_ = 0, bytes_ = 0;
};

// Page-locked host memory, with direct copies, and with a device address for kernels.
class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(ContextPointer context, uint64_t bytes, std::string_view purpose);
  HostMemory(HostMemory&& other) noexcept { swap(other); }
  HostMemory& operator=(HostMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~HostMemory();

  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), bytes_}; }
  uint64_t device_address() const;
  template <class T>
  std::span<T> as() const {
    return {static_cast<T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  void swap(HostMemory& other) noexcept;
  ContextPointer context_;
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
};

class GpuEvent {
 public:
  enum class Timing : bool { kOff, kOn };
  explicit GpuEvent(ContextPointer context, Timing timing = Timing::kOff);
  GpuEvent(GpuEvent&& other) noexcept
      : context_(std::move(other.context_)), event_(std::exchange(other.event_, nullptr)) {}
  GpuEvent& operator=(GpuEvent&&) = delete;
  ~GpuEvent();

  void wait() const;      // blocks the host until the recorded work is done; returns at once if never recorded
  bool has_come() const;  // does not wait
  double seconds_since(const GpuEvent& earlier) const;  // both recorded with timing and completed
  ptx::cuda::CUevent handle() const { return event_; }

 private:
  ContextPointer context_;
  ptx::cuda::CUevent event_ = nullptr;
};

// An ordered queue. Copies and launches are asynchronous; pinned memory must stay valid until they are done.
class Stream {
 public:
  explicit Stream(ContextPointer context);
  Stream(const Stream&) = delete;
  ~Stream();

  void wait() const;  // blocks the host until all work is done; reports errors of kernels
  void upload(uint64_t to, std::span<const std::byte> from) const;
  void download(std::span<std::byte> to, uint64_t from) const;
  void copy(uint64_t to, uint64_t from, uint64_t bytes) const;  // within the device
  void fill(uint64_t to, uint8_t value, uint64_t bytes) const;
  void record(const GpuEvent& event) const;
  void wait_for(const GpuEvent& event) const;
  ptx::cuda::CUstream handle() const { return stream_; }
  const ContextPointer& context() const { return context_; }

 private:
  ContextPointer context_;
  ptx::cuda::CUstream stream_ = nullptr;
};

}  // namespace warpchat
