// ld and st of every space: addresses -> host pointers -> lanes. `count` elements of M per lane, into registers D.
#include "ptx/emulator/handlers/pointers.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

struct Wide128 {
  uint64_t low, high;
};
template <class T>
inline T peek(const uint8_t* p) {
  T value;
  __builtin_memcpy(&value, p, sizeof(T));
  return value;
}
template <class D, class M>
inline D widen(M m) {
  if constexpr (sizeof(M) == 16)
    return m;
  else
    return static_cast<D>(m);  // signed memory types extend their sign
}

inline uint32_t register_of(Warp& w, const Instruction& i, uint32_t element) {
  return i.count == 1 ? i.d : w.operands[i.list + element];
}

template <uint32_t count, class M, class D>
inline void gather(Warp& w, const Instruction& i, uint32_t lanes, uint8_t* const* pointers) {
  D* out[count];
  alignas(64) D sink[kLanes];
  for (uint32_t k = 0; k < count; ++k) {
    const uint32_t where = register_of(w, i, k);
    out[k] = where == kNoColumn ? sink : column<D>(w, where);
  }
  if (lanes == kAllLanes && contiguous(pointers, sizeof(M) * count)) {
    const uint8_t* p = pointers[0];
    for (uint32_t k = 0; k < count; ++k) {
      D* d = out[k];
      EMULATOR_LANES d[l] = widen<D>(peek<M>(p + (l * count + k) * sizeof(M)));
    }
    return;
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    for (uint32_t k = 0; k < count; ++k) out[k][l] = widen<D>(peek<M>(pointers[l] + k * sizeof(M)));
  }
}

template <uint32_t count, class M, class D>
inline void scatter(Warp& w, const Instruction& i, uint32_t lanes, uint8_t* const* pointers) {
  const D* in[count];
  for (uint32_t k = 0; k < count; ++k) in[k] = column<D>(w, register_of(w, i, k));
  if (lanes == kAllLanes && contiguous(pointers, sizeof(M) * count)) {
    uint8_t* p = pointers[0];
    for (uint32_t k = 0; k < count; ++k) {
      const D* s = in[k];
      EMULATOR_LANES {
        const M value = static_cast<M>(s[l]);
        __builtin_memcpy(p + (l * count + k) * sizeof(M), &value, sizeof(M));
      }
    }
    return;
  }
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    for (uint32_t k = 0; k < count; ++k) {
      const M value = static_cast<M>(in[k][l]);
      __builtin_memcpy(pointers[l] + k * sizeof(M), &value, sizeof(M));
    }
  }
}

template <class Where, class M, class D, bool loads, bool observed>
struct Move {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }

  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    alignas(64) uint64_t addresses[kLanes];
    alignas(64) uint8_t* pointers[kLanes];
    const uint32_t bytes = sizeof(M) * i.count;
    read_addresses(w, i, addresses);
    if constexpr (observed) {
      lanes = observe(w, i, loads ? AccessKind::kLoad : AccessKind::kStore, Where::kSpace, lanes, bytes, addresses);
      if (lanes == 0) return;
    }
    Where::resolve(w, i, lanes, bytes, addresses, pointers);
    if (loads && (i.flags & kPolls)) w.polled = true;
    copy(w, i, lanes, pointers);
  }

  static void copy(Warp& w, const Instruction& i, uint32_t lanes, uint8_t* const* pointers) {
    switch (i.count) {
      case 1:
        return copy_of<1>(w, i, lanes, pointers);
      case 2:
        return copy_of<2>(w, i, lanes, pointers);
      case 4:
        return copy_of<4>(w, i, lanes, pointers);
      default:
        return copy_of<8>(w, i, lanes, pointers);
    }
  }
  template <uint32_t count>
  static void copy_of(Warp& w, const Instruction& i, uint32_t lanes, uint8_t* const* pointers) {
    if constexpr (sizeof(M) * count <= 32) {
      if constexpr (loads)
        gather<count, M, D>(w, i, lanes, pointers);
      else
        scatter<count, M, D>(w, i, lanes, pointers);
    }
  }
};

template <class Where, class M, class D, bool loads>
void one(Registry& r, const char* name, const char* suffix) {
  using Plain = Move<Where, M, D, loads, false>;
  using Observed = Move<Where, M, D, loads, true>;
  add_handler(r, name, suffix, &Plain::full, &Plain::masked, 0);
  add_handler(r, Spelling("!", name).text, suffix, &Observed::full, &Observed::masked, 0);
}

template <class Where>
void every_width(Registry& r, const char* load, const char* store) {
  one<Where, uint8_t, uint16_t, true>(r, load, ".u8.16");
  one<Where, uint8_t, uint32_t, true>(r, load, ".u8.32");
  one<Where, uint8_t, uint64_t, true>(r, load, ".u8.64");
  one<Where, int8_t, int16_t, true>(r, load, ".s8.16");
  one<Where, int8_t, int32_t, true>(r, load, ".s8.32");
  one<Where, int8_t, int64_t, true>(r, load, ".s8.64");
  one<Where, uint16_t, uint16_t, true>(r, load, ".u16.16");
  one<Where, uint16_t, uint32_t, true>(r, load, ".u16.32");
  one<Where, uint16_t, uint64_t, true>(r, load, ".u16.64");
  one<Where, int16_t, int32_t, true>(r, load, ".s16.32");
  one<Where, int16_t, int64_t, true>(r, load, ".s16.64");
  one<Where, uint32_t, uint32_t, true>(r, load, ".u32.32");
  one<Where, uint32_t, uint64_t, true>(r, load, ".u32.64");
  one<Where, int32_t, int64_t, true>(r, load, ".s32.64");
  one<Where, uint64_t, uint64_t, true>(r, load, ".u64.64");
  one<Where, Wide128, Wide128, true>(r, load, ".b128.128");
  one<Where, uint8_t, uint16_t, false>(r, store, ".u8.16");
  one<Where, uint8_t, uint32_t, false>(r, store, ".u8.32");
  one<Where, uint8_t, uint64_t, false>(r, store, ".u8.64");
  one<Where, uint16_t, uint16_t, false>(r, store, ".u16.16");
  one<Where, uint16_t, uint32_t, false>(r, store, ".u16.32");
  one<Where, uint16_t, uint64_t, false>(r, store, ".u16.64");
  one<Where, uint32_t, uint32_t, false>(r, store, ".u32.32");
  one<Where, uint32_t, uint64_t, false>(r, store, ".u32.64");
  one<Where, uint64_t, uint64_t, false>(r, store, ".u64.64");
  one<Where, Wide128, Wide128, false>(r, store, ".b128.128");
}

// Parameters of a kernel: the same for every lane, at a fixed offset.
template <class M, class D>
struct LoadParameter {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    for (uint32_t k = 0; k < i.count; ++k) {
      const uint64_t at = static_cast<uint64_t>(i.immediate) + k * sizeof(M);
      const uint32_t where = register_of(w, i, k);
      if (where == kNoColumn) continue;
      if (i.flags & kAddressNone) {
        const D value = at + sizeof(M) <= w.parameter_bytes ? widen<D>(peek<M>(w.parameters + at)) : D{};
        D* d = column<D>(w, where);
        for (uint32_t l = 0; l < kLanes; ++l) {
          if (lanes >> l & 1) d[l] = value;
        }
      } else {
        indexed(w, i, lanes, where, k * sizeof(M));
      }
    }
  }
  static void indexed(Warp& w, const Instruction& i, uint32_t lanes, uint32_t where, uint64_t element) {
    alignas(64) uint64_t addresses[kLanes];
    read_addresses(w, i, addresses);
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      uint8_t* refused =
          window_pointer(w, i, l, addresses[l] + element, sizeof(M), w.parameter_bytes, FaultKind::kIllegalAddress);
      column<D>(w, where)[l] = widen<D>(peek<M>(refused ? refused : w.parameters + addresses[l] + element));
    }
  }
};
template <class M, class D>
void parameter(Registry& r, const char* suffix) {
  add_handler(r, "ld.param", suffix, &LoadParameter<M, D>::full, &LoadParameter<M, D>::masked, 0);
}

}  // namespace

void register_load_store(Registry& r) {
  every_width<Global>(r, "ld.global", "st.global");
  every_width<Shared>(r, "ld.shared", "st.shared");
  every_width<Local>(r, "ld.local", "st.local");
  every_width<Generic>(r, "ld", "st");
  parameter<uint8_t, uint16_t>(r, ".u8.16");
  parameter<uint8_t, uint32_t>(r, ".u8.32");
  parameter<uint8_t, uint64_t>(r, ".u8.64");
  parameter<int8_t, int16_t>(r, ".s8.16");
  parameter<int8_t, int32_t>(r, ".s8.32");
  parameter<int8_t, int64_t>(r, ".s8.64");
  parameter<uint16_t, uint16_t>(r, ".u16.16");
  parameter<uint16_t, uint32_t>(r, ".u16.32");
  parameter<uint16_t, uint64_t>(r, ".u16.64");
  parameter<int16_t, int32_t>(r, ".s16.32");
  parameter<int16_t, int64_t>(r, ".s16.64");
  parameter<uint32_t, uint32_t>(r, ".u32.32");
  parameter<uint32_t, uint64_t>(r, ".u32.64");
  parameter<int32_t, int64_t>(r, ".s32.64");
  parameter<uint64_t, uint64_t>(r, ".u64.64");
  parameter<Wide128, Wide128>(r, ".b128.128");
}

}  // namespace ptx::emulator::EMULATOR_ISA
