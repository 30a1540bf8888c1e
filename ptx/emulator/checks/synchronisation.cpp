#include "ptx/emulator/checks/synchronisation.h"

#include <algorithm>
#include <bit>

#include "ptx/emulator/function_loader.h"

namespace ptx::emulator {

using namespace ptx::emulator::access;

void Synchronisation::access(WarpChecks& warp, uint32_t order, uint32_t scope, AccessKind kind, uint32_t lanes,
                             const uint64_t* addresses, uint32_t block) {
  bool released = false;
  for (uint32_t left = lanes; left != 0; left &= left - 1) {
    const uint64_t address = addresses[std::countr_zero(left)];
    if (kind == AccessKind::kLoad || kind == AccessKind::kAtomic) acquire(warp, order, scope, address, block);
    if (kind == AccessKind::kLoad) continue;
    released = release(warp, order, scope, address, block, kind != AccessKind::kStore) || released;
  }
  if (released) warp.tick();
}

void Synchronisation::acquire(WarpChecks& warp, uint32_t order, uint32_t scope, uint64_t address, uint32_t block) {
  const Published* found = seen_by(block, address);
  if (!found) return;
  const bool narrow = scope == kCta || found->scope == kCta;
  if (narrow && found->block != block) return;
  if (order == kAcquire || order == kAcqRel) return warp.clock.join(found->clock);
  warp.pending.join(found->clock);
  warp.has_pending = true;
}

// A block sees its own stores before others do.
const Synchronisation::Published* Synchronisation::seen_by(uint32_t block, uint64_t address) const {
  if (const auto own = on_their_way_.find(block); own != on_their_way_.end()) {
    if (const auto found = own->second.find(address); found != own->second.end()) return &found->second;
  }
  const auto found = published_.find(address);
  return found == published_.end() ? nullptr : &found->second;
}

bool Synchronisation::release(WarpChecks& warp, uint32_t order, uint32_t scope, uint64_t address, uint32_t block,
                              bool joins) {
  if (order == kRelease || order == kAcqRel) {
    publish(address, warp.clock, scope, block, joins);
    return true;
  }
  if (warp.has_fence) publish(address, warp.fence, std::min(scope, warp.fence_scope), block, joins);
  return false;
}

// A store replaces the clock at the address; a read-modify-write merges with it.
void Synchronisation::publish(uint64_t address, const Clock& what, uint32_t scope, uint32_t block, bool joins) {
  if (stores_wait_ && address < kSharedWindow) {
    if (!joins) return void(on_their_way_[block][address] = {what, scope, block});
    arrived(address, block);  // the block's earlier store there is in memory before its atomic
  }
  Published& entry = published_[address];
  if (!joins || (entry.block != block && entry.scope == kCta))
    entry.clock = what;
  else
    entry.clock.join(what);
  entry.scope = joins ? std::min(entry.scope ? entry.scope : scope, scope) : scope;
  entry.block = block;
}

void Synchronisation::arrived(uint64_t address, uint32_t block) {
  const auto own = on_their_way_.find(block);
  if (own == on_their_way_.end()) return;
  const auto found = own->second.find(address);
  if (found == own->second.end()) return;
  published_[address] = std::move(found->second);
  own->second.erase(found);
  if (own->second.empty()) on_their_way_.erase(own);
}

void Synchronisation::fence(WarpChecks& warp, uint32_t scope) {
  if (warp.has_pending) warp.clock.join(warp.pending);
  warp.pending = {};
  warp.has_pending = false;
  warp.fence = warp.clock;
  warp.fence_scope = scope;
  warp.has_fence = true;
  warp.tick();
}

}  // namespace ptx::emulator
