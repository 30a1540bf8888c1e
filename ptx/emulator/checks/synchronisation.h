// Order between warps through memory: a release hands the clock of its warp over at an address, an acquire there
// takes it in; relaxed accesses do so together with the fences before and after them. A bare relaxed access does not.
// What a store hands over can be taken by other blocks once the store has arrived in memory, and not before.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "ptx/emulator/checks/clocks.h"
#include "ptx/emulator/checks/shared_state.h"
#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

class Synchronisation {
 public:
  // `stores_wait`: those to global memory arrive later than they are made, see arrived().
  explicit Synchronisation(bool stores_wait) : stores_wait_(stores_wait) {}

  // A strong access; order and scope are those of access::Order and access::Scope.
  void access(WarpChecks& warp, uint32_t order, uint32_t scope, AccessKind kind, uint32_t lanes,
              const uint64_t* addresses, uint32_t block);
  void fence(WarpChecks& warp, uint32_t scope);
  void arrived(uint64_t address, uint32_t block);  // a block's store

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
