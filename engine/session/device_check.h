// Checks that a GPU computes correctly: runs a small model in every launch mode, and compares modes to the bit and with
// the CPU.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/driver/device_choice.h"

namespace warpchat {

struct DeviceCheck {
  struct Row {
    std::string mode;                  // "stream", "prefill", "graph", "persistent"
    std::string against;               // the reference
    std::optional<double> difference;  // maximum over tokens: norm of the difference over the norm; none: not computed
    std::string fault;                 // empty: passed
  };
  std::vector<Row> rows;
  std::string fault() const;  // first fault, with its mode; empty: all passed
};

// Takes seconds, mostly for compilation. Faults of the device become rows, not exceptions. device: must have a table.
DeviceCheck check_device(const DeviceChoice& device);

}  // namespace warpchat
