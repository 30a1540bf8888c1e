// CUDA_EMULATOR_* variables. They are read when a device starts; an invalid one throws std::invalid_argument with a
// message.
#pragma once

#include <string>

#include "ptx/emulator/launch.h"
#include "ptx/emulator/profile.h"

namespace ptx::emulator::driver {

Profile profile_from_environment();  // CUDA_EMULATOR_DEVICE=sm_XX[,sms=N]

// CUDA_EMULATOR_CHECKS=all or a list of checks. CUDA_EMULATOR_SEED=N, N at least 1: varies schedules, weak memory and
// approximation errors, identically for every launch.
LaunchOptions options_from_environment();

bool loads_drain_from_environment();  // CUDA_EMULATOR_LOADS_DRAIN=1; 0 or unset: no

// Overrides the environment variable CUDA_EMULATOR_<name>: CHECKS, SEED or LOADS_DRAIN.
void set_option(const std::string& name, const std::string& value);

}  // namespace ptx::emulator::driver
