// --device: a name to a device, "cpu", "cuda[:N]", "emulator[:sm_XX]", or the best there is.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/driver/gpu_device.h"

namespace warpchat {

struct DeviceChoice {
  const DriverTable* table = nullptr;  // null: the CPU
  GpuDevice gpu;                       // where a table is
  std::string reason;                  // why the CPU is the default, in a few words; else empty
};

// Whether a name is of the three forms, without asking any driver.
bool is_device_name(std::string_view name);

// Empty: the first usable GPU, else the CPU, with the reason. Error for a name of another form, and for a device that
// is not there or does not work: a named device is never replaced by another.
DeviceChoice choose_device(std::string_view name);

}  // namespace warpchat
