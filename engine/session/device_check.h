// Whether a GPU computes what it should: a small model through every way of launching, against each other to the bit
// and against the CPU.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "engine/driver/device_choice.h"

namespace warpchat {

struct DeviceCheck {
  struct Row {
    std::string mode;                  // "stream", "prefill", "graph", "persistent"
    std::string against;               // what it is compared with
    std::optional<double> difference;  // largest of all tokens: norm of the difference by the norm; none: not computed
    std::string fault;                 // empty: it passed
  };
  std::vector<Row> rows;
  std::string fault() const;  // of the first row that has one, with its mode; empty: all passed
};

// Takes seconds, most of them compiling. Never throws for what the device does: a row says so. device: with a table.
DeviceCheck check_device(const DeviceChoice& device);

}  // namespace warpchat
