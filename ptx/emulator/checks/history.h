// Accessors of a word in a 32-bit reference: an event (a warp at an instruction) with a lane, or a set of such members.
// Sets are lists with shared tails, so words with equal readers hold equal references.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ptx::emulator {

// 0: none. Otherwise a lane (5 bits), an index (26 bits), and whether it refers to events or sets.
using Ref = uint32_t;
constexpr uint32_t kRefLaneBits = 5, kRefLanes = 31;
constexpr Ref kRefSet = 1u << 31;
constexpr uint32_t kMaxRefIndex = (1u << 26) - 2;

inline Ref ref_of(uint32_t index, uint32_t lane) { return index << kRefLaneBits | lane; }
inline uint32_t lane_of(Ref ref) { return ref & kRefLanes; }
inline Ref without_lane(Ref ref) { return ref & ~kRefLanes; }

// Global memory: a warp's accesses by one instruction at one clock, however many. Shared memory: each execution.
struct Event {
  uint32_t warp = 0, clock = 0;
  uint32_t place = 0;  // the instruction, in the launch's list
  uint32_t time = 0;   // warp barriers passed by the warp
};

class History {
 public:
  History() : events_(1), sets_(1) {}

  uint32_t add(const Event& event);  // returns its index
  const Event& event(uint32_t index) const { return events_[index]; }
  const Event& latest(Ref ref) const { return events_[latest_index(ref)]; }
  uint32_t latest_index(Ref ref) const { return ref & kRefSet ? sets_[index_of(ref)].event : index_of(ref); }
  Ref before_latest(Ref ref) const;  // the set without its latest member; 0 if there was only one
  uint32_t depth(Ref ref) const { return ref == 0 ? 0 : ref & kRefSet ? sets_[index_of(ref)].depth : 1; }
  uint32_t newest_warp(Ref ref) const { return ref & kRefSet ? sets_[index_of(ref)].newest_warp : latest(ref).warp; }

  // The set with one more member. alike: a reference with another lane stands for that lane in all members too.
  Ref with(Ref members, uint32_t event, uint32_t lane, bool alike);
  bool is_alike(Ref ref) const { return !(ref & kRefSet) || !sets_[index_of(ref)].other_lane; }

  // The members for which F(event, lane) holds, tested from the latest on.
  template <class F>
  Ref filtered(Ref members, F keep);
  bool wants_tidying(Ref ref) const {
    return ref & kRefSet && sets_[index_of(ref)].depth >= sets_[index_of(ref)].tidy_at;
  }

  // Calls F(event, lane) on the members, latest first, until it returns true; returns whether it did.
  template <class F>
  bool any(Ref members, F f) const {
    for (Ref ref = members; ref != 0; ref = before_latest(ref)) {
      if (f(latest(ref), lane_of(ref))) return true;
    }
    return false;
  }

  // Garbage collection: mark every reference in use, compact once, renumber every reference in use.
  bool is_full() const { return events_.size() > limit_ || sets_.size() > limit_; }
  void begin_marking();
  void mark(Ref ref);
  void compact();
  Ref renumbered(Ref ref) const;

 private:
  struct Set {
    Ref before = 0;  // its lane counts only if `other_lane`
    uint32_t event = 0;
    uint32_t newest_warp = 0;  // maximum over all members
    uint32_t depth : 31 = 0, other_lane : 1 = 0;
    uint32_t tidy_at = kTidyDepth;  // depth at which redundant members should be removed
  };
  static constexpr uint32_t kTidyDepth = 64;
  static uint32_t index_of(Ref ref) { return (ref & ~kRefSet) >> kRefLaneBits; }

  std::vector<Event> events_;
  std::vector<Set> sets_;
  size_t limit_ = 1u << 18;
  std::vector<uint32_t> new_event_, new_set_;  // while compacting: 0 if unused
};

template <class F>
Ref History::filtered(Ref members, F keep) {
  struct Kept {
    uint32_t event, lane;
    bool alike;
  };
  std::vector<Kept> kept;
  bool alike = true;  // with the previously kept member
  for (Ref ref = members; ref != 0; ref = before_latest(ref)) {
    if (keep(latest(ref), lane_of(ref))) {
      kept.push_back({latest_index(ref), lane_of(ref), alike});
      alike = true;
    }
    alike = alike && is_alike(ref);
  }
  Ref result = 0;
  for (size_t k = kept.size(); k-- > 0;) {
    const bool same = k + 1 < kept.size() && kept[k + 1].alike;
    result = with(result, kept[k].event, kept[k].lane, same);
  }
  if (result & kRefSet) {
    Set& set = sets_[index_of(result)];
    set.tidy_at = set.depth * 2 > kTidyDepth ? set.depth * 2 : kTidyDepth;
  }
  return result;
}

}  // namespace ptx::emulator
