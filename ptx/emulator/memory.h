// The device's global memory. Device addresses are host addresses: allocations are carved from one large reservation;
// host memory accessible to kernels is registered in place. Freed memory stays readable for the process, so a kernel
// that still uses it faults cleanly instead of crashing the host.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "ptx/emulator/instruction.h"

namespace ptx::emulator {

// The written bytes of an allocation.
class WrittenBytes {
 public:
  explicit WrittenBytes(uint64_t bytes) : bytes_(bytes), left_(bytes) {}
  void mark(uint64_t offset, uint64_t bytes);
  bool any(uint64_t offset, uint64_t bytes) const;
  bool all() const { return left_ == 0; }
  void mark_all() { left_ = 0; }

 private:
  uint64_t bytes_;
  std::atomic<uint64_t> left_;  // number of unwritten bytes
  mutable std::mutex growing_;
  std::atomic<std::atomic<uint64_t>*> words_ = nullptr;  // one bit per byte, created at the first partial mark
  std::unique_ptr<std::atomic<uint64_t>[]> storage_;
};

struct Allocation {
  uint64_t address = 0, bytes = 0;
  std::string name;      // of a module's variable; otherwise "allocation N"
  bool is_host = false;  // pinned or registered; counts as initialised
  bool is_constant = false;
  std::shared_ptr<WrittenBytes> written;
};

class Memory {
 public:
  // Reserves `bytes`, or less if the process lacks address space (ulimit -v): see total().
  explicit Memory(uint64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;

  // Returns 0 if the reservation or the system has no room. Alignment: 256 bytes, or 4,096 for sizes from that on.
  // Contents are undefined (zero when fresh).
  uint64_t allocate(uint64_t bytes, std::string name = {}, bool is_constant = false);
  bool free(uint64_t address);                      // false if it is not an allocation's start
  void register_host(void* start, uint64_t bytes);  // pinned or mapped host memory
  bool unregister_host(void* start);

  std::optional<Allocation> find(uint64_t address) const;        // the live allocation that contains the address
  std::optional<Allocation> find_freed(uint64_t address) const;  // the most recently freed one that contained it
  std::optional<Allocation> nearest_below(uint64_t address) const;

  // For the uninitialised check: the host wrote here (a copy or set). Kernels mark their own stores.
  void mark_initialised(uint64_t address, uint64_t bytes);

  // Range around `address` that an unchecked kernel may access: whole pages with allocations, as on a device.
  bool mapped_range(uint64_t address, uint32_t bytes, Range& range) const;

  uint64_t total() const { return bytes_; }
  uint64_t used() const { return used_; }
  uint64_t generation() const { return generation_; }  // changes whenever memory is freed

 private:
  bool commit(uint64_t address, uint64_t bytes);  // false if the system has no memory for it

  mutable std::shared_mutex mutex_;
  void* reservation_ = nullptr;
  uint64_t base_ = 0, bytes_ = 0, used_ = 0, serial_ = 0;
  std::map<uint64_t, Allocation> live_;
  std::map<uint64_t, uint64_t> holes_;  // free ranges of the reservation: address -> bytes
  std::vector<Allocation> freed_;       // most recent last
  std::atomic<uint64_t> generation_ = 1;
};

}  // namespace ptx::emulator
