#include "ptx/emulator/checks/history.h"

#include <algorithm>
#include <stdexcept>

namespace ptx::emulator {

uint32_t History::add(const Event& event) {
  if (events_.size() > kMaxRefIndex) throw std::length_error("the race check holds more accesses than it can number");
  events_.push_back(event);
  return static_cast<uint32_t>(events_.size() - 1);
}

Ref History::before_latest(Ref ref) const {
  if (!(ref & kRefSet)) return 0;
  const Set& set = sets_[index_of(ref)];
  return set.other_lane ? set.before : set.before | lane_of(ref);
}

Ref History::with(Ref members, uint32_t event, uint32_t lane, bool alike) {
  if (members == 0) return ref_of(event, lane);
  if (sets_.size() > kMaxRefIndex) throw std::length_error("the race check holds more readers than it can number");
  Set set;
  set.other_lane = !alike;
  set.before = set.other_lane ? members : without_lane(members);
  set.event = event;
  set.newest_warp = std::max(newest_warp(members), events_[event].warp);
  set.depth = depth(members) + 1;
  if (members & kRefSet) set.tidy_at = sets_[index_of(members)].tidy_at;
  sets_.push_back(set);
  return kRefSet | ref_of(static_cast<uint32_t>(sets_.size() - 1), lane);
}

void History::begin_marking() {
  new_event_.assign(events_.size(), 0);
  new_set_.assign(sets_.size(), 0);
}

void History::mark(Ref ref) {
  while (ref & kRefSet) {
    if (new_set_[index_of(ref)]) return;
    const Set& set = sets_[index_of(ref)];
    new_set_[index_of(ref)] = 1;
    new_event_[set.event] = 1;
    ref = set.before;
  }
  new_event_[index_of(ref)] = 1;
}

void History::compact() {
  uint32_t n_events = 0, n_sets = 0;
  new_event_[0] = new_set_[0] = 1;
  for (uint32_t k = 0; k < events_.size(); ++k) {
    if (!new_event_[k]) continue;
    events_[n_events] = events_[k];
    new_event_[k] = n_events++;
  }
  for (uint32_t k = 0; k < sets_.size(); ++k) {
    if (!new_set_[k]) continue;
    Set set = sets_[k];  // its members have been renumbered already
    new_set_[k] = n_sets;
    set.event = new_event_[set.event];
    set.before = renumbered(set.before);
    sets_[n_sets++] = set;
  }
  events_.resize(n_events);
  sets_.resize(n_sets);
  limit_ = std::max<size_t>(1u << 18, 2 * std::max(events_.size(), sets_.size()));
}

Ref History::renumbered(Ref ref) const {
  const uint32_t index = ref & kRefSet ? new_set_[index_of(ref)] : new_event_[index_of(ref)];
  return (ref & kRefSet) | ref_of(index, lane_of(ref));
}

}  // namespace ptx::emulator
