// The devices of this machine.
#pragma once
#include <string>

namespace warpchat {

std::string processor_name();  // "AMD EPYC 9B14"

// One line a device, for --list-devices: "cpu       AMD EPYC ..., 2 cores, AVX-512"; a driver without a
// usable GPU has a line that says why.
std::string device_list();

// UsageError for a name of no known form; empty: the default.
void require_known_device(const std::string& name);

}  // namespace warpchat
