// The device's global memory. Device addresses are host addresses: allocations are carved from one large reservation,
// host memory that a kernel may touch is registered where it lies. Freed memory stays readable by the process, so
// that a kernel that still uses it faults by the rules and never crashes the host.
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

// Which bytes of an allocation somebody has written.
class WrittenBytes {
 public:
  explicit WrittenBytes(uint64_t bytes) : bytes_(bytes), left_(bytes) {}
  void mark(uint64_t offset, uint64_t bytes);
  bool any(uint64_t offset, uint64_t bytes) const;
  bool all() const { return left_ == 0; }
  void mark_all() { left_ = 0; }

 private:
  uint64_t bytes_;
  std::atomic<uint64_t> left_;  // bytes that nobody has written
  mutable std::mutex growing_;
  std::atomic<std::atomic<uint64_t>*> words_ = nullptr;  // a bit per byte, made at the first partial mark
  std::unique_ptr<std::atomic<uint64_t>[]> storage_;
};

struct Allocation {
  uint64_t address = 0, bytes = 0;
  std::string name;      // of a module's variable; otherwise "allocation N"
  bool is_host = false;  // pinned or registered: counts as initialised
  bool is_constant = false;
  uint64_t serial = 0;
  std::shared_ptr<WrittenBytes> written;
};

class Memory {
 public:
  // Of so many bytes, or, where the process has no room for their addresses (ulimit -v), as many as it has: total().
  explicit Memory(uint64_t bytes);
  ~Memory();
  Memory(const Memory&) = delete;

  // 0 if there is no room, here or in the system. 256-byte aligned, 4,096 from that size on; contents are undefined
  // (zero when fresh).
  uint64_t allocate(uint64_t bytes, std::string name = {}, bool is_constant = false);
  bool free(uint64_t address);                      // false unless it is an allocation's start
  void register_host(void* start, uint64_t bytes);  // pinned or mapped host memory
  bool unregister_host(void* start);

  std::optional<Allocation> find(uint64_t address) const;        // the live allocation that contains it
  std::optional<Allocation> find_freed(uint64_t address) const;  // the last freed one that contained it
  std::optional<Allocation> nearest_below(uint64_t address) const;

  // For the check of uninitialised reads: the host wrote here (a copy, a set). Kernels mark their own stores.
  void mark_initialised(uint64_t address, uint64_t bytes);

  // What a kernel without checks may touch around `address`: whole pages that hold allocations, as on a device.
  bool mapped_range(uint64_t address, uint32_t bytes, Range& range) const;

  uint64_t total() const { return bytes_; }
  uint64_t used() const { return used_; }
  uint64_t generation() const { return generation_; }  // changes whenever something is freed

 private:
  bool commit(uint64_t address, uint64_t bytes);  // false if the system has no memory for it

  mutable std::shared_mutex mutex_;
  void* reservation_ = nullptr;
  uint64_t base_ = 0, bytes_ = 0, used_ = 0, serial_ = 0;
  std::map<uint64_t, Allocation> live_;
  std::map<uint64_t, uint64_t> holes_;  // free ranges of the reservation: address -> bytes
  std::vector<Allocation> freed_;       // the most recent last
  std::atomic<uint64_t> generation_ = 1;
};

}  // namespace ptx::emulator
