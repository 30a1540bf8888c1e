// The devices behind a driver table: what they are, and the highest target whose kernels they run.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "engine/driver/driver_table.h"
#include "ptx/target.h"

namespace warpchat {

struct GpuDevice {
  int index = 0;  // of the driver
  std::string name;
  std::string bus;            // "0000:01:00": where it is plugged in
  std::string driver;         // its driver's version: "580.65.06", or CUDA's where the system does not say
  int major = 0, minor = 0;   // compute capability
  uint64_t memory_bytes = 0;  // all of it, used or not
  uint32_t n_sms = 0;
  uint64_t l2_bytes = 0;
  uint32_t shared_bytes_optin = 0;  // of one block, with the opt-in
  double peak_bandwidth = 0;        // bytes per second by clock and bus width; 0 where the driver does not say
  bool has_watchdog = false;        // kernels that run for seconds are ended
  bool can_cooperate = false;       // cooperative launches
  bool is_emulated = false;
  std::string fault;  // why the driver could not tell all of this; empty: it could

  ptx::Target target() const;  // Error for a GPU older than sm_75, and for one with a fault
};

constexpr int kOldestDriverVersion = 12000;  // CUDA 12.0

// Starts the driver if it does not run yet, and asks for its devices; one that cannot be asked does not hide the
// others. DriverError or Error: no device, no permission, a driver too old, each in its own sentence.
std::vector<GpuDevice> list_gpus(const DriverTable& table);

}  // namespace warpchat
