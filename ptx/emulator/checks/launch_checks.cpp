#include "ptx/emulator/checks/launch_checks.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {
namespace {

uint32_t order_of(const Instruction& i) { return i.flags >> access::kOrderShift & 7; }
bool is_strong(const Instruction& i, AccessKind kind) {
  return order_of(i) != access::kWeak || kind == AccessKind::kAtomic || kind == AccessKind::kReduction;
}
uint32_t scope_of(const Instruction& i) { return i.flags >> access::kScopeShift & 3; }

// Whether any byte is nonzero, fast for the sizes of elements.
bool any_marked(const uint8_t* bytes, uint32_t count) {
  uint64_t word = 0;
  if (count == 4) return std::memcpy(&word, bytes, 4), word != 0;
  for (; count >= 8; bytes += 8, count -= 8) {
    std::memcpy(&word, bytes, 8);
    if (word != 0) return true;
  }
  return std::any_of(bytes, bytes + count, [](uint8_t byte) { return byte != 0; });
}

WarpChecks& warp_checks(const Warp& w) { return w.block->checks->warps[w.warp_index]; }

}  // namespace

LaunchChecks::LaunchChecks(LaunchContext& launch)
    : launch_(launch),
      checks_(launch.request.options.checks),
      races_(checks_),
      synchronisation_(launch.request.options.weak_memory) {
  const LaunchOptions& options = launch.request.options;
  races_matter_ = checks_.global_races || checks_.read_only;
  others_watch_ = options.weak_memory || options.count;
}

void LaunchChecks::enter(Warp& w, const Code& code) {
  w.needs_only_granted_checks = !races_matter_ && !others_watch_;
  w.needs_only_pattern_checks = races_matter_ && !others_watch_;
  w.shared_unseen = !checks_.uninitialised && !checks_.shared_races && !races_matter_ && !others_watch_;
  w.trails = races_.trails_of(code);
  w.reader = &warp_checks(w).reader;
}

void LaunchChecks::begin_block(BlockState& block) {
  auto state = std::make_shared<BlockChecks>();
  const uint32_t n = static_cast<uint32_t>(block.warps.size()), first = static_cast<uint32_t>(block.linear) * n;
  state->warps.resize(n);
  for (uint32_t k = 0; k < n; ++k) {
    state->warps[k].number = first + k;
    state->warps[k].clock = Clock(first, n);
    state->warps[k].tick();
  }
  state->no_clock = Clock(first, n);
  for (Clock& barrier : state->barriers) barrier = state->no_clock;
  state->shared_initialised.assign(block.shared_bytes, 0);
  block.checks = std::move(state);
}

void LaunchChecks::end_block(BlockState& block) { block.checks.reset(); }

uint32_t LaunchChecks::access(Warp& w, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes,
                              uint32_t bytes, const uint64_t* addresses) {
  switch (static_cast<Space>(space)) {
    case Space::global:
    case Space::constant:
      return global(w, i, kind, lanes, bytes, addresses, static_cast<Space>(space) == Space::constant);
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
  if (in_global) allowed |= global(w, i, kind, in_global, bytes, addresses, false);
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

// Lanes whose accesses are in bounds and initialised; `unknown` lanes are left to the machine.
uint32_t LaunchChecks::good_lanes(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                                  const uint64_t* addresses, uint32_t& unknown) {
  if (const uint64_t generation = launch_.memory->generation(); memory_generation_ != generation) {
    memory_generation_ = generation;
    recent_ = {};
  }
  uint32_t good = 0;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const uint32_t l = static_cast<uint32_t>(std::countr_zero(left));
    if (!inside(w, i, l, addresses[l], bytes))
      unknown |= w.faulted ? 0 : 1u << l;
    else if (!checks_.uninitialised || initialised(w, i, kind, l, addresses[l], bytes))
      good |= 1u << l;
  }
  const bool is_written = recent_.written && (!checks_.uninitialised || recent_.written->all());
  w.granted[i.index] = is_written && !w.faulted ? Range{recent_.address, recent_.bytes} : Range{};
  return good;
}

uint32_t LaunchChecks::global(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                              const uint64_t* addresses, bool is_constant) {
  uint32_t allowed = 0;
  uint32_t inside_lanes = w.is_granted ? lanes : good_lanes(w, i, kind, lanes, bytes, addresses, allowed);
  if (!w.faulted && inside_lanes != 0 && !is_constant && races_matter_)
    inside_lanes = races_.global(w, i, kind, inside_lanes, bytes, addresses);
  allowed |= inside_lanes;
  if (w.faulted || !is_strong(i, kind)) return allowed;
  const uint32_t block = static_cast<uint32_t>(w.block->linear);
  synchronisation_.access(warp_checks(w), order_of(i), scope_of(i), kind, allowed, addresses, block);
  return allowed;
}

uint32_t LaunchChecks::shared(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes,
                              const uint64_t* offsets) {
  uint32_t allowed = 0, inside_lanes = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint64_t offset = offsets[l];
    if (offset >= w.shared_bytes || w.shared_bytes - offset < bytes) {
      allowed |= 1u << l;  // the machine raises the fault
      continue;
    }
    if (checks_.uninitialised && !shared_initialised(w, i, kind, l, offset, bytes)) continue;
    inside_lanes |= 1u << l;
  }
  if (!w.faulted && inside_lanes != 0 && checks_.shared_races)
    inside_lanes = races_.shared(w, i, kind, inside_lanes, bytes, offsets);
  allowed |= inside_lanes;
  if (!w.faulted && is_strong(i, kind)) {
    const uint32_t block = static_cast<uint32_t>(w.block->linear);
    uint64_t keys[kLanes];  // besides the global ones: window and block
    for (uint32_t l = 0; l < kLanes; ++l) keys[l] = kSharedWindow | w.block->linear << 24 | (offsets[l] & 0xffffff);
    synchronisation_.access(warp_checks(w), order_of(i), scope_of(i), kind, allowed, keys, block);
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
      if (any_marked(state + e * element, element)) continue;
      fault_at(w, i, FaultKind::kUninitialised, lane, kSharedWindow + offset + e * element, element);
      return false;
    }
  }
  if (kind != AccessKind::kLoad) {
    std::memset(state, 1, bytes);
  }
  return true;
}

void LaunchChecks::arrive(Warp& w, uint32_t id) {
  WarpChecks& warp = warp_checks(w);
  w.block->checks->barriers[id].join(warp.clock);
  warp.tick();
}

void LaunchChecks::pass(Warp& w, uint32_t id) { warp_checks(w).clock.join(w.block->checks->barriers[id]); }

void LaunchChecks::reopen(BlockState& block, uint32_t id) { block.checks->barriers[id] = block.checks->no_clock; }

void LaunchChecks::warp_barrier(Warp& w, uint32_t lanes) { warp_checks(w).lanes.barrier(lanes, w.live); }

void LaunchChecks::allocated(Warp& w, uint64_t address, uint64_t bytes) { races_.forget(w, address, bytes); }

void LaunchChecks::fence(Warp& w, const Instruction& i) { synchronisation_.fence(warp_checks(w), scope_of(i)); }

void LaunchChecks::barrier_object(Warp& w, uint64_t offset, bool arrives, bool passed) {
  WarpChecks& warp = warp_checks(w);
  Clock& object = w.block->checks->barrier_objects[offset];
  if (arrives) object.join(warp.clock);
  if (passed) warp.clock.join(object);
  if (arrives || passed) warp.tick();
}

}  // namespace ptx::emulator
