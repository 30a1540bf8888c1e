// --device: a name to a device, "cpu", "cuda[:N]", "emulator[:sm_XX]", or the best there is.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/driver/context.h"

namespace warpchat {

struct DeviceChoice {
  const DriverTable* table = nullptr;  // null: the CPU
  GpuDevice gpu;                       // where a table is
  std::string reason;                  // why the default is not the first GPU, in a few words; else empty
  bool lacks_memory = false;           // it is the CPU, though a GPU would do that had enough free
  ContextPointer open = nullptr;       // of a default GPU that was asked for its memory: a second opening is cheap
};

// Whether a name is of the three forms, without asking any driver.
bool is_device_name(std::string_view name);

// Empty: the first usable GPU that has so many bytes free, else the CPU, with the reason; without a need, the first
// usable one. Error for a name of another form, and for a device that is not there or does not work: a named device is
// never replaced by another.
DeviceChoice choose_device(std::string_view name, uint64_t needed_bytes = 0);

// The default among the devices of a table.
DeviceChoice choose_default(const DriverTable& table, uint64_t needed_bytes);

}  // namespace warpchat
