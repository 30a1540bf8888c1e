// Driver API functions that this emulator lacks, under their symbols' names.
#pragma once

namespace ptx::emulator::driver {

using EntryFunction = void (*)();

// A function that returns CUDA_ERROR_NOT_SUPPORTED for any arguments; null if the name is not listed.
EntryFunction find_not_emulated(const char* name);

}  // namespace ptx::emulator::driver
