// Devices beside the one that CUDA_EMULATOR_DEVICE describes, for a program that is linked with the emulator.
#pragma once
#include <string_view>

namespace ptx::emulator::driver {

// The ordinal of the device of that profile ("sm_80", "sm_90,sms=2"), which is made if there is none yet; it stays.
// Starts the driver. std::invalid_argument with a sentence for what is no profile.
int emulated_device(std::string_view profile);

}  // namespace ptx::emulator::driver
