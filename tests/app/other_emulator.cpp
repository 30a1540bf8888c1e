// A libcuda_emulator.so of an interface that no program was compiled with.
#include <cstdint>

extern "C" uint64_t cuda_emulator_interface() { return 1; }
