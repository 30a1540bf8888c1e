#include "ptx/emulator/checks/launch_checks.h"

#include <bit>

#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {
namespace {

uint32_t order_of(const Instruction& i) { return i.flags >> access::kOrderShift & 7; }
uint32_t scope_of(const Instruction& i) { return i.flags >> access::kScopeShift & 3; }

WarpChecks& warp_checks(const Warp& w) { return w.block->checks->warps[w.warp_index]; }

}  // namespace

LaunchChecks::LaunchChecks(LaunchContext& launch) : launch_(launch), checks_(launch.request.options.checks) {}

void LaunchChecks::begin_block(BlockState& block) {
  auto state = std::make_shared<BlockChecks>();
  const uint32_t n = static_cast<uint32_t>(block.warps.size()), first = static_cast<uint32_t>(block.linear) * n;
  state->warps.resize(n);
  for (uint32_t k = 0; k < n; ++k) {
    state->warps[k].number = first + k;
    state->warps[k].clock = Clock(first, n);
    state->warps[k].clock.raise(first + k, 1);
  }
  state->shared_initialised.assign(block.shared_bytes, 0);
  if (checks_.shared_races) state->shared_cells.resize((block.shared_bytes + 3) / 4);
  block.checks = std::move(state);
}

void LaunchChecks::end_block(BlockState& block) { block.checks.reset(); }

uint32_t LaunchChecks::access(Warp& w, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes,
                              uint32_t bytes, const uint64_t* addresses) {
  ++warp_checks(w).instance;
  switch (static_cast<Space>(space)) {
    case Space::global:
    case Space::constant:
      return global(w, i, kind, lanes, bytes, addresses);
    case Space::shared:
      return shared(w, i, kind, lanes, bytes, addresses);
    case Space::generic:
      break;
    default:
      return lanes;
  }
  uint64_t offsets[kLanes];
  uint32_t in_shared = 0, in_global = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    if (addresses[l] < kSharedWindow)
      in_global |= 1u << l;
    else if (addresses[l] - kSharedWindow < kWindowBytes)
      in_shared |= 1u << l;
    offsets[l] = addresses[l] - kSharedWindow;
  }
  uint32_t allowed = lanes & ~in_shared & ~in_global;
  if (in_global) allowed |= global(w, i, kind, in_global, bytes, addresses);
  if (in_shared) allowed |= shared(w, i, kind, in_shared, bytes, offsets);
  return allowed;
}

bool LaunchChecks::inside(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes) {
  if (address - recent_.address < recent_.bytes && recent_.bytes - (address - recent_.address) >= bytes) return true;
  const auto found = launch_.memory->find(address);
  if (found) recent_ = *found;
  if (found && found->bytes - (address - found->address) >= bytes) return true;
  if (!checks_.bounds) return false;
  const bool freed = !found && launch_.memory->find_freed(address).has_value();
  fault_at(w, i, freed ? FaultKind::kFreedMemory : FaultKind::kOutOfBounds, lane, address, bytes);
  return false;
}

bool LaunchChecks::initialised(Warp& w, const Instruction& i, AccessKind kind, uint32_t lane, uint64_t address,
                               uint32_t bytes) {
  if (kind == AccessKind::kStore) {
    recent_.written->mark(address - recent_.address, bytes);
    return true;
  }
  const uint32_t element = i.count > 1 && bytes % i.count == 0 ? bytes / i.count : bytes;
  const uint32_t unread = code_of(w, i).unread_elements[i.index];
  for (uint32_t e = 0; e * element < bytes; ++e) {
    if ((unread >> e & 1) || recent_.written->any(address + e * element - recent_.address, element)) continue;
    fault_at(w, i, FaultKind::kUninitialised, lane, address + e * element, element);
    return false;
  }
  if (kind == AccessKind::kAtomic || kind == AccessKind::kReduction)
    recent_.written->mark(address - recent_.address, bytes);
  return true;
}

uint32_t LaunchChecks::global(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                              const uint64_t* addresses) {
  WarpChecks& warp = warp_checks(w);
  Touch touch;
  touch.warp = &warp;
  touch.instruction = &i;
  touch.bytes = bytes;
  touch.writes = kind != AccessKind::kLoad;
  touch.reads = kind != AccessKind::kStore;
  touch.is_strong = order_of(i) != access::kWeak || kind == AccessKind::kAtomic || kind == AccessKind::kReduction;
  touch.is_read_only = (i.flags & access::kReadOnly) != 0;
  uint32_t allowed = 0;
  const uint32_t block = static_cast<uint32_t>(w.block->linear);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint64_t address = addresses[l];
    if (!inside(w, i, l, address, bytes)) {
      if (w.faulted) continue;
      allowed |= 1u << l;  // the machine itself judges it
      continue;
    }
    if (checks_.uninitialised && !initialised(w, i, kind, l, address, bytes)) continue;
    touch.lane = l;
    touch.address = address;
    std::string race;
    if (checks_.read_only && (touch.is_read_only || touch.writes)) {
      race = races_.read_only_conflict(w, touch);
      if (!race.empty()) {
        fault_at_lane(w, i, FaultKind::kReadOnlyWritten, l, address, bytes, race);
        continue;
      }
    }
    if (checks_.global_races && !recent_.is_constant) race = races_.touch_global(w, touch);
    if (!race.empty()) {
      fault_at_lane(w, i, FaultKind::kGlobalRace, l, address, bytes, race);
      continue;
    }
    allowed |= 1u << l;
  }
  if (w.faulted || !touch.is_strong) return allowed;
  synchronise(w, i, kind, allowed, addresses, block);
  return allowed;
}

// Strong accesses hand clocks over: release and acquire by themselves, relaxed ones with the fences around them.
void LaunchChecks::synchronise(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes,
                               const uint64_t* addresses, uint32_t block) {
  using namespace ptx::emulator::access;
  WarpChecks& warp = warp_checks(w);
  const uint32_t order = order_of(i), scope = scope_of(i);
  bool released = false;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint64_t address = addresses[l];
    if (kind == AccessKind::kLoad || kind == AccessKind::kAtomic) {
      if (const Clock* seen = races_.acquired(address, scope, block)) {
        if (order == kAcquire || order == kAcqRel) {
          warp.clock.join(*seen);
        } else {
          warp.pending.join(*seen);
          warp.has_pending = true;
        }
      }
    }
    if (kind == AccessKind::kLoad) continue;
    const bool joins = kind != AccessKind::kStore;
    if (order == kRelease || order == kAcqRel) {
      races_.release(warp, address, warp.clock, scope, block, joins);
      released = true;
    } else if (warp.has_fence) {
      races_.release(warp, address, warp.fence, std::min(scope, warp.fence_scope), block, joins);
    }
  }
  if (released) warp.clock.raise(warp.number, warp.clock.of(warp.number) + 1);
}

uint32_t LaunchChecks::shared(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                              const uint64_t* offsets) {
  BlockChecks& block = *w.block->checks;
  WarpChecks& warp = warp_checks(w);
  Touch touch;
  touch.warp = &warp;
  touch.instruction = &i;
  touch.bytes = bytes;
  touch.writes = kind != AccessKind::kLoad;
  touch.reads = kind != AccessKind::kStore;
  touch.is_strong = order_of(i) != access::kWeak || kind == AccessKind::kAtomic || kind == AccessKind::kReduction;
  touch.lanes_matter = true;
  uint32_t allowed = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    allowed |= 1u << l;
    const uint64_t offset = offsets[l];
    if (offset >= w.shared_bytes || w.shared_bytes - offset < bytes) continue;  // the machine faults
    if (checks_.uninitialised && !shared_initialised(w, i, kind, l, offset, bytes)) {
      allowed &= ~(1u << l);
      continue;
    }
    if (!checks_.shared_races) continue;
    touch.lane = l;
    touch.address = offset;
    const std::string race = races_.touch_shared(w, block, touch);
    if (race.empty()) continue;
    fault_at_lane(w, i, FaultKind::kSharedRace, l, offset, bytes, race);
    allowed &= ~(1u << l);
  }
  if (!w.faulted && touch.is_strong) {
    uint64_t keys[kLanes];  // beside the global ones: the window and the block
    for (uint32_t l = 0; l < kLanes; ++l) keys[l] = kSharedWindow | w.block->linear << 24 | (offsets[l] & 0xffffff);
    synchronise(w, i, kind, allowed, keys, static_cast<uint32_t>(w.block->linear));
  }
  return allowed;
}

bool LaunchChecks::shared_initialised(Warp& w, const Instruction& i, AccessKind kind, uint32_t lane, uint64_t offset,
                                      uint32_t bytes) {
  uint8_t* state = w.block->checks->shared_initialised.data() + offset;
  if (kind != AccessKind::kStore) {
    const uint32_t element = i.count > 1 && bytes % i.count == 0 ? bytes / i.count : bytes;
    const uint32_t unread = code_of(w, i).unread_elements[i.index];
    for (uint32_t e = 0; e * element < bytes; ++e) {
      if (unread >> e & 1) continue;
      bool any = false;
      for (uint32_t b = 0; b < element; ++b) any = any || state[e * element + b];
      if (any) continue;
      fault_at(w, i, FaultKind::kUninitialised, lane, kSharedWindow + offset + e * element, element);
      return false;
    }
  }
  if (kind != AccessKind::kLoad) {
    for (uint32_t b = 0; b < bytes; ++b) state[b] = 1;
  }
  return true;
}

void LaunchChecks::arrive(Warp& w, uint32_t id) {
  WarpChecks& warp = warp_checks(w);
  w.block->checks->barriers[id].join(warp.clock);
  warp.clock.raise(warp.number, warp.clock.of(warp.number) + 1);
}

void LaunchChecks::pass(Warp& w, uint32_t id) {
  WarpChecks& warp = warp_checks(w);
  warp.clock.join(w.block->checks->barriers[id]);
}

void LaunchChecks::reopen(BlockState& block, uint32_t id) { block.checks->barriers[id] = {}; }

void LaunchChecks::warp_barrier(Warp& w, uint32_t lanes) {
  WarpChecks& warp = warp_checks(w);
  uint32_t newest = 0;
  for (uint32_t epoch : warp.lane_epochs) newest = std::max(newest, epoch);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (lanes >> l & 1) warp.lane_epochs[l] = newest + 1;
  }
}

void LaunchChecks::fence(Warp& w, const Instruction& i) {
  WarpChecks& warp = warp_checks(w);
  if (warp.has_pending) warp.clock.join(warp.pending);
  warp.pending = {};
  warp.has_pending = false;
  warp.fence = warp.clock;
  warp.fence_scope = scope_of(i);
  warp.has_fence = true;
  warp.clock.raise(warp.number, warp.clock.of(warp.number) + 1);
}

void LaunchChecks::barrier_object(Warp& w, uint64_t offset, bool arrives, bool passed) {
  BlockChecks& block = *w.block->checks;
  WarpChecks& warp = warp_checks(w);
  Clock& object = block.barrier_objects[offset];
  if (arrives) {
    object.join(warp.clock);
    warp.clock.raise(warp.number, warp.clock.of(warp.number) + 1);
  }
  if (passed) {
    warp.clock.join(object);
    warp.clock.raise(warp.number, warp.clock.of(warp.number) + 1);
  }
}

}  // namespace ptx::emulator
