// What CUDA_EMULATOR_* variables ask for. Each is read when a device starts; one that cannot be understood throws
// std::invalid_argument with a sentence.
#pragma once

#include <string>

#include "ptx/emulator/launch.h"
#include "ptx/emulator/profile.h"

namespace ptx::emulator::driver {

Profile profile_from_environment();  // CUDA_EMULATOR_DEVICE=sm_XX[,sms=N]

// CUDA_EMULATOR_CHECKS=all or a list of checks; CUDA_EMULATOR_SEED=N, N from 1: the order of turns, weak memory and the
// errors of approximations vary by it, the same for every launch.
LaunchOptions options_from_environment();

bool loads_drain_from_environment();  // CUDA_EMULATOR_LOADS_DRAIN=1; 0 and nothing: no

// Replaces the variable CUDA_EMULATOR_<name> of the environment: CHECKS, SEED or LOADS_DRAIN.
void set_option(const std::string& name, const std::string& value);

}  // namespace ptx::emulator::driver
