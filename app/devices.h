// The devices that this build can compute on.
#pragma once
#include <string>

namespace warpchat {

std::string processor_name();  // "AMD EPYC 9B14"

// One line a device, for --list-devices: "cpu   AMD EPYC ..., 2 cores, AVX-512".
std::string device_list();

// Error for a device that this build lacks, UsageError for a name that no build knows; empty: the default.
void require_known_device(const std::string& name);

}  // namespace warpchat
