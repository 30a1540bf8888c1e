// Queries the driver for its devices.
#include "engine/driver/gpu_device.h"

#include <cstdio>
#include <fstream>

#include "engine/driver/device_watch.h"
#include "engine/driver/driver_error.h"
#include "engine/driver/emulator_library.h"
#include "ptx/error.h"

namespace warpchat {

using namespace ptx::cuda;

namespace {

void read_device(const DriverTable& table, GpuDevice& device) {
  const std::string what = "asking about GPU " + std::to_string(device.index);
  CUdevice handle = 0;
  check(table, table.cuDeviceGet(&handle, device.index), "cuDeviceGet", what);
  char name[256] = {};
  check(table, table.cuDeviceGetName(name, sizeof name, handle), "cuDeviceGetName", what);
  device.name = name;
  size_t bytes = 0;
  check(table, table.cuDeviceTotalMem(&bytes, handle), "cuDeviceTotalMem", what);
  device.memory_bytes = bytes;
  const auto attribute = [&](CUdevice_attribute number) {
    int value = 0;
    check(table, table.cuDeviceGetAttribute(&value, number, handle), "cuDeviceGetAttribute", what);
    return value;
  };
  const auto optional = [&](CUdevice_attribute number) {  // newer drivers drop attributes that newer GPUs lack
    int value = 0;
    return table.cuDeviceGetAttribute(&value, number, handle) == CUDA_SUCCESS ? value : 0;
  };
  device.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  device.minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  device.n_sms = static_cast<uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  device.l2_bytes = static_cast<uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
  device.shared_bytes_optin = static_cast<uint32_t>(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  device.has_watchdog = attribute(CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT) != 0;
  device.can_cooperate = attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) != 0;
  // Two transfers per clock; the clock is in kHz, the width in bits.
  char bus[32];
  std::snprintf(bus, sizeof bus, "%04x:%02x:%02x", optional(CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
                optional(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), optional(CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID));
  device.bus = bus;
  device.peak_bandwidth =
      2e3 * optional(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) * optional(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
}

std::string cuda_version(int number) {
  return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string driver_version(int cuda) {
  std::ifstream file("/sys/module/nvidia/version");
  std::string version;
  return file >> version ? version : "of CUDA " + cuda_version(cuda);
}

}  // namespace

ptx::Target GpuDevice::target() const {
  if (!fault.empty()) throw Error(fault);
  try {
    return ptx::target_of_capability(major, minor);
  } catch (const ptx::Error&) {
    throw ErrorWithRemedy("GPU " + std::to_string(index) + " (" + name + ") has compute capability " +
                              std::to_string(major) + "." + std::to_string(minor) +
                              "; the kernels need 7.5 (Turing) or newer",
                          Remedy::Kind::kUseCpu);
  }
}

std::vector<GpuDevice> list_gpus(const DriverTable& table) {
  static const std::shared_ptr<DeviceWatch>& watch = *new auto(DeviceWatch::make(DeviceBounds::of_device(false)));
  const WatchedCall starting(watch, DeviceBound::kLoad);
  check(table, table.cuInit(0), "cuInit", "starting the NVIDIA driver");
  int version = 0;
  check(table, table.cuDriverGetVersion(&version), "cuDriverGetVersion", "starting the NVIDIA driver");
  if (version < kOldestDriverVersion)
    throw ErrorWithRemedy("the NVIDIA driver is too old: it has CUDA " + cuda_version(version) + ", needed is " +
                              cuda_version(kOldestDriverVersion) + "; update it",
                          Remedy::Kind::kUseCpu);
  int n = 0;
  check(table, table.cuDeviceGetCount(&n), "cuDeviceGetCount", "starting the NVIDIA driver");
  std::vector<GpuDevice> devices;
  for (int i = 0; i < n; ++i) {
    GpuDevice& device = devices.emplace_back();
    device.index = i;
    device.is_emulated = is_emulator_table(table);
    device.driver = driver_version(version);
    try {
      read_device(table, device);
    } catch (const DriverError& error) {
      device.fault = error.what();
    }
  }
  return devices;
}

}  // namespace warpchat
