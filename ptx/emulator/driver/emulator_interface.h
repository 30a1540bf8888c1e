// C functions that libcuda_emulator.so exports besides the Driver API, for a program that loads it like libcuda. The
// program must call cuda_emulator_interface() first, and nothing else if the result differs from its
// CUDA_EMULATOR_INTERFACE. Both are a hash of this file, computed by the build.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

uint64_t cuda_emulator_interface(void);

// Same effect as the environment variable CUDA_EMULATOR_<name> (CHECKS, SEED, LOADS_DRAIN), for devices that start
// after the call. Returns 0, or -1 with a message in error, truncated to error_bytes.
int cuda_emulator_set_option(const char* name, const char* value, char* error, size_t error_bytes);

// Returns the ordinal of the device with this profile ("sm_80", "sm_90,sms=2"), or -1 with a message in error. Starts
// the driver, and the device if needed.
int cuda_emulator_device(const char* profile, char* error, size_t error_bytes);

// Enables (or, with 0, disables) counting for later launches. Counted launches take 1.5 to several times as long.
void cuda_emulator_count_launches(int on);

// Sums over one kernel's counted launches.
struct CudaEmulatorCounters {
  const char* kernel;  // its name, valid until receive() returns
  uint64_t launches;
  uint64_t instructions;       // executed by warps
  uint64_t lane_instructions;  // times active lanes
  uint64_t sectors;            // 32-byte sectors of global memory: loads, stores and atomics
  uint64_t bank_replays;       // shared-memory passes beyond the minimum
};

// Calls receive(data, counters) for each kernel with counted launches that have ended since the last call, in order of
// first end. A launch is included once its stream, or an event after it, has been synchronised.
void cuda_emulator_take_counters(void (*receive)(void* data, const struct CudaEmulatorCounters* counters), void* data);

#ifdef __cplusplus
}
#endif
