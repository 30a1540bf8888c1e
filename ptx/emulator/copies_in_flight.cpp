#include "ptx/emulator/copies_in_flight.h"

#include <algorithm>
#include <cstring>

#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/launch_checks.h"
#include "ptx/emulator/syntax_tree.h"
#include "ptx/emulator/weak_memory.h"

namespace ptx::emulator {
namespace {

uint32_t thread_of(const Warp& w, uint32_t lane) { return w.warp_index * kLanes + lane; }

uint32_t& count_of(std::vector<uint32_t>& counts, uint32_t thread) {
  if (counts.size() <= thread) counts.resize(thread + 1);
  return counts[thread];
}

std::string place_of(const Warp& w, const AsyncCopy& copy) {
  const Code& code = code_of(w, *copy.instruction);
  return "line " + std::to_string(code.positions[copy.instruction->index].line) + " " +
         code.spellings[copy.instruction->index];
}

bool overlap(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes) { return a < b + b_bytes && b < a + a_bytes; }

// Reports the copy's write to the checks, as an access by its thread.
void tell_checks(Warp& w, const AsyncCopy& copy) {
  LaunchChecks* checks = w.block->launch->checks;
  if (!checks) return;
  const uint32_t lane = copy.thread % kLanes;
  Warp& issuer = w.block->warps[copy.thread / kLanes];
  uint64_t addresses[kLanes] = {};
  addresses[lane] = copy.into_shared ? copy.shared : copy.global;
  const Space space = copy.into_shared ? Space::shared : Space::global;
  const AccessKind kind = copy.reduce ? AccessKind::kReduction : AccessKind::kStore;
  checks->access(issuer, *copy.instruction, kind, static_cast<uint32_t>(space), 1u << lane, copy.bytes + copy.zeros,
                 addresses);
}

}  // namespace

CopiesInFlight& copies_of(Warp& w) {
  if (!w.block->copies) w.block->copies = std::make_unique<CopiesInFlight>();
  return *w.block->copies;
}

CopiesInFlight::Arrivals land_copies_at(Warp& w, uint64_t barrier) {
  return w.block->copies ? w.block->copies->land_at(w, barrier) : CopiesInFlight::Arrivals{};
}

void CopiesInFlight::issue(Warp& w, AsyncCopy copy) {
  copy.group = count_of(commits_[copy.is_bulk], copy.thread);
  const bool checked = w.block->launch->request.options.checks.shared_races;
  if (checked && copy.is_bulk && !copy.into_shared && !is_fenced(copy)) {
    return fault_at_lane(w, *copy.instruction, FaultKind::kSharedRace, copy.thread % kLanes, copy.shared, copy.bytes,
                         "which ordinary stores wrote without a fence.proxy.async since");
  }
  Choices* choices = w.block->launch->choices;
  if (choices && choices->one_in(2)) move(w, copy);  // a copy may complete early
  mark(copy, 1);
  copies_.push_back(copy);
}

void CopiesInFlight::mark(const AsyncCopy& copy, int step) {
  const size_t first = copy.shared / 4, end = (copy.shared + copy.bytes + copy.zeros + 3) / 4;
  if (busy_.size() < end) busy_.resize(end);
  for (size_t word = first; word < end; ++word) busy_[word] = static_cast<uint16_t>(busy_[word] + step);
}

void CopiesInFlight::forget(AsyncCopy& copy) {
  mark(copy, -1);
  copy.instruction = nullptr;
}

void CopiesInFlight::sweep() {
  std::erase_if(copies_, [](const AsyncCopy& copy) { return copy.instruction == nullptr; });
}

void CopiesInFlight::commit(Warp& w, uint32_t lanes, bool bulk) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (lanes >> l & 1) ++count_of(commits_[bulk], thread_of(w, l));
  }
}

void CopiesInFlight::wait(Warp& w, uint32_t lanes, bool bulk, uint32_t n, bool open, bool read) {
  for (AsyncCopy& copy : copies_) {
    if (copy.is_bulk != bulk || copy.has_barrier || copy.thread / kLanes != w.warp_index) continue;
    if (!(lanes >> copy.thread % kLanes & 1)) continue;
    const uint64_t last = uint64_t{copy.group} + n + (open ? 0 : 1);
    if (last > count_of(commits_[bulk], copy.thread)) continue;
    if (read) {
      move(w, copy);
      copy.was_read = true;
    } else {
      land(w, copy);
    }
  }
  sweep();
}

void CopiesInFlight::attach(Warp& w, uint32_t lane, uint64_t barrier) {
  for (AsyncCopy& copy : copies_) {
    if (copy.is_bulk || copy.has_barrier || copy.thread != thread_of(w, lane)) continue;
    copy.has_barrier = true;
    copy.barrier = barrier;
    tell_checks(w, copy);
  }
  due_.push_back({barrier});
}

CopiesInFlight::Arrivals CopiesInFlight::land_at(Warp& w, uint64_t barrier) {
  Arrivals arrivals;
  for (AsyncCopy& copy : copies_) {
    if (!copy.has_barrier || copy.barrier != barrier) continue;
    if (copy.is_bulk) arrivals.bytes += static_cast<int32_t>(copy.bytes);
    move(w, copy);
    forget(copy);
  }
  sweep();
  arrivals.threads = static_cast<uint32_t>(std::erase_if(due_, [&](const Due& due) { return due.barrier == barrier; }));
  return arrivals;
}

// Data of a completed wait becomes usable, first by its own thread.
void CopiesInFlight::land(Warp& w, AsyncCopy& copy) {
  move(w, copy);
  tell_checks(w, copy);
  forget(copy);
}

void CopiesInFlight::move(Warp& w, AsyncCopy& copy) {
  if (copy.done) return;
  copy.done = true;
  BlockState& block = *w.block;
  WeakMemory* weak = block.launch->weak;
  uint8_t* shared = block.shared.get() + copy.shared;
  uint8_t* global = reinterpret_cast<uint8_t*>(copy.global);
  if (copy.reduce) {
    if (weak) weak->before_atomic(block, copy.global, copy.bytes);
    copy.reduce(global, shared, copy.bytes);
  } else if (!copy.into_shared) {
    if (weak)
      weak->write(block, copy.global, copy.bytes, shared);
    else
      std::memcpy(global, shared, copy.bytes);
  } else {
    if (weak)
      weak->read(block, copy.global, copy.bytes, shared);
    else
      std::memcpy(shared, global, copy.bytes);
    std::memset(shared + copy.bytes, 0, copy.zeros);
  }
}

void CopiesInFlight::check(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                           const uint64_t* offsets) {
  bool is_busy = false;
  for (uint32_t l = 0; l < kLanes; ++l) {
    const size_t end = std::min<size_t>((offsets[l] + bytes + 3) / 4, busy_.size());
    for (size_t word = offsets[l] / 4; (lanes >> l & 1) && word < end; ++word) is_busy = is_busy || busy_[word] != 0;
  }
  if (!is_busy) return;
  for (const AsyncCopy& copy : copies_) {
    const bool may_read = !copy.into_shared;  // only its source is in shared memory
    if (may_read && (kind == AccessKind::kLoad || copy.was_read)) continue;
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1) || !overlap(offsets[l], bytes, copy.shared, copy.bytes + copy.zeros)) continue;
      const std::string what = may_read                    ? "while the copy of "
                               : kind == AccessKind::kLoad ? "before the copy of "
                                                           : "while the copy of ";
      const std::string end = may_read                    ? " may still read it"
                              : kind == AccessKind::kLoad ? " is waited for"
                                                          : " may still write it";
      return fault_at_lane(w, i, FaultKind::kSharedRace, l, offsets[l], bytes, what + place_of(w, copy) + end);
    }
  }
}

void CopiesInFlight::wrote(uint32_t lanes, uint32_t bytes, const uint64_t* offsets) {
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1) || offsets[l] + bytes > kWindowBytes) continue;
    if (unfenced_.size() < offsets[l] + bytes) unfenced_.resize(offsets[l] + bytes);
    std::fill_n(unfenced_.begin() + static_cast<std::ptrdiff_t>(offsets[l]), bytes, true);
  }
}

bool CopiesInFlight::is_fenced(const AsyncCopy& copy) const {
  const size_t end = std::min<size_t>(copy.shared + copy.bytes, unfenced_.size());
  if (copy.shared >= end) return true;
  const auto first = unfenced_.begin() + static_cast<std::ptrdiff_t>(copy.shared);
  return std::find(first, unfenced_.begin() + static_cast<std::ptrdiff_t>(end), true) ==
         unfenced_.begin() + static_cast<std::ptrdiff_t>(end);
}

void CopiesInFlight::end(BlockState& block) {
  for (AsyncCopy& copy : copies_) {
    if (copy.into_shared) continue;
    Warp& w = block.warps[copy.thread / kLanes];
    if (!copy.was_read && block.launch->request.options.checks.shared_races) {
      return fault_at_lane(w, *copy.instruction, FaultKind::kSharedRace, copy.thread % kLanes, copy.shared, copy.bytes,
                           "but no thread waits for it: the block's shared memory may be gone before");
    }
    move(w, copy);
  }
  copies_.clear();
}

}  // namespace ptx::emulator
