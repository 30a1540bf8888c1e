// What libcuda_emulator.so exports beside the Driver API: C functions for a program that opens it as it opens libcuda.
// Such a program calls cuda_emulator_interface() first, and nothing else where the result is not its own
// CUDA_EMULATOR_INTERFACE: both come from a hash of this file, which the build computes.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t cuda_emulator_interface(void);

// Has the effect of the environment's variable CUDA_EMULATOR_<name> (CHECKS, SEED, LOADS_DRAIN), on devices that start
// after the call. Returns 0, or -1 with a sentence in error, which is cut where error_bytes end.
int cuda_emulator_set_option(const char* name, const char* value, char* error, size_t error_bytes);

// Returns the ordinal of the device with this profile ("sm_80", "sm_90,sms=2"), or -1 with a sentence in error. Starts
// the driver, and the device unless there is one already.
int cuda_emulator_device(const char* profile, char* error, size_t error_bytes);

// Counts the launches that begin after the call, or does not (0). Counted launches take 1.5 to several times as long.
void cuda_emulator_count_launches(int on);

// Sums over the counted launches of one kernel.
struct CudaEmulatorCounters {
  const char* kernel;  // its name, valid until receive() returns
  uint64_t launches;
  uint64_t instructions;       // of warps
  uint64_t lane_instructions;  // of active lanes
  uint64_t sectors;            // of 32 bytes of global memory: loads, stores and atomics
  uint64_t bank_replays;       // passes over shared memory beyond the fewest possible
};

// Calls receive(data, counters) for each kernel with counted launches that ended since the last call, in order of their
// first end. A launch is among them once its stream has been synchronised, or an event behind it.
void cuda_emulator_take_counters(void (*receive)(void* data, const struct CudaEmulatorCounters* counters), void* data);

#ifdef __cplusplus
}
#endif
