#include "ptx/emulator/driver/emulator_interface.h"

#include <algorithm>
#include <exception>
#include <string_view>

#include "ptx/emulator/driver/driver.h"
#include "ptx/emulator/driver/emulator_counters.h"
#include "ptx/emulator/driver/environment.h"

namespace ptx::emulator::driver {
namespace {

// Runs body, whose exception message goes to the caller's buffer.
template <class Body>
int guarded(char* error, size_t error_bytes, Body body) noexcept {
  try {
    return body();
  } catch (const std::exception& exception) {
    const std::string_view sentence = exception.what();
    if (error_bytes > 0) error[sentence.copy(error, error_bytes - 1)] = '\0';
    return -1;
  }
}

}  // namespace
}  // namespace ptx::emulator::driver

using namespace ptx::emulator::driver;

extern "C" {

uint64_t cuda_emulator_interface() { return CUDA_EMULATOR_INTERFACE; }

int cuda_emulator_set_option(const char* name, const char* value, char* error, size_t error_bytes) {
  return guarded(error, error_bytes, [&] {
    set_option(name, value);
    return 0;
  });
}

int cuda_emulator_device(const char* profile, char* error, size_t error_bytes) {
  return guarded(error, error_bytes, [&] { return emulated_device(profile); });
}

void cuda_emulator_count_launches(int on) { count_launches(on != 0); }

void cuda_emulator_take_counters(void (*receive)(void*, const CudaEmulatorCounters*), void* data) {
  for (const KernelCounters& kernel : take_counters()) {
    const ptx::emulator::Counters& c = kernel.counters;
    const CudaEmulatorCounters sums{kernel.kernel.c_str(),
                                    kernel.launches,
                                    c.instructions,
                                    c.lane_instructions,
                                    c.loads.sectors + c.stores.sectors + c.atomics.sectors,
                                    c.bank_replays};
    receive(data, &sums);
  }
}

}  // extern "C"
