// ld and st of every space. A lane's access, up to 32 bytes, moves in units of at most 8: a load fetches the units of
// all lanes and splits them into its elements, a store joins its elements and puts the units.
#include "ptx/emulator/handlers/pointers.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

struct Wide128 {
  uint64_t low, high;
};
template <class D, class M>
inline D widen(M m) {
  if constexpr (sizeof(M) == 16)
    return m;
  else
    return static_cast<D>(m);  // signed memory types extend their sign
}

// `total` bytes of a lane: piece p of lane l is unit p * 32 + l.
template <uint32_t total>
struct UnitOf {
  using type = uint64_t;
};
template <>
struct UnitOf<4> {
  using type = uint32_t;
};
template <>
struct UnitOf<2> {
  using type = uint16_t;
};
template <>
struct UnitOf<1> {
  using type = uint8_t;
};
template <uint32_t total>
using Unit = typename UnitOf<total>::type;
template <uint32_t total>
constexpr uint32_t kPieces = total > 8 ? total / 8 : 1;

// Addresses become host addresses. True if all lanes are known to be good, false if they were found one by one.
template <class Where>
inline bool find(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, uint64_t* at) {
  if (__builtin_expect(Where::quick(w, i, lanes, bytes, at), 1)) return true;
  uint8_t* pointers[kLanes];
  Where::resolve(w, i, lanes, bytes, at, pointers);
  for (uint32_t l = 0; l < kLanes; ++l) at[l] = reinterpret_cast<uint64_t>(pointers[l]);
  return false;
}

// The same when others watch: they may take lanes away, or send them elsewhere.
template <class Where, AccessKind kind>
[[gnu::noinline]] bool find_observed(Warp& w, const Instruction& i, uint32_t& lanes, uint32_t bytes, uint64_t* at) {
  alignas(64) uint64_t addresses[kLanes];
  __builtin_memcpy(addresses, at, sizeof addresses);
  lanes = observe(w, i, kind, Where::kSpace, lanes, bytes, addresses);
  if (lanes == 0) return false;
  const bool quick = find<Where>(w, i, lanes, bytes, at);
  if constexpr (Where::kSpace <= Global::kSpace) {
    if (redirect(w, i, kind, lanes, bytes, addresses, reinterpret_cast<uint8_t**>(at))) return false;
  }
  return quick;
}

template <class Where, bool observed, AccessKind kind>
[[gnu::always_inline]] inline bool locate(Warp& w, const Instruction& i, uint32_t& lanes, uint32_t bytes,
                                          uint64_t* at) {
  read_addresses(w, i, at);
  if constexpr (observed)
    return find_observed<Where, kind>(w, i, lanes, bytes, at);
  else
    return find<Where>(w, i, lanes, bytes, at);
}

template <class F>
inline void each_lane(uint32_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1) f(static_cast<uint32_t>(__builtin_ctz(lanes)));
}

// Units of the lanes that may go on, which are returned.
template <class Where, bool observed, bool all, uint32_t total>
[[gnu::noinline]] uint32_t fetch(Warp& w, const Instruction& i, Unit<total>* units) {
  using U = Unit<total>;
  constexpr uint32_t kStep = sizeof(U);
  uint32_t lanes = all ? kAllLanes : w.active;
  alignas(64) uint64_t at[kLanes];
  const bool quick = locate<Where, observed, AccessKind::kLoad>(w, i, lanes, total, at);
  if (i.flags & kPolls) w.polled = true;
  if (!quick) {
    for (uint32_t p = 0; p < kPieces<total>; ++p)
      each_lane(lanes, [&](uint32_t l) { units[p * kLanes + l] = peek<U>(host(at[l]) + p * kStep); });
  } else if (contiguous(at, total)) {
    const uint8_t* first = host(at[0]);
    for (uint32_t p = 0; p < kPieces<total>; ++p)
      EMULATOR_LANES units[p * kLanes + l] = peek<U>(first + l * total + p * kStep);
  } else {
    for (uint32_t p = 0; p < kPieces<total>; ++p) {
      gather(units + p * kLanes, at);
      EMULATOR_LANES at[l] += kStep;
    }
  }
  return lanes;
}

template <class Where, bool observed, bool all, uint32_t total>
[[gnu::noinline]] void put(Warp& w, const Instruction& i, const Unit<total>* units) {
  using U = Unit<total>;
  constexpr uint32_t kStep = sizeof(U);
  uint32_t lanes = all ? kAllLanes : w.active;
  alignas(64) uint64_t at[kLanes];
  const bool quick = locate<Where, observed, AccessKind::kStore>(w, i, lanes, total, at);
  if (quick && lanes == kAllLanes && contiguous(at, total)) {
    uint8_t* first = host(at[0]);
    for (uint32_t p = 0; p < kPieces<total>; ++p)
      EMULATOR_LANES __builtin_memcpy(first + l * total + p * kStep, &units[p * kLanes + l], kStep);
    return;
  }
  for (uint32_t p = 0; p < kPieces<total>; ++p)
    each_lane(lanes, [&](uint32_t l) { __builtin_memcpy(host(at[l]) + p * kStep, &units[p * kLanes + l], kStep); });
}

template <class Where, class M, class D, bool observed>
struct Load {
  static void full(Warp& w, const Instruction& i) { by_count<true>(w, i); }
  static void masked(Warp& w, const Instruction& i) { by_count<false>(w, i); }

  template <bool all>
  static void by_count(Warp& w, const Instruction& i) {
    switch (i.count) {
      case 1:
        return one<all>(w, i);
      case 2:
        return several<all, 2>(w, i);
      case 4:
        return several<all, 4>(w, i);
      default:
        return several<all, 8>(w, i);
    }
  }
  template <bool all>
  static void one(Warp& w, const Instruction& i) {
    if constexpr (all && !observed && sizeof(M) == sizeof(D) && sizeof(M) <= 8) {
      fetch<Where, observed, all, sizeof(M)>(w, i, column<Unit<sizeof(M)>>(w, i.d));
    } else {
      alignas(64) Unit<sizeof(M)> units[kPieces<sizeof(M)> * kLanes];
      const uint32_t lanes = fetch<Where, observed, all, sizeof(M)>(w, i, units);
      split<1>(w, i.d, 0, all && !observed ? kAllLanes : lanes, units);
    }
  }
  template <bool all, uint32_t count>
  static void several(Warp& w, const Instruction& i) {
    if constexpr (sizeof(M) * count <= 32) {
      alignas(64) Unit<sizeof(M) * count> units[kPieces<sizeof(M) * count> * kLanes];
      const uint32_t lanes = fetch<Where, observed, all, sizeof(M) * count>(w, i, units);
      for (uint32_t k = 0; k < count; ++k) {
        const uint32_t where = w.operands[i.list + k];
        if (where != kNoColumn) split<count>(w, where, k, all && !observed ? kAllLanes : lanes, units);
      }
    }
  }
  template <uint32_t count, class U>
  static void split(Warp& w, uint32_t where, uint32_t element, uint32_t lanes, const U* units) {
    D* d = column<D>(w, where);
    if constexpr (sizeof(M) == 16) {
      for (uint32_t l = 0; l < kLanes; ++l) {
        if (lanes >> l & 1) d[l] = {units[2 * element * kLanes + l], units[(2 * element + 1) * kLanes + l]};
      }
    } else {
      const uint32_t at = element * sizeof(M), shift = at % sizeof(U) * 8;
      const U* piece = units + at / sizeof(U) * kLanes;
      alignas(64) D fresh[kLanes];
      EMULATOR_LANES fresh[l] = widen<D>(static_cast<M>(piece[l] >> shift));
      keep_active(d, fresh, lanes);
    }
  }
};

template <class Where, class M, class D, bool observed>
struct Store {
  static void full(Warp& w, const Instruction& i) { by_count<true>(w, i); }
  static void masked(Warp& w, const Instruction& i) { by_count<false>(w, i); }

  template <bool all>
  static void by_count(Warp& w, const Instruction& i) {
    switch (i.count) {
      case 1:
        return several<all, 1>(w, i, &i.d);
      case 2:
        return several<all, 2>(w, i, w.operands + i.list);
      case 4:
        return several<all, 4>(w, i, w.operands + i.list);
      default:
        return several<all, 8>(w, i, w.operands + i.list);
    }
  }
  template <bool all, uint32_t count>
  static void several(Warp& w, const Instruction& i, const uint32_t* columns) {
    if constexpr (sizeof(M) * count <= 32) {
      constexpr uint32_t kTotal = sizeof(M) * count;
      if constexpr (count == 1 && sizeof(M) == sizeof(D) && sizeof(M) <= 8) {
        put<Where, observed, all, kTotal>(w, i, column<Unit<kTotal>>(w, columns[0]));
      } else {
        alignas(64) Unit<kTotal> units[kPieces<kTotal> * kLanes] = {};
        for (uint32_t k = 0; k < count; ++k) join(column<D>(w, columns[k]), k, units);
        put<Where, observed, all, kTotal>(w, i, units);
      }
    }
  }
  template <class U>
  static void join(const D* from, uint32_t element, U* units) {
    if constexpr (sizeof(M) == 16) {
      EMULATOR_LANES units[2 * element * kLanes + l] = from[l].low;
      EMULATOR_LANES units[(2 * element + 1) * kLanes + l] = from[l].high;
    } else {
      const uint32_t at = element * sizeof(M), shift = at % sizeof(U) * 8;
      U* piece = units + at / sizeof(U) * kLanes;
      EMULATOR_LANES piece[l] =
          static_cast<U>(piece[l] | static_cast<U>(static_cast<U>(static_cast<M>(from[l])) << shift));
    }
  }
};

template <bool first, class A, class B>
struct Choice {
  using type = A;
};
template <class A, class B>
struct Choice<false, A, B> {
  using type = B;
};
template <bool first, class A, class B>
using Either = typename Choice<first, A, B>::type;

template <class Where, class M, class D, bool loads>
void one(Registry& r, const char* name, const char* suffix) {
  using Plain = Either<loads, Load<Where, M, D, false>, Store<Where, M, D, false>>;
  using Observed = Either<loads, Load<Where, M, D, true>, Store<Where, M, D, true>>;
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
      const uint32_t where = i.count == 1 ? i.d : w.operands[i.list + k];
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
