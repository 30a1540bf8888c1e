// cp.async, bulk copies and mbarrier. Copies execute when issued, which is valid for every correct program; in observed
// launches they execute when waited for. A barrier object is a 64-bit word in shared memory with a private layout.
#include "ptx/emulator/common/common.h"
#include "ptx/emulator/copies_in_flight.h"

namespace ptx::emulator::common {
namespace {

constexpr uint32_t kGlobalSpace = 1, kSharedSpace = 3;
uint32_t space_of(const Instruction& i) { return i.flags >> 10 & 7; }

// Addresses of a copy's second operand: base column, constant offset, and how to read the base.
void second_addresses(Warp& w, uint32_t base, uint32_t offset_column, uint32_t flags, uint64_t* addresses) {
  const uint64_t* offset = column<uint64_t>(w, offset_column);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (flags & kAddressNone)
      addresses[l] = offset[l];
    else if (flags & kAddress32)
      addresses[l] = static_cast<uint32_t>(column<uint32_t>(w, base)[l] + static_cast<uint32_t>(offset[l]));
    else
      addresses[l] = column<uint64_t>(w, base)[l] + offset[l];
  }
}

AsyncCopy copy_of(const Warp& w, const Instruction& i, uint32_t lane) {
  AsyncCopy copy;
  copy.instruction = &i;
  copy.thread = w.warp_index * kLanes + lane;
  return copy;
}

template <bool observed>
void copy_async(Warp& w, const Instruction& i, uint32_t lanes) {
  alignas(64) uint64_t to[kLanes], from[kLanes];
  alignas(64) uint8_t *to_pointers[kLanes], *from_pointers[kLanes];
  const uint32_t* list = w.operands + i.list;
  const uint32_t bytes = i.count;
  read_addresses(w, i, to);
  second_addresses(w, list[0], list[3], i.flags >> 16, from);
  uint32_t reads = lanes;
  if (list[2] != kNoColumn) reads &= ~predicate(w, list[2]);
  uint32_t sizes[kLanes];
  for (uint32_t l = 0; l < kLanes; ++l) {
    sizes[l] = list[1] == kNoColumn ? bytes : column<uint32_t>(w, list[1])[l];
    if (sizes[l] > bytes) sizes[l] = bytes;
    if (sizes[l] == 0) reads &= ~(1u << l);
  }
  if (observed) {
    for (uint32_t left = reads; left != 0 && !w.faulted;) {  // lanes that read equal sizes together
      const uint32_t size = sizes[__builtin_ctz(left)];
      uint32_t alike = 0;
      for (uint32_t l = 0; l < kLanes; ++l) alike |= (left >> l & 1) && sizes[l] == size ? 1u << l : 0;
      observe(w, i, AccessKind::kLoad, kGlobalSpace, alike, size, from);
      left &= ~alike;
    }
    observe(w, i, AccessKind::kStore, kSharedSpace, lanes, bytes, to);
    if (w.faulted) return;
  }
  Global::resolve(w, i, reads, bytes, from, from_pointers);
  Shared::resolve(w, i, lanes, bytes, to, to_pointers);
  if (w.faulted) return;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const uint32_t size = reads >> l & 1 ? sizes[l] : 0;
    if (observed) {
      AsyncCopy copy = copy_of(w, i, l);
      copy.global = from[l];
      copy.shared = static_cast<uint64_t>(to_pointers[l] - w.shared);
      copy.bytes = size;
      copy.zeros = bytes - size;
      copies_of(w).issue(w, copy);
      continue;
    }
    __builtin_memcpy(to_pointers[l], from_pointers[l], size);
    __builtin_memset(to_pointers[l] + size, 0, bytes - size);
  }
}

// Pending arrivals (20 bits), arrivals per phase (20), bytes still expected (22, signed), phase parity (1).
struct BarrierWord {
  uint64_t bits;
  uint32_t pending() const { return bits & 0xfffff; }
  uint32_t expected() const { return bits >> 20 & 0xfffff; }
  int32_t bytes() const { return static_cast<int32_t>(static_cast<uint32_t>(bits >> 40 << 10)) >> 10; }
  uint32_t parity() const { return bits >> 63; }
  static BarrierWord of(uint32_t pending, uint32_t expected, int32_t bytes, uint32_t parity) {
    return {(pending & 0xfffff) | uint64_t{expected & 0xfffff} << 20 |
            uint64_t{static_cast<uint32_t>(bytes) & 0x3fffff} << 40 | uint64_t{parity} << 63};
  }
  void settle() {
    if (pending() == 0 && bytes() == 0) *this = of(expected(), expected(), 0, parity() ^ 1);
  }
};

// Applies F(word, lane) to the barrier of each active lane in turn; stores the last step's result.
template <class F>
void each_barrier(Warp& w, const Instruction& i, uint32_t lanes, F f) {
  alignas(64) uint64_t addresses[kLanes];
  alignas(64) uint8_t* pointers[kLanes];
  read_addresses(w, i, addresses);
  resolve(w, i, space_of(i), lanes, 8, addresses, pointers);
  if (w.faulted) return;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    BarrierWord word;
    __builtin_memcpy(&word, pointers[l], 8);
    f(word, l, static_cast<uint64_t>(pointers[l] - w.shared));
    __builtin_memcpy(pointers[l], &word, 8);
  }
}

void arrive(Warp& w, const Instruction& i, uint32_t lanes, bool drops, bool expects) {
  const uint32_t* count = i.b == kNoColumn ? nullptr : column<uint32_t>(w, i.b);
  each_barrier(w, i, lanes, [&](BarrierWord& word, uint32_t l, uint64_t offset) {
    if (i.d != kNoColumn) column<uint64_t>(w, i.d)[l] = word.bits;
    const uint32_t n = expects || !count ? 1 : count[l];
    const int32_t bytes = word.bytes() + (expects ? static_cast<int32_t>(count[l]) : 0);
    observe_barrier_object(w, offset, true, false);
    word = BarrierWord::of(word.pending() - n, word.expected() - (drops ? n : 0), bytes, word.parity());
    word.settle();
  });
}

void wait_for_phase(Warp& w, const Instruction& i, uint32_t lanes, bool by_parity) {
  uint32_t done = 0;
  each_barrier(w, i, lanes, [&](BarrierWord& word, uint32_t l, uint64_t offset) {
    const CopiesInFlight::Arrivals landed = land_copies_at(w, offset);
    if (landed.threads || landed.bytes) {
      word =
          BarrierWord::of(word.pending() - landed.threads, word.expected(), word.bytes() - landed.bytes, word.parity());
      word.settle();
    }
    const uint32_t phase =
        by_parity ? column<uint32_t>(w, i.b)[l] & 1 : BarrierWord{column<uint64_t>(w, i.b)[l]}.parity();
    if (word.parity() != phase) {
      done |= 1u << l;
      observe_barrier_object(w, offset, false, true);
    }
  });
  set_predicate(w, i.d, done, lanes);
  if (done != lanes) w.polled = true;
}

void add_bytes(Warp& w, const Instruction& i, uint32_t lanes, int32_t sign) {
  each_barrier(w, i, lanes, [&](BarrierWord& word, uint32_t l, uint64_t offset) {
    if (sign < 0) observe_barrier_object(w, offset, true, false);  // bytes that arrived are visible to a waiting thread
    const int32_t bytes = word.bytes() + sign * static_cast<int32_t>(column<uint32_t>(w, i.b)[l]);
    word = BarrierWord::of(word.pending(), word.expected(), bytes, word.parity());
    if (sign < 0) word.settle();
  });
}

void register_barriers(Registry& r) {
  add(r, "mbarrier.init", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    each_barrier(w, i, lanes, [&](BarrierWord& word, uint32_t l, uint64_t) {
      const uint32_t n = column<uint32_t>(w, i.b)[l];
      word = BarrierWord::of(n, n, 0, 0);
    });
  });
  add(r, "mbarrier.inval", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    each_barrier(w, i, lanes, [](BarrierWord&, uint32_t, uint64_t) {});
  });
  add(r, "mbarrier.expect_tx", "", [](Warp& w, const Instruction& i, uint32_t lanes) { add_bytes(w, i, lanes, 1); });
  add(r, "mbarrier.complete_tx", "", [](Warp& w, const Instruction& i, uint32_t lanes) { add_bytes(w, i, lanes, -1); });
  add(r, "mbarrier.arrive", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { arrive(w, i, lanes, false, false); });
  add(r, "mbarrier.arrive.expect_tx", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { arrive(w, i, lanes, false, true); });
  add(r, "mbarrier.arrive_drop", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { arrive(w, i, lanes, true, false); });
  add(r, "mbarrier.arrive_drop.expect_tx", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { arrive(w, i, lanes, true, true); });
  add(r, "mbarrier.test_wait", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { wait_for_phase(w, i, lanes, false); });
  add(r, "mbarrier.try_wait", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { wait_for_phase(w, i, lanes, false); });
  add(r, "mbarrier.test_wait.parity", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { wait_for_phase(w, i, lanes, true); });
  add(r, "mbarrier.try_wait.parity", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { wait_for_phase(w, i, lanes, true); });
  add(r, "mbarrier.pending_count", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    uint32_t result[kLanes];
    for (uint32_t l = 0; l < kLanes; ++l) result[l] = BarrierWord{column<uint64_t>(w, i.a)[l]}.pending();
    write(w, i.d, result, lanes);
  });
  add(r, "cp.async.mbarrier", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    if (i.count == 0) return;  // the copies are already done: no separate arrival is needed
    arrive(w, i, lanes, false, false);
  });
  add(r, "!cp.async.mbarrier", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    each_barrier(w, i, lanes, [&](BarrierWord& word, uint32_t l, uint64_t offset) {
      if (i.count == 0) word = BarrierWord::of(word.pending() + 1, word.expected(), word.bytes(), word.parity());
      copies_of(w).attach(w, l, offset);
      observe_barrier_object(w, offset, true, false);
    });
  });
}

// A whole range of global memory, or null with a fault.
uint8_t* global_range(Warp& w, const Instruction& i, uint32_t lane, uint64_t address, uint32_t bytes) {
  Range range;
  if (address & 15) {
    fault_at(w, i, FaultKind::kMisaligned, lane, address, 16);
    return nullptr;
  }
  if (bytes == 0 || find_range(w, i, address, bytes, range)) return reinterpret_cast<uint8_t*>(address);
  fault_at(w, i, FaultKind::kIllegalAddress, lane, address, bytes);
  return nullptr;
}
uint8_t* shared_range(Warp& w, const Instruction& i, uint32_t lane, uint64_t offset, uint32_t bytes) {
  if (offset - kSharedWindow < kWindowBytes) offset -= kSharedWindow;
  const bool misaligned = offset & 15;
  if (!misaligned && offset <= w.shared_bytes && w.shared_bytes - offset >= bytes) return w.shared + offset;
  fault_at(w, i, misaligned ? FaultKind::kMisaligned : FaultKind::kSharedBounds, lane, offset, misaligned ? 16 : bytes);
  return nullptr;
}

// Calls F(global, shared, bytes, lane) for each active lane of a bulk copy, after its bounds check.
template <class F>
void bulk(Warp& w, const Instruction& i, uint32_t lanes, bool into_shared, AccessKind observed_as, bool observed, F f) {
  alignas(64) uint64_t to[kLanes], from[kLanes];
  const uint32_t* list = w.operands + i.list;
  read_addresses(w, i, to);
  second_addresses(w, list[0], list[3], i.flags >> 16 & 3, from);
  const uint32_t* size = column<uint32_t>(w, list[1]);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    if (size[l] & 15) return fault_at(w, i, FaultKind::kMisaligned, l, size[l], 16);
    if (observed) {
      observe(w, i, AccessKind::kLoad, into_shared ? kGlobalSpace : kSharedSpace, 1u << l, size[l], from);
      if (w.faulted) return;
      observe(w, i, observed_as, into_shared ? kSharedSpace : kGlobalSpace, 1u << l, size[l], to);
      if (w.faulted) return;
    }
    uint8_t* global = global_range(w, i, l, into_shared ? from[l] : to[l], size[l]);
    uint8_t* shared = shared_range(w, i, l, into_shared ? to[l] : from[l], size[l]);
    if (!global || !shared) return;
    f(global, shared, size[l], l);
  }
}

AsyncCopy bulk_copy_of(Warp& w, const Instruction& i, uint32_t lane, const uint8_t* global, const uint8_t* shared,
                       uint32_t bytes) {
  AsyncCopy copy = copy_of(w, i, lane);
  copy.is_bulk = true;
  copy.global = reinterpret_cast<uint64_t>(global);
  copy.shared = static_cast<uint64_t>(shared - w.shared);
  copy.bytes = bytes;
  return copy;
}

template <bool observed>
void bulk_load(Warp& w, const Instruction& i, uint32_t lanes) {
  alignas(64) uint64_t barriers[kLanes];
  const uint32_t* list = w.operands + i.list;
  second_addresses(w, list[2], list[4], i.flags >> 20 & 3, barriers);
  const auto load = [&](uint8_t* global, uint8_t* shared, uint32_t bytes, uint32_t l) {
    alignas(64) uint8_t* pointers[kLanes];
    Shared::resolve(w, i, 1u << l, 8, barriers, pointers);
    if (w.faulted) return;
    if (observed) {
      AsyncCopy copy = bulk_copy_of(w, i, l, global, shared, bytes);
      copy.has_barrier = true;
      copy.barrier = static_cast<uint64_t>(pointers[l] - w.shared);
      observe_barrier_object(w, copy.barrier, true, false);
      return copies_of(w).issue(w, copy);
    }
    __builtin_memcpy(shared, global, bytes);
    BarrierWord word;
    __builtin_memcpy(&word, pointers[l], 8);
    word = BarrierWord::of(word.pending(), word.expected(), word.bytes() - static_cast<int32_t>(bytes), word.parity());
    word.settle();
    __builtin_memcpy(pointers[l], &word, 8);
  };
  bulk(w, i, lanes, true, AccessKind::kStore, observed, load);
}

void copy_out(uint8_t* global, const uint8_t* shared, uint32_t bytes) { __builtin_memcpy(global, shared, bytes); }

// Copies from shared memory: `apply` changes the global range, at once or at the wait.
template <bool observed>
void bulk_store(Warp& w, const Instruction& i, uint32_t lanes, AsyncCopy::Reduce apply) {
  const bool reduces = apply != &copy_out;
  const auto store = [&](uint8_t* global, uint8_t* shared, uint32_t bytes, uint32_t l) {
    if (!observed) return apply(global, shared, bytes);
    AsyncCopy copy = bulk_copy_of(w, i, l, global, shared, bytes);
    copy.into_shared = false;
    copy.reduce = reduces ? apply : nullptr;
    copies_of(w).issue(w, copy);
  };
  bulk(w, i, lanes, false, reduces ? AccessKind::kReduction : AccessKind::kStore, observed, store);
}

// Bulk reductions: an atomic of the element type on every element.
template <class T, class F>
void reduce_range(uint8_t* global, const uint8_t* shared, uint32_t bytes) {
  for (uint32_t at = 0; at < bytes; at += sizeof(T)) {
    T* cell = reinterpret_cast<T*>(global + at);
    T value, old = __atomic_load_n(cell, __ATOMIC_RELAXED);
    __builtin_memcpy(&value, shared + at, sizeof(T));
    T next = F{}(old, value);
    while (!__atomic_compare_exchange_n(cell, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      next = F{}(old, value);
  }
}
template <class T, class F>
void bulk_reduction(Registry& r, const char* name, F) {
  add(r, "cp.reduce.async.bulk.", name,
      [](Warp& w, const Instruction& i, uint32_t lanes) { bulk_store<false>(w, i, lanes, &reduce_range<T, F>); });
  add(r, "!cp.reduce.async.bulk.", name,
      [](Warp& w, const Instruction& i, uint32_t lanes) { bulk_store<true>(w, i, lanes, &reduce_range<T, F>); });
}

void register_bulk(Registry& r) {
  add(r, "cp.async.bulk.load", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { bulk_load<false>(w, i, lanes); });
  add(r, "!cp.async.bulk.load", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { bulk_load<true>(w, i, lanes); });
  add(r, "cp.async.bulk.store", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { bulk_store<false>(w, i, lanes, &copy_out); });
  add(r, "!cp.async.bulk.store", "",
      [](Warp& w, const Instruction& i, uint32_t lanes) { bulk_store<true>(w, i, lanes, &copy_out); });
  using U = uint32_t;
  using L = uint64_t;
  bulk_reduction<U>(r, "add.u32", [](U a, U b) { return a + b; });
  bulk_reduction<U>(r, "add.s32", [](U a, U b) { return a + b; });
  bulk_reduction<L>(r, "add.u64", [](L a, L b) { return a + b; });
  bulk_reduction<U>(r, "min.u32", [](U a, U b) { return b < a ? b : a; });
  bulk_reduction<U>(r, "max.u32", [](U a, U b) { return b > a ? b : a; });
  bulk_reduction<U>(r, "min.s32", [](U a, U b) { return static_cast<int32_t>(b) < static_cast<int32_t>(a) ? b : a; });
  bulk_reduction<U>(r, "max.s32", [](U a, U b) { return static_cast<int32_t>(b) > static_cast<int32_t>(a) ? b : a; });
  bulk_reduction<U>(r, "and.b32", [](U a, U b) { return a & b; });
  bulk_reduction<U>(r, "or.b32", [](U a, U b) { return a | b; });
  bulk_reduction<U>(r, "xor.b32", [](U a, U b) { return a ^ b; });
  bulk_reduction<U>(r, "add.f32", [](U a, U b) { return bits_as<U>(bits_as<float>(a) + bits_as<float>(b)); });
  bulk_reduction<L>(r, "add.f64", [](L a, L b) { return bits_as<L>(bits_as<double>(a) + bits_as<double>(b)); });
}

}  // namespace

void register_async_copies(Registry& r) {
  const auto nothing = [](Warp&, const Instruction&, uint32_t) {};
  add(r, "cp.async.copy", "", [](Warp& w, const Instruction& i, uint32_t lanes) { copy_async<false>(w, i, lanes); });
  add(r, "!cp.async.copy", "", [](Warp& w, const Instruction& i, uint32_t lanes) { copy_async<true>(w, i, lanes); });
  for (const char* name : {"cp.async.commit_group", "cp.async.wait_group", "cp.async.bulk.commit_group",
                           "cp.async.bulk.wait_group", "fence.proxy.async"})
    add(r, name, "", nothing);
  add(r, "!cp.async.commit_group", "",
      [](Warp& w, const Instruction&, uint32_t lanes) { copies_of(w).commit(w, lanes, false); });
  add(r, "!cp.async.bulk.commit_group", "",
      [](Warp& w, const Instruction&, uint32_t lanes) { copies_of(w).commit(w, lanes, true); });
  add(r, "!cp.async.wait_group", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    copies_of(w).wait(w, lanes, false, static_cast<uint32_t>(i.immediate), i.count == kWaitsForAll, false);
  });
  add(r, "!cp.async.bulk.wait_group", "", [](Warp& w, const Instruction& i, uint32_t lanes) {
    copies_of(w).wait(w, lanes, true, static_cast<uint32_t>(i.immediate), false, i.count == kWaitsForReads);
  });
  add(r, "!fence.proxy.async", "", [](Warp& w, const Instruction&, uint32_t) { copies_of(w).proxy_fence(); });
  register_barriers(r);
  register_bulk(r);
}

}  // namespace ptx::emulator::common
