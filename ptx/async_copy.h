// Asynchronous copies: cp.async in groups (sm_80), mbarriers (sm_80; transaction counts sm_90), 1-D bulk copies
// (sm_90), and prefetches.
#pragma once
#include "ptx/memory.h"

namespace ptx {

template <int N>
struct Bytes {
  static_assert(N == 4 || N == 8 || N == 16, "cp.async copies 4, 8 or 16 bytes");
};

// An arrival counter in shared memory. A phase completes when all expected arrivals and announced bytes are in. Its
// parity (0 in the first phase) then flips, and the next phase begins.
class Mbarrier {
 public:
  explicit Mbarrier(Shared<b64> at) : at_(at) {}
  void init(In<u32> arrivals) const;                            // sm_80; by one thread, followed by a block barrier
  void invalidate(Where at = Where::current()) const;           // sm_80
  Reg<b64> arrive(Where at = Where::current()) const;           // sm_80; the token names the phase
  Reg<b64> arrive_many(In<u32> arrivals) const;                 // sm_90
  Reg<b64> arrive_expecting(In<u32> bytes) const;               // sm_90; one arrival that also announces `bytes`
  void expect(In<u32> bytes) const;                             // sm_90; announces without arriving
  void arrive_after_copies(Where at = Where::current()) const;  // sm_80; once this thread's earlier cp.async are done
  Pred done(In<b64> token) const;                               // sm_80; whether the token's phase has completed
  Pred done_parity(In<u32> parity) const;                       // sm_80; whether the phase of this parity has completed
  void wait_for(In<b64> token) const;                           // sm_80; until the token's phase has completed
  void wait(In<u32> parity) const;  // sm_80; until the phase has completed; suspends from sm_90
  const Shared<b64>& address() const { return at_; }

 private:
  Shared<b64> at_;
};

class AsyncCopies {
 public:
  explicit AsyncCopies(Body& body) : body_(&body) {}

  // sm_80; both sides aligned to the size; readable after wait_copies and, for other threads, a barrier.
  template <class T, class U, int N>
  void copy_async(const Shared<T>& to, const Global<U>& from, Bytes<N>, Where at = Where::current()) {
    copy(to.address(), from.address(), N, nullptr, at);
  }
  // The same, but only the first `valid` bytes are read from memory; the rest become 0.
  template <class T, class U, int N>
  void copy_async(const Shared<T>& to, const Global<U>& from, Bytes<N>, In<u32> valid) {
    copy(to.address(), from.address(), N, &valid.operand, valid.at);
  }
  void commit_copies(Where at = Where::current());                    // closes a group of copies
  void wait_copies(int pending_groups, Where at = Where::current());  // until at most this many groups are pending
  void wait_copies(Where at = Where::current());                      // until no group is pending

  // sm_90; both 16-byte aligned, `bytes` a multiple of 16; completes as `bytes` at `barrier`.
  template <class T, class U>
  void copy_bulk(const Shared<T>& to, const Global<U>& from, In<u32> bytes, const Mbarrier& barrier) {
    bulk(to.address(), from.address(), bytes, barrier);
  }
  template <class T, class U>
  void copy_bulk(const Global<T>& to, const Shared<U>& from, In<u32> bytes) {
    bulk(to.address(), from.address(), bytes);
  }
  void commit_bulk(Where at = Where::current());  // groups bulk copies to global memory
  void wait_bulk(int pending_groups, Where at = Where::current());
  void wait_bulk_read(int pending_groups, Where at = Where::current());  // until their sources may be overwritten

  template <class T>
  void prefetch_l1(const Global<T>& from, Where at = Where::current()) {
    prefetch("prefetch.global.L1", from.address(), at);
  }
  template <class T>
  void prefetch_l2(const Global<T>& from, Where at = Where::current()) {
    prefetch("prefetch.global.L2", from.address(), at);
  }
  template <class T>
  void prefetch_l2_keep(const Global<T>& from, Where at = Where::current()) {  // sm_80; evicted last
    prefetch("prefetch.global.L2::evict_last", from.address(), at);
  }
  template <class T>
  void prefetch_bulk(const Global<T>& from, In<u32> bytes) {  // sm_90; into L2; as copy_bulk's source
    emit(*body_, "cp.async.bulk.prefetch.L2.global", {operand_of(from.address()), bytes.operand}, bytes.at);
  }

 private:
  void copy(const Address& to, const Address& from, int bytes, const Operand* valid, Where at);
  void bulk(const Address& to, const Address& from, const AnyIn& bytes, const Mbarrier& barrier);
  void bulk(const Address& to, const Address& from, const AnyIn& bytes);
  void prefetch(const char* spelling, const Address& from, Where at);
  Body* body_;
};

}  // namespace ptx
