// Devices of a driver table: their properties, and the newest target whose kernels they run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/driver/driver_table.h"
#include "ptx/target.h"

namespace warpchat {

struct GpuDevice {
  int index = 0;  // the driver's index
  std::string name;
  std::string bus;            // PCI address: "0000:01:00"
  std::string driver;         // driver version "580.65.06", or CUDA's version if unknown
  int major = 0, minor = 0;   // compute capability
  uint64_t memory_bytes = 0;  // total
  uint32_t n_sms = 0;
  uint64_t l2_bytes = 0;
  uint32_t shared_bytes_optin = 0;  // per block, with opt-in
  double peak_bandwidth = 0;        // bytes per second from clock and bus width; 0: unknown
  bool has_watchdog = false;        // kernels that run for seconds are killed
  bool can_cooperate = false;       // supports cooperative launches
  bool is_emulated = false;
  std::string fault;  // why properties could not be read; else empty

  ptx::Target target() const;  // Error for a GPU older than sm_75, or with a fault
};

constexpr int kOldestDriverVersion = 12000;  // CUDA 12.0

// Initialises the driver if necessary, and lists its devices. A device that cannot be queried does not hide others.
// DriverError or Error for no device, no permission, or a driver that is too old.
std::vector<GpuDevice> list_gpus(const DriverTable& table);

}  // namespace warpchat
