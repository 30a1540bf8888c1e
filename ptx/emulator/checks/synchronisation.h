// Order between warps through memory. A release publishes its warp's clock at an address, and an acquire there merges
// it. Relaxed accesses do so combined with fences before and after; a relaxed access alone does not. Other blocks can
// acquire a store's clock only after it has arrived in memory.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ptx/emulator/checks/clocks.h"
#include "ptx/emulator/checks/shared_state.h"
#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

class Synchronisation {
 public:
  // stores_wait: global stores are delayed, see arrived().
  explicit Synchronisation(bool stores_wait) : stores_wait_(stores_wait) {}

  // A strong access; order and scope are access::Order and access::Scope.
  void access(WarpChecks& warp, uint32_t order, uint32_t scope, AccessKind kind, uint32_t lanes,
              const uint64_t* addresses, uint32_t block);
  void fence(WarpChecks& warp, uint32_t scope);
  void arrived(uint64_t address, uint32_t block);  // a block's delayed store

 private:
  struct Published {
    Clock clock;
    uint32_t scope = 0, block = 0;
  };
  void acquire(WarpChecks& warp, uint32_t order, uint32_t scope, uint64_t address, uint32_t block);
  bool release(WarpChecks& warp, uint32_t order, uint32_t scope, uint64_t address, uint32_t block, bool joins);
  void publish(uint64_t address, const Clock& what, uint32_t scope, uint32_t block, bool joins);
  const Published* seen_by(uint32_t block, uint64_t address) const;

  bool stores_wait_;
  std::unordered_map<uint64_t, Published> published_;
  std::unordered_map<uint32_t, std::unordered_map<uint64_t, Published>> on_their_way_;  // by block and address
};

}  // namespace ptx::emulator
