// ld and st in every space. A lane's access of up to 32 bytes moves in units of at most 8: loads fetch units for all
// lanes and split them into elements; stores join elements and write units.
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
    return static_cast<D>(m);  // signed memory types are sign-extended
}

// `total` bytes per lane: piece p of lane l is unit p * 32 + l.
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

template <class F>
inline void each_lane(uint32_t lanes, F f) {
  for (; lanes; lanes &= lanes - 1) f(static_cast<uint32_t>(__builtin_ctz(lanes)));
}

// Unit type of a load: at least 4 bytes, which gather well and convert without a detour.
template <uint32_t total>
using Fetched = std::conditional_t<(total > 4), uint64_t, uint32_t>;

// Lanes processed one by one.
template <uint32_t total>
inline void fetch_each(uint32_t lanes, uint8_t* const* pointers, Fetched<total>* units) {
  using U = Unit<total>;
  for (uint32_t p = 0; p < kPieces<total>; ++p)
    each_lane(lanes, [&](uint32_t l) { units[p * kLanes + l] = peek<U>(pointers[l] + p * sizeof(U)); });
}
template <uint32_t total>
inline void put_each(uint32_t lanes, uint8_t* const* pointers, const Unit<total>* units) {
  using U = Unit<total>;
  for (uint32_t p = 0; p < kPieces<total>; ++p) {
    const U* from = units + p * kLanes;
    each_lane(lanes, [&](uint32_t l) { __builtin_memcpy(pointers[l] + p * sizeof(U), from + l, sizeof(U)); });
  }
}

// All lanes are known to be valid.
template <class Where, uint32_t total>
constexpr uint64_t kStrideOf = Where::kStride ? Where::kStride : total;

template <class Where, uint32_t total>
[[gnu::always_inline]] inline void fetch_quickly(uint32_t lanes, Addresses& at, Fetched<total>* units) {
  using U = Unit<total>;
  constexpr uint64_t kStride = kStrideOf<Where, total>;
  if (lanes == kAllLanes && at.strided(kStride)) {
    const uint8_t* first = host(at.first());
    for (uint32_t p = 0; p < kPieces<total>; ++p)
      EMULATOR_LANES units[p * kLanes + l] = peek<U>(first + l * kStride + p * sizeof(U));
    return;
  }
  if constexpr (total == 16 && Where::kStride == 0) prefetch_behind(at, total);
  gather(units, at, lanes);
  for (uint32_t p = 1; p < kPieces<total>; ++p) {
    at.add(sizeof(U));
    gather(units + p * kLanes, at, lanes);
  }
}
template <class Where, uint32_t total>
[[gnu::always_inline]] inline void put_quickly(uint32_t lanes, const Addresses& at, const Unit<total>* units) {
  using U = Unit<total>;
  constexpr uint64_t kStride = kStrideOf<Where, total>;
  if (lanes == kAllLanes && at.strided(kStride)) {
    uint8_t* first = host(at.first());
    for (uint32_t p = 0; p < kPieces<total>; ++p)
      EMULATOR_LANES __builtin_memcpy(first + l * kStride + p * sizeof(U), units + p * kLanes + l, sizeof(U));
    return;
  }
  alignas(64) uint64_t pointers[kLanes];
  at.store(pointers);
  if (lanes != kAllLanes) return put_each<total>(lanes, reinterpret_cast<uint8_t* const*>(pointers), units);
  for (uint32_t p = 0; p < kPieces<total>; ++p) {
#pragma GCC unroll 32
    for (uint32_t l = 0; l < kLanes; ++l)
      __builtin_memcpy(host(pointers[l]) + p * sizeof(U), units + p * kLanes + l, sizeof(U));
  }
}

// Whether the race check already covers this read without a report.
[[gnu::always_inline]] inline bool is_on_trail(Warp& w, const Instruction& i, uint32_t lanes, const Addresses& at) {
  ReadTrail& trail = *w.trails[2 * i.index + (lanes != kAllLanes)];
  const uint64_t first = lanes == kAllLanes ? at.first() : at.of(static_cast<uint32_t>(__builtin_ctz(lanes)));
  if (trail.lanes != lanes || !at.has_offsets(lanes, first, trail.offsets)) return false;
  if (first != trail.next || trail.left == 0 || trail.reader != *w.reader) return resume_trail(w, trail, first);
  trail.next += trail.step;
  --trail.left;
  return true;
}

// Whether no check or other observer needs a report of this access.
template <class Where, bool reads>
inline bool passes_unseen(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, Addresses& at) {
  if constexpr (Where::kSpace == Local::kSpace) return w.local_unseen && Where::quick(w, i, lanes, bytes, at);
  const bool is_weak = (i.flags & kStrong) == 0;
  if constexpr (Where::kSpace == Shared::kSpace)
    return w.shared_unseen && is_weak && Where::quick(w, i, lanes, bytes, at);
  const Range& granted = w.granted[i.index];
  w.is_granted = all_inside(at, lanes, granted.start, granted.bytes, bytes);
  if constexpr (Where::kSpace == Generic::kSpace) {
    if (!w.is_granted && w.shared_unseen && is_weak && Shared::quick_from(kSharedWindow, w, lanes, bytes, at))
      return true;
  }
  if (!w.is_granted || !is_weak) return false;
  if (!w.needs_only_granted_checks && !(reads && w.needs_only_pattern_checks && is_on_trail(w, i, lanes, at)))
    return false;
  w.is_granted = false;
  return true;
}

// Pointers of the lanes that observers allow; observers may redirect them.
template <class Where, AccessKind kind>
inline uint32_t watched(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, const Addresses& at,
                        uint8_t** pointers) {
  alignas(64) uint64_t addresses[kLanes];
  at.store(addresses);
  lanes = observe(w, i, kind, Where::kSpace, lanes, bytes, addresses);
  w.is_granted = false;
  if (lanes == 0) return 0;
  Addresses found = at;
  if (Where::quick(w, i, lanes, bytes, found))
    found.store(reinterpret_cast<uint64_t*>(pointers));
  else
    Where::resolve(w, i, lanes, bytes, addresses, pointers);
  if constexpr (Where::kSpace <= Global::kSpace) redirect(w, i, kind, lanes, bytes, addresses, pointers);
  return lanes;
}

template <class Where, AccessKind kind, bool observed>
inline uint32_t slow_pointers(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes, uint8_t** pointers) {
  const Addresses at = addresses_of(w, i);
  if constexpr (observed) return watched<Where, kind>(w, i, lanes, bytes, at, pointers);
  alignas(64) uint64_t addresses[kLanes];
  at.store(addresses);
  Where::resolve(w, i, lanes, bytes, addresses, pointers);
  return lanes;
}

template <class Where, bool observed, uint32_t total>
[[gnu::noinline]] uint32_t fetch_slowly(Warp& w, const Instruction& i, uint32_t lanes, Fetched<total>* units) {
  alignas(64) uint8_t* pointers[kLanes];
  lanes = slow_pointers<Where, AccessKind::kLoad, observed>(w, i, lanes, total, pointers);
  fetch_each<total>(lanes, pointers, units);
  return lanes;
}
template <class Where, bool observed, uint32_t total>
[[gnu::noinline]] void put_slowly(Warp& w, const Instruction& i, uint32_t lanes, const Unit<total>* units) {
  alignas(64) uint8_t* pointers[kLanes];
  w.stored = units;
  lanes = slow_pointers<Where, AccessKind::kStore, observed>(w, i, lanes, total, pointers);
  w.stored = nullptr;
  put_each<total>(lanes, pointers, units);
}

template <class Where, bool observed, bool reads>
[[gnu::always_inline]] inline bool is_quick(Warp& w, const Instruction& i, uint32_t lanes, uint32_t bytes,
                                            Addresses& at) {
  if constexpr (observed)
    return passes_unseen<Where, reads>(w, i, lanes, bytes, at);
  else
    return Where::quick(w, i, lanes, bytes, at);
}

// Loads units of the allowed lanes, and returns those lanes.
template <class Where, bool observed, bool all, uint32_t total>
[[gnu::always_inline]] inline uint32_t fetch(Warp& w, const Instruction& i, Fetched<total>* units) {
  const uint32_t lanes = all ? kAllLanes : w.active;
  if (i.flags & kPolls) w.polled = true;
  Addresses at = addresses_of(w, i);
  if (__builtin_expect(!is_quick<Where, observed, true>(w, i, lanes, total, at), 0))
    return fetch_slowly<Where, observed, total>(w, i, lanes, units);
  fetch_quickly<Where, total>(lanes, at, units);
  return lanes;
}

template <class Where, bool observed, bool all, uint32_t total>
[[gnu::noinline]] uint32_t fetch_apart(Warp& w, const Instruction& i, Fetched<total>* units) {
  return fetch<Where, observed, all, total>(w, i, units);
}

template <class Where, bool observed, bool all, uint32_t total>
[[gnu::always_inline]] inline void put(Warp& w, const Instruction& i, const Unit<total>* units) {
  const uint32_t lanes = all ? kAllLanes : w.active;
  Addresses at = addresses_of(w, i);
  if (__builtin_expect(!is_quick<Where, observed, false>(w, i, lanes, total, at), 0))
    return put_slowly<Where, observed, total>(w, i, lanes, units);
  put_quickly<Where, total>(lanes, at, units);
}

template <class Where, bool observed, bool all, uint32_t total>
[[gnu::noinline]] void put_apart(Warp& w, const Instruction& i, const Unit<total>* units) {
  put<Where, observed, all, total>(w, i, units);
}

// Splits units into the columns of a load's elements, for the given lanes.
template <class M, class D, uint32_t count>
[[gnu::always_inline]] inline void split(Warp& w, const uint32_t* columns, uint32_t lanes,
                                         const Fetched<sizeof(M) * count>* units) {
  using U = Fetched<sizeof(M) * count>;
  for (uint32_t k = 0; k < count; ++k) {
    if (columns[k] == kNoColumn) continue;
    D* d = column<D>(w, columns[k]);
    alignas(64) D fresh[kLanes];
    if constexpr (sizeof(M) == 16) {
      EMULATOR_LANES fresh[l] = {units[2 * k * kLanes + l], units[(2 * k + 1) * kLanes + l]};
      each_lane(lanes, [&](uint32_t l) { d[l] = fresh[l]; });
    } else {
      const uint32_t at = k * sizeof(M), shift = at % sizeof(U) * 8;
      const U* piece = units + at / sizeof(U) * kLanes;
      EMULATOR_LANES fresh[l] = static_cast<D>(element<M>(piece[l], shift));
      keep_active(d, fresh, lanes);
    }
  }
}
template <class M, class D, uint32_t count>
[[gnu::noinline]] void split_apart(Warp& w, const uint32_t* columns, uint32_t lanes,
                                   const Fetched<sizeof(M) * count>* units) {
  split<M, D, count>(w, columns, lanes, units);
}

// Joins the columns of a store's elements into units.
template <class M, class D, uint32_t count>
[[gnu::noinline]] void join(Warp& w, const uint32_t* columns, Unit<sizeof(M) * count>* units) {
  using U = Unit<sizeof(M) * count>;
  for (uint32_t k = 0; k < count; ++k) {
    const D* from = column<D>(w, columns[k]);
    if constexpr (sizeof(M) == 16) {
      EMULATOR_LANES units[2 * k * kLanes + l] = from[l].low;
      EMULATOR_LANES units[(2 * k + 1) * kLanes + l] = from[l].high;
    } else {
      const uint32_t at = k * sizeof(M), shift = at % sizeof(U) * 8;
      U* piece = units + at / sizeof(U) * kLanes;
      const U old_bits = at % sizeof(U) ? static_cast<U>(~U{0}) : U{0};  // the first element overwrites the unit
      EMULATOR_LANES piece[l] =
          static_cast<U>((piece[l] & old_bits) | static_cast<U>(static_cast<M>(from[l])) << shift);
    }
  }
}

// Registers as wide as the memory type are units themselves and move unchanged; but loads fetch at least words.
template <class M, class D, uint32_t count>
constexpr bool kDirect = count == 1 && sizeof(M) == sizeof(D) && sizeof(M) <= 8;

template <class Where, class M, class D, bool observed>
struct Load {
  template <bool all, uint32_t count>
  [[gnu::always_inline]] static void run(Warp& w, const Instruction& i) {
    constexpr uint32_t kTotal = sizeof(M) * count;
    if constexpr (kDirect<M, D, count> && kTotal >= 4) {
      fetch<Where, observed, all, kTotal>(w, i, column<Fetched<kTotal>>(w, i.d));
    } else if constexpr (kTotal <= 32) {
      alignas(64) Fetched<kTotal> units[kPieces<kTotal> * kLanes];
      const uint32_t lanes = fetch_apart<Where, observed, all, kTotal>(w, i, units);
      if constexpr (count == 1)
        split<M, D, count>(w, &i.d, all && !observed ? kAllLanes : lanes, units);
      else
        split_apart<M, D, count>(w, w.operands + i.list, lanes, units);
    }
  }
};

template <class Where, class M, class D, bool observed>
struct Store {
  template <bool all, uint32_t count>
  [[gnu::always_inline]] static void run(Warp& w, const Instruction& i) {
    constexpr uint32_t kTotal = sizeof(M) * count;
    if constexpr (kDirect<M, D, count>) {
      put<Where, observed, all, kTotal>(w, i, column<Unit<kTotal>>(w, i.d));
    } else if constexpr (kTotal <= 32) {
      alignas(64) Unit<kTotal> units[kPieces<kTotal> * kLanes];
      join<M, D, count>(w, count == 1 ? &i.d : w.operands + i.list, units);
      put_apart<Where, observed, all, kTotal>(w, i, units);
    }
  }
};

template <class Access, bool all>
void single(Warp& w, const Instruction& i) {
  Access::template run<all, 1>(w, i);
}
template <class Access, bool all>
void vector(Warp& w, const Instruction& i) {
  switch (i.count) {
    case 2:
      return Access::template run<all, 2>(w, i);
    case 4:
      return Access::template run<all, 4>(w, i);
    default:
      return Access::template run<all, 8>(w, i);
  }
}

template <class Access>
void access(Registry& r, const char* name, const char* suffix) {
  add_handler(r, name, suffix, &single<Access, true>, &single<Access, false>, 0);
  add_handler(r, name, Spelling(suffix, ".v").text, &vector<Access, true>, &vector<Access, false>, 0);
}
template <class Where, class M, class D>
void load(Registry& r, const char* name, const char* suffix) {
  access<Load<Where, M, D, false>>(r, name, suffix);
  access<Load<Where, M, D, true>>(r, Spelling("!", name).text, suffix);
}
template <class Where, class M, class D>
void store(Registry& r, const char* name, const char* suffix) {
  access<Store<Where, M, D, false>>(r, name, suffix);
  access<Store<Where, M, D, true>>(r, Spelling("!", name).text, suffix);
}

template <class Where>
void every_width(Registry& r, const char* ld, const char* st) {
  load<Where, uint8_t, uint16_t>(r, ld, ".u8.16");
  load<Where, uint8_t, uint32_t>(r, ld, ".u8.32");
  load<Where, uint8_t, uint64_t>(r, ld, ".u8.64");
  load<Where, int8_t, int16_t>(r, ld, ".s8.16");
  load<Where, int8_t, int32_t>(r, ld, ".s8.32");
  load<Where, int8_t, int64_t>(r, ld, ".s8.64");
  load<Where, uint16_t, uint16_t>(r, ld, ".u16.16");
  load<Where, uint16_t, uint32_t>(r, ld, ".u16.32");
  load<Where, uint16_t, uint64_t>(r, ld, ".u16.64");
  load<Where, int16_t, int32_t>(r, ld, ".s16.32");
  load<Where, int16_t, int64_t>(r, ld, ".s16.64");
  load<Where, uint32_t, uint32_t>(r, ld, ".u32.32");
  load<Where, uint32_t, uint64_t>(r, ld, ".u32.64");
  load<Where, int32_t, int64_t>(r, ld, ".s32.64");
  load<Where, uint64_t, uint64_t>(r, ld, ".u64.64");
  load<Where, Wide128, Wide128>(r, ld, ".b128.128");
  store<Where, uint8_t, uint16_t>(r, st, ".u8.16");
  store<Where, uint8_t, uint32_t>(r, st, ".u8.32");
  store<Where, uint8_t, uint64_t>(r, st, ".u8.64");
  store<Where, uint16_t, uint16_t>(r, st, ".u16.16");
  store<Where, uint16_t, uint32_t>(r, st, ".u16.32");
  store<Where, uint16_t, uint64_t>(r, st, ".u16.64");
  store<Where, uint32_t, uint32_t>(r, st, ".u32.32");
  store<Where, uint32_t, uint64_t>(r, st, ".u32.64");
  store<Where, uint64_t, uint64_t>(r, st, ".u64.64");
  store<Where, Wide128, Wide128>(r, st, ".b128.128");
}

// Kernel parameters: the same for every lane, at a fixed offset.
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
  using H = LoadParameter<M, D>;
  add_handler(r, "ld.param", suffix, &H::full, &H::masked, 0);
  add_handler(r, "ld.param", Spelling(suffix, ".v").text, &H::full, &H::masked, 0);
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
