// Clocks, fences, address spaces.
#include <chrono>

#include "ptx/emulator/common/common.h"
#include "ptx/emulator/full_fence.h"
#include "ptx/emulator/special_registers.h"
#include "ptx/emulator/syntax_tree.h"

namespace ptx::emulator::common {
namespace {

uint64_t nanoseconds() {
  return static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
          .count());
}

void read_clock(Warp& w, const Instruction& i, uint32_t lanes) {
  const Special which = static_cast<Special>(i.immediate);
  const bool is_timer =
      which == Special::globaltimer || which == Special::globaltimer_lo || which == Special::globaltimer_hi;
  const uint64_t now = is_timer ? nanoseconds() : __builtin_ia32_rdtsc();
  if (which == Special::clock64 || which == Special::globaltimer) {
    uint64_t* d = column<uint64_t>(w, i.d);
    for (uint32_t l = 0; l < kLanes; ++l) d[l] = lanes >> l & 1 ? now : d[l];
    return;
  }
  const bool high = which == Special::clock_hi || which == Special::globaltimer_hi;
  uint32_t* d = column<uint32_t>(w, i.d);
  for (uint32_t l = 0; l < kLanes; ++l) d[l] = lanes >> l & 1 ? static_cast<uint32_t>(high ? now >> 32 : now) : d[l];
}

void is_in_space(Warp& w, const Instruction& i, uint32_t lanes) {
  const uint64_t* a = column<uint64_t>(w, i.a);
  uint32_t bits = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    bool inside = a[l] < kSharedWindow;
    if (static_cast<Space>(i.flags) == Space::shared) inside = a[l] - kSharedWindow < kWindowBytes;
    if (static_cast<Space>(i.flags) == Space::local) inside = a[l] - kLocalWindow < kWindowBytes;
    if (static_cast<Space>(i.flags) == Space::param) inside = a[l] - kParamWindow < kWindowBytes;
    if (static_cast<Space>(i.flags) == Space::constant) inside = false;
    bits |= inside ? 1u << l : 0;
  }
  set_predicate(w, i.d, bits, lanes);
}

}  // namespace

void register_miscellany(Registry& r) {
  add(r, "mov.special", "", [](Warp& w, const Instruction& i, uint32_t lanes) { read_clock(w, i, lanes); });
  add(r, "isspacep", "", [](Warp& w, const Instruction& i, uint32_t lanes) { is_in_space(w, i, lanes); });
  add(r, "nanosleep", "", [](Warp& w, const Instruction&, uint32_t) { w.polled = true; });
  add(r, "fence", "", [](Warp& w, const Instruction& i, uint32_t) {
    full_fence();
    observe_fence(w, i);
  });
}

}  // namespace ptx::emulator::common
