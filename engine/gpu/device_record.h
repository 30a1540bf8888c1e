// What has been found out about a GPU, with its driver and this build of the program: a file, so that the next start
// knows it.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "engine/driver/gpu_device.h"
#include "engine/launch_mode.h"

namespace warpchat {

struct DeviceFacts {
  std::optional<std::string> check;  // of check_device: empty if it passed, else the fault; none: never checked
  std::map<LaunchMode, std::string> failed_modes;  // why
};

class DeviceRecord {
 public:
  // path: of the file; empty: nothing is remembered. Whatever else lies there counts as nothing.
  DeviceRecord(std::string path, const GpuDevice& device);

  DeviceFacts read() const;
  // In place of all that was known. An error of the file is no reason to stop: false.
  bool write(const DeviceFacts& facts) const;
  void add_failed_mode(LaunchMode mode, const std::string& why) const;

 private:
  std::string path_, key_;
};

}  // namespace warpchat
