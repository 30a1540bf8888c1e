#include "ptx/emulator/checks/deferred_reads.h"

#include <algorithm>
#include <utility>

namespace ptx::emulator {

DeferredReads::DeferredReads() {
  std::ranges::fill(none_.offsets, ~0ull);  // no access has its first lane there
}

ReadTrail** DeferredReads::trails_of(const Code& code) {
  std::vector<ReadTrail*>& trails = trails_of_code_[&code];
  if (trails.empty()) trails.assign(2 * code.instructions.size(), &none_);
  return trails.data();
}

uint64_t DeferredReads::hash_of(const Shape& shape) {
  uint64_t hash = uint64_t{shape.lanes} << 8 | shape.bytes;
  for (const uint64_t offset : shape.offsets) hash = (hash ^ offset ^ hash >> 29) * 0x9e3779b97f4a7c15ull;
  return hash;
}

bool DeferredReads::keeps_shape(const Trail& t, uint32_t lanes, uint32_t bytes, const uint64_t* addresses) {
  if (t.shape.lanes != lanes || t.shape.bytes != bytes) return false;
  const uint64_t first = addresses[std::countr_zero(lanes)];
  uint64_t difference = 0;
  for (uint32_t l = 0; l < kLanes; ++l)
    difference |= (addresses[l] - first - t.shape.offsets[l]) & (0 - uint64_t{lanes >> l & 1});
  return difference == 0;
}

void DeferredReads::take_no_shape(Trail& t) {
  static_cast<ReadTrail&>(t) = none_;
  t.shape = {};
  t.shape_number = t.record = kNone;
}

// Looks the shape up: it has no number the first time, or if such reads are never kept.
void DeferredReads::take_shape(Trail& t, uint32_t lanes, uint32_t bytes, const uint64_t* addresses) {
  take_no_shape(t);
  if (!std::has_single_bit(bytes) || bytes > 32) return;
  const uint64_t first = addresses[std::countr_zero(lanes)];
  Shape& shape = t.shape;
  int64_t low = 0, high = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    shape.offsets[l] = lanes >> l & 1 ? addresses[l] - first : 0;
    low = std::min(low, static_cast<int64_t>(shape.offsets[l]));
    high = std::max(high, static_cast<int64_t>(shape.offsets[l]));
  }
  shape.low = static_cast<uint64_t>(low);
  shape.high = static_cast<uint64_t>(high) + bytes - 1;
  shape.lanes = lanes;
  shape.bytes = bytes;
  std::ranges::copy(shape.offsets, t.offsets);
  t.lanes = lanes;
  number_shape(t);
}

void DeferredReads::number_shape(Trail& t) {
  const uint64_t hash = hash_of(t.shape);
  const auto found = shapes_by_hash_.find(hash);
  if (found != shapes_by_hash_.end()) {
    if (shapes_[found->second] == t.shape) t.shape_number = found->second;
    return;
  }
  uint64_t& seen = seen_once_[hash % seen_once_.size()];
  if (std::exchange(seen, hash) != hash) return;
  t.shape_number = shapes_by_hash_[hash] = static_cast<uint32_t>(shapes_.size());
  shapes_.push_back(t.shape);
}

bool DeferredReads::note(ReadTrail*& trail, uint64_t reader, uint32_t place, uint32_t lanes, uint32_t bytes,
                         const uint64_t* addresses) {
  if (!has_trail(trail)) {
    trails_.emplace_back().place = place;
    trail = &trails_.back();
  }
  Trail& t = static_cast<Trail&>(*trail);
  if (!keeps_shape(t, lanes, bytes, addresses)) {
    settle(t);
    take_shape(t, lanes, bytes, addresses);
  } else if (t.shape_number == kNone) {
    number_shape(t);
  }
  return resume(t, reader, addresses[std::countr_zero(lanes)]);
}

bool DeferredReads::resume(ReadTrail& trail, uint64_t reader, uint64_t address) {
  Trail& t = static_cast<Trail&>(trail);
  if (t.shape_number == kNone || (address & (t.shape.bytes - 1)) || is_full()) return false;
  const bool is_same = t.record != kNone && t.reader == reader;
  const bool is_second = is_same && address != t.next && t.next - t.step == records_[t.record].first;
  const bool goes_on = is_second || (is_same && address == t.next);
  const uint64_t step = is_second ? address - records_[t.record].first : t.step;
  const uint32_t record = goes_on ? t.record : static_cast<uint32_t>(records_.size());
  settle(t);
  if (!list_regions(t, record, address, goes_on)) return false;
  if (goes_on) {
    records_[record].step = step;
  } else {
    records_.push_back({address, step, reader, 1, t.shape_number, t.place});
  }
  t.record = record;
  t.reader = reader;
  t.step = step;
  t.next = address + step;
  t.unsettled = address;
  const uint64_t behind = address + t.shape.low - (t.listed_from << kGrainShift);
  const uint64_t ahead = ((t.listed_to + 1) << kGrainShift) - 1 - (address + t.shape.high);
  t.left = step == 0 ? ~0ull : static_cast<int64_t>(step) > 0 ? ahead / step : behind / (0 - step);
  return true;
}

// Finds the unwritten grains around an access and lists the record in their regions; false if it touches a written one.
bool DeferredReads::list_regions(Trail& t, uint32_t record, uint64_t address, bool goes_on) {
  uint64_t from = (address + t.shape.low) >> kGrainShift, to = (address + t.shape.high) >> kGrainShift;
  if (goes_on && from >= t.listed_from && to <= t.listed_to) return true;
  const uint64_t first = from / kGrains, last = to / kGrains;
  if (last - first >= kMaxRegions) return false;
  for (uint64_t number = first; number <= last; ++number) {
    if (region_of(number).written & bits_from(number, from) & bits_to(number, to)) return false;
  }
  const uint64_t below = region_of(first).written & ~bits_from(first, from);
  const uint64_t above = region_of(last).written & ~bits_to(last, to);
  from = first * kGrains + static_cast<uint64_t>(std::bit_width(below));
  to = last * kGrains + static_cast<uint64_t>(std::countr_zero(above)) - 1;
  for (uint64_t number = first; number <= last; ++number) {
    if (goes_on && number >= t.listed_from / kGrains && number <= t.listed_to / kGrains) continue;
    std::vector<uint32_t>& records = region_of(number).records;
    if (records.empty() || records.back() != record) records.push_back(record);
  }
  const bool joins = goes_on && from <= t.listed_to + 1 && to + 1 >= t.listed_from;
  t.listed_from = joins ? std::min(from, t.listed_from) : from;
  t.listed_to = joins ? std::max(to, t.listed_to) : to;
  return true;
}

// Brings the record's count, and its regions' knowledge of reads, up to date.
void DeferredReads::settle(Trail& t) {
  if (t.record == kNone) return;
  WaitingRead& read = records_[t.record];
  const int64_t step = static_cast<int64_t>(t.step);
  if (step != 0) read.count = static_cast<uint32_t>(static_cast<int64_t>(t.next - read.first) / step);
  const uint64_t last = t.next - t.step;
  const uint64_t from = ((step < 0 ? last : t.unsettled) + t.shape.low) >> kGrainShift;
  const uint64_t to = ((step < 0 ? t.unsettled : last) + t.shape.high) >> kGrainShift;
  for (uint64_t number = from / kGrains; number <= to / kGrains; ++number)
    region_of(number).read |= bits_from(number, from) & bits_to(number, to);
  t.unsettled = last;
}

}  // namespace ptx::emulator
