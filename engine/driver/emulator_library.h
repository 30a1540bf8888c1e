// The emulator: libcuda_emulator.so, which takes libcuda's place for those who write kernels and have no GPU. It is no
// part of the program: it is built by itself (ninja cuda_emulator) and opened when a device of it is named. Beside the
// Driver API's table (emulator_table() in driver_table.h) it has functions of its own.
//
// It is looked for in $WARPCHAT_EMULATOR (a file); without that in the program's folder, then in lib/warpchat beside
// that folder. Every function but the first two throws Error where it is missing or of another interface version.
#pragma once
#include <string>
#include <vector>

#include "engine/driver/driver_table.h"
#include "engine/profile.h"

namespace warpchat {

// Empty if there is a library; else a sentence that says where it was looked for and how to build it. Opens nothing.
std::string why_no_emulator();
bool is_emulator_table(const DriverTable& table);  // opens nothing, either

// Returns the ordinal of the device with this profile ("sm_80", "sm_90,sms=2"). Error for a text that is no profile.
int emulated_device(const std::string& profile);

// Counts the launches that begin after the call, or does not; counting makes them slower.
void count_emulated_launches(bool on);

struct CountedKernel {
  std::string name;
  KernelCounters counters;  // summed over its launches
};

// The launches that a wait for their stream has ended since the last call.
std::vector<CountedKernel> take_emulated_counters();

}  // namespace warpchat
