// The Driver API's functions that this emulator does not have, under their symbols' names.
#pragma once

namespace ptx::emulator::driver {

using EntryFunction = void (*)();

// A function that returns CUDA_ERROR_NOT_SUPPORTED whatever its arguments; null if the name is not one of them.
EntryFunction find_not_emulated(const char* name);

}  // namespace ptx::emulator::driver
