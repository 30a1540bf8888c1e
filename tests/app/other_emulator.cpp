// A libcuda_emulator.so with an interface version that no program expects.
#include <cstdint>

extern "C" uint64_t cuda_emulator_interface() { return 1; }
