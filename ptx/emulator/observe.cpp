// Forwards the handlers' accesses, fences and barriers to the launch's observers.
#include "ptx/emulator/block.h"
#include "ptx/emulator/checks/launch_checks.h"
#include "ptx/emulator/syntax_tree.h"
#include "ptx/emulator/weak_memory.h"

namespace ptx::emulator {
namespace {

// Checks accesses of shared memory against pending copies.
void watch_copies(Warp& w, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes, uint32_t bytes,
                  const uint64_t* addresses) {
  const bool is_generic = static_cast<Space>(space) == Space::generic;
  if (!is_generic && static_cast<Space>(space) != Space::shared) return;
  uint64_t offsets[kLanes];
  uint32_t inside = 0;
  for (uint32_t l = 0; l < kLanes; ++l) {
    offsets[l] = addresses[l] - (is_generic ? kSharedWindow : 0);
    inside |= (lanes >> l & 1) && offsets[l] < w.shared_bytes ? 1u << l : 0;
  }
  const LaunchContext& launch = *w.block->launch;
  const Checks& checks = launch.request.options.checks;
  if (w.block->copies && (checks.shared_races || checks.uninitialised))
    w.block->copies->check(w, i, kind, inside, bytes, offsets);
  if (launch.watches_proxies && kind != AccessKind::kLoad) copies_of(w).wrote(inside, bytes, offsets);
}

}  // namespace

uint32_t observe(Warp& w, const Instruction& i, AccessKind kind, uint32_t space, uint32_t lanes, uint32_t bytes,
                 const uint64_t* addresses) {
  LaunchContext& launch = *w.block->launch;
  if (kind != AccessKind::kLoad) launch.n_writes.fetch_add(1, std::memory_order_relaxed);
  if (w.executor->counts) w.executor->counts->access(code_of(w, i), i, kind, space, lanes, bytes, addresses);
  if (w.block->copies || launch.watches_proxies) {
    watch_copies(w, i, kind, space, lanes, bytes, addresses);
    if (w.faulted) return 0;
  }
  return launch.checks ? launch.checks->access(w, i, kind, space, lanes, bytes, addresses) : lanes;
}

bool resume_trail(Warp& w, ReadTrail& trail, uint64_t first_address) {
  return w.block->launch->checks->resume(w, trail, first_address);
}

bool redirect(Warp& w, const Instruction& i, AccessKind kind, uint32_t lanes, uint32_t bytes, const uint64_t* addresses,
              uint8_t** pointers) {
  WeakMemory* weak = w.block->launch->weak;
  return weak && !w.faulted && weak->access(w, i, kind, lanes, bytes, addresses, pointers);
}

void observe_fence(Warp& w, const Instruction& i) {
  if (w.block->launch->weak) w.block->launch->weak->fence(w, i);
  if (w.block->launch->checks) w.block->launch->checks->fence(w, i);
}

void observe_warp_barrier(Warp& w, uint32_t lanes) {
  if (w.block->launch->checks) w.block->launch->checks->warp_barrier(w, lanes);
}

void observe_barrier_object(Warp& w, uint64_t offset, bool arrives, bool passed) {
  if (w.block->launch->checks) w.block->launch->checks->barrier_object(w, offset, arrives, passed);
}

}  // namespace ptx::emulator
