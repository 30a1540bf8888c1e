// Rules of the race check: which accesses are ordered, which are remembered, and how findings are worded.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ptx/emulator/checks/races.h"

namespace ptx::emulator {
namespace {

constexpr uint32_t kStrongRemembered = 64;  // strong accesses kept per word; older ones are dropped

}  // namespace

bool Races::is_ordered(const Visit& v, const Event& earlier, uint32_t earlier_lane, uint32_t lane) const {
  const WarpChecks& me = v.warp;
  if (earlier.warp != me.number) return me.clock.of(earlier.warp) >= earlier.clock;
  if (!v.lanes_matter || &earlier == &v.shadow.history.event(v.recent.event)) return true;
  const bool by_any_lane = v.place.is_collective || places_[earlier.place].is_collective;
  if (earlier_lane == lane && !by_any_lane) return true;
  if (me.clock.of(earlier.warp) > earlier.clock) return true;  // by a block barrier, or a release with what preceded it
  if (by_any_lane) return me.lanes.all_know(earlier.time);
  return me.lanes.knows(lane, earlier_lane, earlier.time);
}

// Whether a lane's store leaves the bytes unchanged.
bool Races::stores_what_is_there(const Visit& v, uint32_t lane) const {
  if (!v.stores) return false;
  const uint64_t address = v.addresses[lane];
  const uint8_t* there = v.lanes_matter ? v.w.shared + address : reinterpret_cast<const uint8_t*>(address);
  const uint8_t* stored = static_cast<const uint8_t*>(v.w.stored);
  const uint32_t unit = std::min(v.bytes, 8u);
  for (uint32_t piece = 0; piece * unit < v.bytes; ++piece) {
    if (std::memcmp(stored + (piece * kLanes + lane) * unit, there + piece * unit, unit) != 0) return false;
  }
  return true;
}

bool Races::accept_write(Visit& v, Ref write, uint32_t lane) {
  const Event& earlier = v.shadow.history.latest(write);
  if (is_ordered(v, earlier, lane_of(write), lane)) {
    if (!v.lanes_matter || earlier.warp != v.warp.number) v.recent.ordered_write = write >> kRefLaneBits;
    return true;
  }
  if (!v.races_count) return true;
  if (!checks_.equal_stores && stores_what_is_there(v, lane)) {
    v.alike = false;
    return true;
  }
  return report(v, v.race_kind(), earlier, lane_of(write), true);
}

bool Races::accept_readers(Visit& v, Ref readers, uint32_t lane) {
  History& history = v.shadow.history;
  for (Ref ref = readers; v.lanes_matter && ref != 0; ref = history.before_latest(ref)) {
    v.alike = v.alike && history.is_alike(ref);
  }
  const bool refused = history.any(readers, [&](const Event& earlier, uint32_t earlier_lane) {
    if (v.read_only_counts && places_[earlier.place].is_read_only)
      return !report(v, FaultKind::kReadOnlyWritten, earlier, earlier_lane, false);
    if (!v.races_count || is_ordered(v, earlier, earlier_lane, lane)) return false;
    return !report(v, v.race_kind(), earlier, earlier_lane, false);
  });
  if (refused) return false;
  if (!v.lanes_matter) v.recent.ordered_readers = without_lane(readers);
  return true;
}

// Strong accesses race with weak ones, and with each other if a scope excludes the other block.
bool Races::accept_strong(Visit& v, Ref others, uint32_t lane, bool wrote) {
  if (others == 0 || !v.races_count || (v.place.is_strong && !any_narrow_)) return true;
  const uint32_t n_warps = static_cast<uint32_t>(v.w.block->warps.size());
  return !v.shadow.history.any(others, [&](const Event& earlier, uint32_t earlier_lane) {
    const bool narrow = v.place.is_narrow || places_[earlier.place].is_narrow;
    if (v.place.is_strong && !(narrow && earlier.warp / n_warps != v.warp.number / n_warps)) return false;
    if (is_ordered(v, earlier, earlier_lane, lane)) return false;
    return !report(v, v.race_kind(), earlier, earlier_lane, wrote);
  });
}

// Readers ordered before this one need not be remembered: any access that races with them races with this one too.
Ref Races::with_reader(Visit& v, Ref readers, uint32_t lane) {
  History& history = v.shadow.history;
  const uint32_t event = v.recent.event;
  bool alike = lane_of(readers) == lane;
  if (history.latest_index(readers) == event) {
    if (!v.lanes_matter || alike) return readers;
    // Two lanes of one access suffice: a later lane differs from one of them.
    const Ref before = history.before_latest(readers);
    if (before != 0 && history.latest_index(before) == event) return readers;
    v.alike = false;
    return history.with(readers, event, lane, false);
  }
  Ref kept = readers;
  const auto may_go = [&](const Event& e, uint32_t e_lane) {
    if (v.read_only_counts && places_[e.place].is_read_only && !v.place.is_read_only) return false;
    return is_ordered(v, e, e_lane, lane);
  };
  while (kept != 0 && may_go(history.latest(kept), lane_of(kept))) {
    alike = alike && history.is_alike(kept);
    kept = history.before_latest(kept);
  }
  for (Ref ref = kept; ref != 0 && history.newest_warp(ref) >= v.warp.number; ref = history.before_latest(ref)) {
    if (history.latest_index(ref) != event || (v.lanes_matter && lane_of(ref) != lane)) continue;
    v.alike = v.alike && alike;
    return kept;
  }
  if (history.wants_tidying(kept)) kept = tidied(v, kept);
  const Ref result = history.with(kept, event, lane, alike);
  v.alike = v.alike && alike;
  if (alike) {
    v.recent.from = without_lane(readers);
    v.recent.to = without_lane(result);
  }
  return result;
}

// The latest of several reads by one warp (in shared memory: by one lane) represents the others. Delayed reads may
// follow later ones.
Ref Races::tidied(Visit& v, Ref members) {
  std::unordered_map<uint64_t, uint32_t> seen;  // by reader: latest clock
  return v.shadow.history.filtered(members, [&](const Event& e, uint32_t lane) {
    const uint64_t key = uint64_t{e.warp} << 8 | (v.lanes_matter ? lane << 1 : 0) | places_[e.place].is_read_only;
    uint32_t& clock = seen[key];
    const bool is_news = e.clock > clock;
    clock = std::max(clock, e.clock);
    return is_news;
  });
}

Ref Races::with_strong(Visit& v, Ref members, uint32_t lane) {
  History& history = v.shadow.history;
  while (members != 0 && is_ordered(v, history.latest(members), lane_of(members), lane))
    members = history.before_latest(members);
  if (history.depth(members) >= kStrongRemembered) members = 0;
  return history.with(members, v.recent.event, lane, false);
}

// Always returns false: the lane races.
bool Races::report(Visit& v, FaultKind kind, const Event& earlier, uint32_t earlier_lane, bool wrote) const {
  const uint32_t n_warps = static_cast<uint32_t>(v.w.block->warps.size());
  const LaunchRequest& request = v.w.block->launch->request;
  const auto position = [](uint64_t linear, const Dim3& of) {
    const uint64_t x = linear % of.x, y = linear / of.x % of.y, z = linear / of.x / of.y;
    const std::string text = std::to_string(x);
    return y == 0 && z == 0 ? text : text + "," + std::to_string(y) + "," + std::to_string(z);
  };
  const char* how = wrote ? "written" : "read";
  const char* why = kind != FaultKind::kReadOnlyWritten ? " without order by "
                    : wrote                             ? " in this launch by "
                                                        : " in this launch without coherence by ";
  v.kind = kind;
  v.finding = how + (why + places_[earlier.place].text) + " in block " +
              position(earlier.warp / n_warps, request.grid) + " thread " +
              position(uint64_t{earlier.warp % n_warps} * kLanes + earlier_lane, request.block);
  return false;
}

}  // namespace ptx::emulator
