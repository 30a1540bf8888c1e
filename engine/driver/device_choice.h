// --device: turns "cpu", "cuda[:N]" or "emulator[:sm_XX]" into a device, or chooses the best one.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/driver/context.h"

namespace warpchat {

struct DeviceChoice {
  const DriverTable* table = nullptr;  // null: the CPU
  GpuDevice gpu;                       // if table is set
  std::string reason;                  // why the default is not the first GPU; else empty
  bool lacks_memory = false;           // chose the CPU, though a GPU with enough free memory would do
  ContextPointer open = nullptr;       // set if a default GPU was opened to read its memory: reopening it is cheap
};

// Whether the name has one of the three forms. Calls no driver.
bool is_device_name(std::string_view name);

// Empty: the first usable GPU with that many bytes free (without a need: the first usable one), else the CPU with the
// reason. Error for other names, and for a device that is missing or does not work. A named device is never replaced by
// another.
DeviceChoice choose_device(std::string_view name, uint64_t needed_bytes = 0);

// The default among a table's devices.
DeviceChoice choose_default(const DriverTable& table, uint64_t needed_bytes);

}  // namespace warpchat
