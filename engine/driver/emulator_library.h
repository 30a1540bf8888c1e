// The emulator, libcuda_emulator.so: replaces libcuda for kernel developers without a GPU. It is built separately
// (ninja cuda_emulator), and opened when its device is named. Besides the Driver API's table (emulator_table() in
// driver_table.h) it has its own functions.
// Location: the file $WARPCHAT_EMULATOR; else the program's folder, then lib/warpchat next to that folder. All
// functions but the first two throw Error if it is missing or its interface version differs.
#pragma once
#include <string>
#include <vector>

#include "engine/driver/driver_table.h"
#include "engine/profile.h"

namespace warpchat {

// Empty if a library exists; else a message with searched locations and build instructions. Opens nothing.
std::string why_no_emulator();
bool is_emulator_table(const DriverTable& table);  // opens nothing

// The ordinal of the device with this profile ("sm_80", "sm_90,sms=2"). Error for an invalid profile.
int emulated_device(const std::string& profile);

// Turns counting of later launches on or off. Counting slows them down.
void count_emulated_launches(bool on);

struct CountedKernel {
  std::string name;
  KernelCounters counters;  // summed over its launches
};

// Launches completed by waits for their streams since the last call.
std::vector<CountedKernel> take_emulated_counters();

}  // namespace warpchat
