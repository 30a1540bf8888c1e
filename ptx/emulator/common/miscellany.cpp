// Packing and unpacking of registers, clocks, fences, address spaces.
#include <atomic>
#include <chrono>

#include "ptx/emulator/common/common.h"
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

template <uint32_t part>
void unpack(Registry& r) {
  if constexpr (part < 2) {
    op<uint32_t, uint64_t>(r, "unpack.64.32.", part ? "1" : "0",
                           [](uint64_t a) { return static_cast<uint32_t>(a >> 32 * part); });
    op<uint16_t, uint32_t>(r, "unpack.32.16.", part ? "1" : "0",
                           [](uint32_t a) { return static_cast<uint16_t>(a >> 16 * part); });
    op<uint16_t, uint16_t>(r, "unpack.16.8.", part ? "1" : "0",
                           [](uint16_t a) { return static_cast<uint16_t>(a >> 8 * part & 0xff); });
  }
  constexpr char digit[2] = {static_cast<char>('0' + part), 0};
  op<uint16_t, uint32_t>(r, "unpack.32.8.", digit,
                         [](uint32_t a) { return static_cast<uint16_t>(a >> 8 * part & 0xff); });
  op<uint16_t, uint64_t>(r, "unpack.64.16.", digit, [](uint64_t a) { return static_cast<uint16_t>(a >> 16 * part); });
}

struct Pair64 {
  uint64_t low, high;
};

void register_packs(Registry& r) {
  using h = uint16_t;
  op<uint64_t, uint32_t, uint32_t>(r, "pack.32.2", "", [](uint32_t a, uint32_t b) { return a | uint64_t{b} << 32; });
  op<uint32_t, h, h>(r, "pack.16.2", "", [](h a, h b) { return a | static_cast<uint32_t>(b) << 16; });
  op<uint64_t, h, h, h, h>(r, "pack.16.4", "", [](h a, h b, h c, h d) {
    return a | uint64_t{b} << 16 | uint64_t{c} << 32 | uint64_t{d} << 48;
  });
  op<h, h, h>(r, "pack.8.2", "", [](h a, h b) { return static_cast<h>((a & 0xff) | b << 8); });
  op<uint32_t, h, h, h, h>(r, "pack.8.4", "", [](h a, h b, h c, h d) {
    return (a & 0xffu) | (b & 0xffu) << 8 | (c & 0xffu) << 16 | static_cast<uint32_t>(d) << 24;
  });
  op<Pair64, uint64_t, uint64_t>(r, "pack.64.2", "", [](uint64_t a, uint64_t b) { return Pair64{a, b}; });
  op<uint64_t, Pair64>(r, "unpack.128.64.0", "", [](Pair64 a) { return a.low; });
  op<uint64_t, Pair64>(r, "unpack.128.64.1", "", [](Pair64 a) { return a.high; });
  op<Pair64, Pair64>(r, "mov.b128", "", [](Pair64 a) { return a; });
  unpack<0>(r);
  unpack<1>(r);
  unpack<2>(r);
  unpack<3>(r);
}

}  // namespace

void register_miscellany(Registry& r) {
  register_packs(r);
  add(r, "mov.special", "", [](Warp& w, const Instruction& i, uint32_t lanes) { read_clock(w, i, lanes); });
  add(r, "isspacep", "", [](Warp& w, const Instruction& i, uint32_t lanes) { is_in_space(w, i, lanes); });
  add(r, "nanosleep", "", [](Warp& w, const Instruction&, uint32_t) { w.polled = true; });
  add(r, "fence", "", [](Warp& w, const Instruction& i, uint32_t) {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    observe_fence(w, i);
  });
}

}  // namespace ptx::emulator::common
