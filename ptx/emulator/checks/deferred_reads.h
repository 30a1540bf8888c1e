// Reads of global memory not yet written in this launch. They race with nothing so far, and are kept in records until a
// write to their page. A record covers a warp's reads by one instruction at one clock, as long as the lanes keep their
// offsets from the first lane, which advances by a constant step.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "ptx/emulator/checks/shadow.h"
#include "ptx/emulator/code.h"

namespace ptx::emulator {

struct WaitingRead {
  uint64_t first = 0, step = 0;  // initial address of the first lane, and its step
  uint64_t reader = 0;           // warp and clock
  uint32_t count = 1, shape = 0, place = 0;
};

class DeferredReads {
 public:
  DeferredReads();

  // Two per instruction, for reads by all lanes and by some; none_ until note() creates one.
  ReadTrail** trails_of(const Code& code);

  // Whether the read of `lanes` is kept here. If not, the caller must record the reader.
  bool note(ReadTrail*& trail, uint64_t reader, uint32_t place, uint32_t lanes, uint32_t bytes,
            const uint64_t* addresses);
  bool has_trail(const ReadTrail* trail) const { return trail != &none_; }
  // The same for a read with the trail's shape, given the first lane's address.
  bool resume(ReadTrail& trail, uint64_t reader, uint64_t address);

  bool is_full() const { return records_.size() > kMaxRecords || shapes_.size() > kMaxShapes; }

  // Calls F(read, lane, address, bytes) for each lane of the reads kept for an address's grain, earliest first. Later
  // reads there are no longer kept.
  template <class F>
  void end_waiting(uint64_t address, F f);
  // The same for all grains; later reads may be kept again.
  template <class F>
  void end_all(F f);

 private:
  static constexpr size_t kMaxRecords = 1u << 22, kMaxShapes = 1u << 16;
  static constexpr uint32_t kGrainShift = ShadowPage::kGrainShift, kGrains = 64;  // per region
  static constexpr uint64_t kMaxRegions = 64;                                     // spanned by one access
  static constexpr uint32_t kNone = ~0u;

  struct Shape {  // of an access: the lanes' distances from the first lane
    std::array<uint64_t, kLanes> offsets;
    uint64_t low = 0, high = 0;  // over all bytes, relative to the first lane's address; low is negative or 0
    uint32_t lanes = 0, bytes = 0;
    bool operator==(const Shape&) const = default;
  };
  struct Trail : ReadTrail {
    Shape shape;
    uint32_t shape_number = kNone;  // none: seen once
    uint32_t record = kNone, place = 0;
    uint64_t unsettled = 0;  // address of the first lane's first read since the trail was settled
    // Unwritten grains, in regions that list the record; from > to: none.
    uint64_t listed_from = 1, listed_to = 0;
  };
  struct Region {
    uint64_t written = 0, read = 0;  // one bit per grain; reads by trails are included once settled
    std::vector<uint32_t> records;
  };
  struct Recent {
    uint64_t number = ~0ull;
    Region* region = nullptr;
  };

  // Bit mask of the grains in region `number`, from (or up to) a grain in any region.
  static uint64_t bits_from(uint64_t number, uint64_t grain) {
    return number > grain / kGrains ? ~0ull : ~0ull << grain % kGrains;
  }
  static uint64_t bits_to(uint64_t number, uint64_t grain) {
    return number < grain / kGrains ? ~0ull : ~0ull >> (kGrains - 1 - grain % kGrains);
  }
  Region& region_of(uint64_t number) {
    Recent& recent = recent_[number % recent_.size()];
    if (recent.number != number) recent = {number, &regions_[number]};
    return *recent.region;
  }
  static uint64_t hash_of(const Shape& shape);
  static bool keeps_shape(const Trail& t, uint32_t lanes, uint32_t bytes, const uint64_t* addresses);
  void take_no_shape(Trail& t);
  void take_shape(Trail& t, uint32_t lanes, uint32_t bytes, const uint64_t* addresses);
  void number_shape(Trail& t);
  bool list_regions(Trail& t, uint32_t record, uint64_t address, bool goes_on);
  void settle(Trail& t);
  template <class F>
  void each_within(const WaitingRead& read, uint64_t start, uint64_t last, F f) const;

  ReadTrail none_;
  std::unordered_map<const Code*, std::vector<ReadTrail*>> trails_of_code_;
  std::deque<Trail> trails_;
  std::vector<WaitingRead> records_;
  std::vector<Shape> shapes_;
  std::unordered_map<uint64_t, uint32_t> shapes_by_hash_;
  std::array<uint64_t, 1024> seen_once_{};  // hashes of some shapes without a number
  std::unordered_map<uint64_t, Region> regions_;
  std::array<Recent, 64> recent_;
};

// Calls F for reads that touch [start, last], with their lanes there.
template <class F>
void DeferredReads::each_within(const WaitingRead& read, uint64_t start, uint64_t last, F f) const {
  const Shape& shape = shapes_[read.shape];
  const bool backward = static_cast<int64_t>(read.step) < 0;
  const uint64_t step = backward ? 0 - read.step : read.step, steps = step ? read.count - 1 : 0;
  const uint64_t lowest = backward ? read.first - steps * step : read.first;
  const uint64_t from = lowest + shape.low, to = lowest + shape.high;  // bytes of the lowest read
  if (from > last || to + steps * step < start) return;
  const uint64_t begin = to < start ? (start - to + step - 1) / step : 0;
  const uint64_t end = step ? std::min(steps, (last - from) / step) : 0;
  for (uint64_t n = begin; n <= end; ++n) {
    for (uint32_t left = shape.lanes; left != 0; left &= left - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
      const uint64_t address = lowest + n * step + shape.offsets[lane];
      if (address >= start && address <= last) f(read, lane, address, shape.bytes);
    }
  }
}

template <class F>
void DeferredReads::end_waiting(uint64_t address, F f) {
  const uint64_t grain = address >> kGrainShift, start = grain << kGrainShift;
  Region& region = region_of(grain / kGrains);
  const uint64_t bit = 1ull << grain % kGrains;
  if (region.written & bit) return;
  region.written |= bit;
  if (region.records.empty()) return;
  for (Trail& t : trails_) {
    settle(t);
    if (grain < t.listed_from || grain > t.listed_to) continue;
    t.left = 0;
    t.listed_from = 1, t.listed_to = 0;
  }
  if (!(region.read & bit)) return;
  for (const uint32_t record : region.records) each_within(records_[record], start, start + (1u << kGrainShift) - 1, f);
  if (region.written == ~0ull) std::vector<uint32_t>().swap(region.records);
}

template <class F>
void DeferredReads::end_all(F f) {
  for (Trail& t : trails_) settle(t);
  for (auto& numbered : regions_) {
    auto& region = numbered.second;
    const uint64_t start = numbered.first * kGrains << kGrainShift;
    const uint64_t last = start + (uint64_t{kGrains} << kGrainShift) - 1;
    const auto waits = [&](const WaitingRead& read, uint32_t lane, uint64_t address, uint32_t bytes) {
      if (!(region.written >> ((address - start) >> kGrainShift) & 1)) f(read, lane, address, bytes);
    };
    for (const uint32_t record : region.records) each_within(records_[record], start, last, waits);
    region.records.clear();
    region.read = 0;
  }
  for (Trail& t : trails_) take_no_shape(t);
  records_.clear();
  shapes_.clear();
  shapes_by_hash_.clear();
}

}  // namespace ptx::emulator
