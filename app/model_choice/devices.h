// The devices of this machine.
#pragma once
#include <string>
#include <vector>

namespace warpchat {

std::string processor_name();  // "AMD EPYC 9B14"

struct DeviceLine {
  std::string name;  // as --device takes it: "cpu", "cuda:0", "emulator:sm_90"
  std::string text;  // "AMD EPYC 9B14, 2 cores, AVX-512"
  bool usable = true;
  bool operator==(const DeviceLine&) const = default;
};

// The CPU, each GPU, the emulator; a driver without a usable GPU has a line that says why.
std::vector<DeviceLine> list_devices();

// The same for --list-devices, a line each.
std::string device_list();

}  // namespace warpchat
