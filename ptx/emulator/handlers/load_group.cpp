// First load of a group: fetches the bytes of all its loads and fills their registers, if every lane may read all of
// them; otherwise each load runs separately.
#include "ptx/emulator/handlers/pointers.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

template <class M, class D>
[[gnu::always_inline]] inline void fill(D* d, const uint64_t* units, uint32_t shift, uint32_t lanes) {
  const auto value = [=](uint64_t unit) {
    return static_cast<D>(sizeof(D) == sizeof(M) ? unit >> shift : element<M>(unit, shift));
  };
  if (lanes == kAllLanes) {
    EMULATOR_LANES d[l] = value(units[l]);
    return;
  }
  alignas(64) D fresh[kLanes];
  EMULATOR_LANES fresh[l] = value(units[l]);
  keep_active(d, fresh, lanes);
}

template <class D>
void fill_as(const GroupedLoad& load, D* d, const uint64_t* units, uint32_t lanes) {
  switch (load.bytes * (load.extends_sign ? -1 : 1)) {
    case 1:
      return fill<uint8_t>(d, units, load.shift, lanes);
    case -1:
      return fill<int8_t>(d, units, load.shift, lanes);
    case 2:
      return fill<uint16_t>(d, units, load.shift, lanes);
    case -2:
      return fill<int16_t>(d, units, load.shift, lanes);
    case 4:
      return fill<uint32_t>(d, units, load.shift, lanes);
    default:
      return fill<int32_t>(d, units, load.shift, lanes);
  }
}

template <bool observed>
bool fetch_group(Warp& w, const Instruction& i, uint32_t lanes) {
  const LoadGroup& group = w.groups[i.list];
  const uint64_t bit = uint64_t{1} << group.slot;
  w.fetched &= ~bit;
  if (observed && !w.needs_only_granted_checks) return false;
  const Range& range = observed ? w.granted[i.index] : w.ranges[i.index];
  Addresses at = Addresses::from(column<uint64_t>(w, i.a), static_cast<uint64_t>(group.begin));
  if (range.bytes < group.bytes || !at.within(lanes, range.start, range.bytes - group.bytes, group.align - 1))
    return false;
  prefetch_behind(at, group.bytes);
  alignas(64) uint64_t units[kMaxUnits * kLanes];
  uint32_t begin = 0;
  for (uint32_t u = 0; u * kUnitBytes < group.bytes; ++u) {
    const uint32_t next = (u + 1) * kUnitBytes < group.bytes ? u * kUnitBytes : group.bytes - kUnitBytes;
    at.add(next - begin);
    begin = next;
    gather(units + u * kLanes, at, lanes);
  }
  for (uint32_t l = 0; l < group.n_loads; ++l) {
    const GroupedLoad& load = w.grouped_loads[group.first_load + l];
    const uint64_t* from = units + load.unit * kLanes;
    if (load.column_bytes == 2)
      fill_as(load, column<uint16_t>(w, load.column), from, lanes);
    else if (load.column_bytes == 4)
      fill_as(load, column<uint32_t>(w, load.column), from, lanes);
    else
      fill_as(load, column<uint64_t>(w, load.column), from, lanes);
  }
  w.fetched |= bit;
  return true;
}

template <bool observed>
void full(Warp& w, const Instruction& i) {
  if (!fetch_group<observed>(w, i, kAllLanes)) w.inner[i.index].full(w, i);
}
template <bool observed>
void masked(Warp& w, const Instruction& i) {
  if (!fetch_group<observed>(w, i, w.active)) w.inner[i.index].masked(w, i);
}

}  // namespace

void register_load_group(Registry& r) {
  add_handler(r, "load_group", "", &full<false>, &masked<false>, 0);
  add_handler(r, "!load_group", "", &full<true>, &masked<true>, 0);
}

}  // namespace ptx::emulator::EMULATOR_ISA
