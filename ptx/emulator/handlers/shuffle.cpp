// shfl: each lane takes another lane's value if that lane lies within its segment, else it keeps its own.
#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

// Source of lane l, as in the PTX ISA's figures; `segment` masks the lane bits that must not change.
struct Up {
  static int32_t source(int32_t lane, int32_t offset, int32_t) { return lane - offset; }
  static bool in_range(int32_t source, int32_t limit) { return source >= limit; }
};
struct Down {
  static int32_t source(int32_t lane, int32_t offset, int32_t) { return lane + offset; }
  static bool in_range(int32_t source, int32_t limit) { return source <= limit; }
};
struct Butterfly {
  static int32_t source(int32_t lane, int32_t offset, int32_t) { return lane ^ offset; }
  static bool in_range(int32_t source, int32_t limit) { return source <= limit; }
};
struct Index {
  static int32_t source(int32_t lane, int32_t offset, int32_t segment) {
    return (lane & segment) | (offset & ~segment);
  }
  static bool in_range(int32_t source, int32_t limit) { return source <= limit; }
};

template <class Mode>
struct Shuffle {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) {
    if (lanes_are_here(w, i)) run(w, i, w.active);
  }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    const uint32_t *a = column<uint32_t>(w, i.a), *b = column<uint32_t>(w, i.b), *c = column<uint32_t>(w, i.c);
    alignas(64) uint32_t from[kLanes], fresh[kLanes];
    EMULATOR_LANES {
      const int32_t lane = static_cast<int32_t>(l), offset = static_cast<int32_t>(b[l] & 31);
      const int32_t clamp = static_cast<int32_t>(c[l] & 31), segment = static_cast<int32_t>(c[l] >> 8 & 31);
      const int32_t limit = (lane & segment) | (clamp & ~segment);
      const int32_t source = Mode::source(lane, offset, segment);
      from[l] = static_cast<uint32_t>(Mode::in_range(source, limit) ? source : lane + 32);  // 32: the lane's own value
    }
    EMULATOR_LANES fresh[l] = a[from[l] & 31];
    if (i.d != kNoColumn) keep_active(column<uint32_t>(w, i.d), fresh, lanes);
    const uint32_t p = w.operands[i.list];
    if (p == kNoColumn) return;
    uint32_t good = 0;
    for (uint32_t l = 0; l < kLanes; ++l) good |= (from[l] < 32 ? 1u : 0u) << l;
    uint32_t& d = predicate(w, p);
    d = (d & ~lanes) | (good & lanes);
  }
};

template <class Mode>
void shuffle(Registry& r, const char* name) {
  add_handler(r, name, "", &Shuffle<Mode>::full, &Shuffle<Mode>::masked, 0);
}

}  // namespace

void register_shuffle(Registry& r) {
  shuffle<Up>(r, "shfl.up");
  shuffle<Down>(r, "shfl.down");
  shuffle<Butterfly>(r, "shfl.bfly");
  shuffle<Index>(r, "shfl.idx");
}

}  // namespace ptx::emulator::EMULATOR_ISA
