// mov of several registers into a wider one, and back.
#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

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

}  // namespace

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

}  // namespace ptx::emulator::EMULATOR_ISA
