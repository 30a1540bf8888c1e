// chat check-device: runs a small model in every launch mode on a GPU and stores the result.
#include <cstdio>

#include "app/commands/commands.h"
#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/spinner.h"
#include "engine/driver/device_choice.h"
#include "engine/gpu/device_record.h"
#include "engine/session/device_check.h"

namespace warpchat {

namespace {

DeviceChoice device_to_check(const std::string& name) {
  if (name == "cpu") throw UsageError("the CPU needs no check: it is the reference for GPUs; use --device cuda");
  DeviceChoice device = choose_device(name);
  if (device.table == nullptr) throw Error("no GPU to check: " + device.reason);
  return device;
}

std::string table_of(const DeviceCheck& check) {
  std::string table;
  char line[160];
  std::snprintf(line, sizeof line, "%-12s%-22s%-22s%s\n", "mode", "compared with", "largest difference", "verdict");
  table += line;
  for (const DeviceCheck::Row& row : check.rows) {
    char number[32] = "-";
    if (row.difference) std::snprintf(number, sizeof number, "%.1e", *row.difference);
    std::snprintf(line, sizeof line, "%-12s%-22s%-22s", row.mode.c_str(), row.against.c_str(), number);
    table += line + (row.fault.empty() ? "passed" : "failed: " + row.fault) + "\n";
  }
  return table;
}

}  // namespace

int run_command(const CheckDeviceOptions& options) {
  const DeviceChoice device = device_to_check(options.device);
  const DeviceCheck check = [&] {
    const Spinner spinner("checking " + device.gpu.name);
    return check_device(device);
  }();
  const DeviceRecord record(device_record_file(), device.gpu);
  const bool is_kept = record.write({check.fault(), {}});
  write_output(device.gpu.name + ", driver " + device.gpu.driver + "\n" + table_of(check));
  if (!is_kept) print_error("cannot write the result to " + device_record_file());
  return check.fault().empty() ? 0 : 1;
}

}  // namespace warpchat
