// Passes the emulator's counters on in the profile's words.
#include "engine/driver/emulator_profile.h"

#include "ptx/emulator/driver/emulator_counters.h"

namespace warpchat {

void count_emulated_launches(bool on) { ptx::emulator::driver::count_launches(on); }

std::vector<CountedKernel> take_emulated_counters() {
  std::vector<CountedKernel> kernels;
  for (const ptx::emulator::driver::KernelCounters& k : ptx::emulator::driver::take_counters()) {
    const ptx::emulator::Counters& c = k.counters;
    kernels.push_back({k.kernel,
                       {c.instructions, c.lane_instructions, c.loads.sectors + c.stores.sectors + c.atomics.sectors,
                        c.bank_replays}});
  }
  return kernels;
}

}  // namespace warpchat
