// Results of checks of a GPU, for its driver and this build of the program, kept in a file for the next start.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "engine/driver/gpu_device.h"
#include "engine/launch_mode.h"

namespace warpchat {

struct DeviceFacts {
  std::optional<std::string> check;  // result of check_device: empty if passed, else the fault; none: never checked
  std::map<LaunchMode, std::string> failed_modes;  // with reasons
};

class DeviceRecord {
 public:
  // path: the file; empty: nothing is stored. Invalid contents count as empty.
  DeviceRecord(std::string path, const GpuDevice& device);

  DeviceFacts read() const;
  // Replaces this device's facts. Returns false if the file cannot be written, which is harmless.
  bool write(const DeviceFacts& facts) const;
  void add_failed_mode(LaunchMode mode, const std::string& why) const;

 private:
  std::string path_, key_;
};

}  // namespace warpchat
