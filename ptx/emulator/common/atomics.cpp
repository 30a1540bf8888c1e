// atom and red: each lane in turn, by the host's atomic operations, so that blocks may run on any thread and the host
// may take part.
#include <atomic>
#include <bit>

#include "ptx/emulator/common/common.h"

namespace ptx::emulator::common {
namespace {

constexpr uint32_t kReturnsOld = 1u << 16;  // as in the loader's access flags

uint32_t space_of(const Instruction& i) { return i.flags >> 10 & 7; }

// F(old, b, c) returns the new value, in a compare-and-swap loop.
template <class F, class T>
struct Atomic {
  static void run(Warp& w, const Instruction& i, uint32_t lanes, bool observed) {
    alignas(64) uint64_t addresses[kLanes];
    alignas(64) uint8_t* pointers[kLanes];
    read_addresses(w, i, addresses);
    if (observed) {
      lanes = observe(w, i, i.d == kNoColumn ? AccessKind::kReduction : AccessKind::kAtomic, space_of(i), lanes,
                      sizeof(T), addresses);
      if (lanes == 0) return;
    }
    resolve(w, i, space_of(i), lanes, sizeof(T), addresses, pointers);
    if (observed) redirect(w, i, AccessKind::kAtomic, lanes, sizeof(T), addresses, pointers);
    if (i.flags & kPolls) w.polled = true;
    const T *b = column<T>(w, i.b), *c = column<T>(w, i.c == kNoColumn ? i.b : i.c);
    T* d = i.d == kNoColumn ? nullptr : column<T>(w, i.d);
    for (uint32_t l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      const T old = apply(pointers[l], b[l], c[l]);
      if (d) d[l] = old;
    }
  }
  static T apply(uint8_t* pointer, T b, T c) {
    std::atomic_ref<T> cell(*reinterpret_cast<T*>(pointer));
    T old = cell.load(std::memory_order_relaxed);
    while (!cell.compare_exchange_weak(old, F{}(old, b, c))) {
    }
    return old;
  }
};

template <class T, class F>
void atomic(Registry& r, const char* name, const char* type, F) {
  add(r, name, type, [](Warp& w, const Instruction& i, uint32_t lanes) { Atomic<F, T>::run(w, i, lanes, false); });
  add(r, Spelling("!", name).text, type,
      [](Warp& w, const Instruction& i, uint32_t lanes) { Atomic<F, T>::run(w, i, lanes, true); });
}

template <class T>
void bitwise(Registry& r, const char* type) {
  atomic<T>(r, "atom.and", type, [](T a, T b, T) { return static_cast<T>(a & b); });
  atomic<T>(r, "atom.or", type, [](T a, T b, T) { return static_cast<T>(a | b); });
  atomic<T>(r, "atom.xor", type, [](T a, T b, T) { return static_cast<T>(a ^ b); });
  atomic<T>(r, "atom.exch", type, [](T, T b, T) { return b; });
  atomic<T>(r, "atom.cas", type, [](T a, T b, T c) { return a == b ? c : a; });
}

template <class U, class S>
void order(Registry& r, const char* unsigned_type, const char* signed_type) {
  atomic<U>(r, "atom.min", unsigned_type, [](U a, U b, U) { return b < a ? b : a; });
  atomic<U>(r, "atom.max", unsigned_type, [](U a, U b, U) { return b > a ? b : a; });
  atomic<U>(r, "atom.min", signed_type, [](U a, U b, U) { return static_cast<S>(b) < static_cast<S>(a) ? b : a; });
  atomic<U>(r, "atom.max", signed_type, [](U a, U b, U) { return static_cast<S>(b) > static_cast<S>(a) ? b : a; });
}

template <class H>
uint16_t add_half(uint16_t a, uint16_t b) {
  return from_float<H>(to_float(H{a}) + to_float(H{b})).bits;
}
template <class H>
uint32_t add_pair(uint32_t a, uint32_t b) {
  return add_half<H>(static_cast<uint16_t>(a), static_cast<uint16_t>(b)) |
         static_cast<uint32_t>(add_half<H>(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16))) << 16;
}
// float additions keep subnormals in shared and global memory; a device may flush them only in the unqualified global
// form.
uint32_t add_float(uint32_t a, uint32_t b) {
  return std::bit_cast<uint32_t>(canonical(std::bit_cast<float>(a) + std::bit_cast<float>(b)));
}
uint64_t add_double(uint64_t a, uint64_t b) {
  return std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
}

// .v2 and .v4 additions: each element is separately atomic. The list has the columns of old values, if requested, then
// of operands.
void add_vector(Warp& w, const Instruction& i, uint32_t lanes, bool observed) {
  const uint32_t count = i.count, bytes = 4 * count;
  alignas(64) uint64_t addresses[kLanes];
  alignas(64) uint8_t* pointers[kLanes];
  read_addresses(w, i, addresses);
  const bool returns = i.flags & kReturnsOld;
  if (observed) {
    const AccessKind kind = returns ? AccessKind::kAtomic : AccessKind::kReduction;
    lanes = observe(w, i, kind, space_of(i), lanes, bytes, addresses);
    if (lanes == 0) return;
  }
  resolve(w, i, space_of(i), lanes, bytes, addresses, pointers);
  if (observed) redirect(w, i, AccessKind::kAtomic, lanes, bytes, addresses, pointers);
  if (i.flags & kPolls) w.polled = true;
  const uint32_t *olds = w.operands + i.list, *operands = olds + (returns ? count : 0);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint32_t b[4], old[4];
    for (uint32_t e = 0; e < count; ++e) b[e] = column<uint32_t>(w, operands[e])[l];
    const auto sum = [](uint32_t x, uint32_t y, uint32_t) { return add_float(x, y); };
    for (uint32_t e = 0; e < count; ++e) old[e] = Atomic<decltype(sum), uint32_t>::apply(pointers[l] + 4 * e, b[e], 0);
    for (uint32_t e = 0; e < count && returns; ++e)
      if (olds[e] != kNoColumn) column<uint32_t>(w, olds[e])[l] = old[e];
  }
}

struct alignas(16) Word128 {
  uint64_t low, high;
};

// The host's instruction; std::atomic_ref would use a library lock that is invisible to the host program.
Word128 compare_and_swap(uint8_t* pointer, Word128 expected, Word128 desired) {
  asm volatile("lock cmpxchg16b %0"
               : "+m"(*reinterpret_cast<Word128*>(pointer)), "+a"(expected.low), "+d"(expected.high)
               : "b"(desired.low), "c"(desired.high)
               : "cc", "memory");
  return expected;
}

void atomic_128(Warp& w, const Instruction& i, uint32_t lanes, bool observed, bool compares) {
  alignas(64) uint64_t addresses[kLanes];
  alignas(64) uint8_t* pointers[kLanes];
  read_addresses(w, i, addresses);
  if (observed) {
    lanes = observe(w, i, AccessKind::kAtomic, space_of(i), lanes, 16, addresses);
    if (lanes == 0) return;
  }
  resolve(w, i, space_of(i), lanes, 16, addresses, pointers);
  if (observed) redirect(w, i, AccessKind::kAtomic, lanes, 16, addresses, pointers);
  if (i.flags & kPolls) w.polled = true;
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    const Word128 b = column<Word128>(w, i.b)[l];
    Word128 expected = compares ? b : Word128{0, 0};
    const Word128 desired = compares ? column<Word128>(w, i.c)[l] : b;
    Word128 old = compare_and_swap(pointers[l], expected, desired);
    while (!compares && (old.low != expected.low || old.high != expected.high)) {
      expected = old;
      old = compare_and_swap(pointers[l], expected, desired);
    }
    if (i.d != kNoColumn) column<Word128>(w, i.d)[l] = old;
  }
}

}  // namespace

void register_atomics(Registry& r) {
  add(r, "atom.add.vector", ".f32",
      [](Warp& w, const Instruction& i, uint32_t lanes) { add_vector(w, i, lanes, false); });
  add(r, "!atom.add.vector", ".f32",
      [](Warp& w, const Instruction& i, uint32_t lanes) { add_vector(w, i, lanes, true); });
  add(r, "atom.exch", ".b128",
      [](Warp& w, const Instruction& i, uint32_t lanes) { atomic_128(w, i, lanes, false, false); });
  add(r, "!atom.exch", ".b128",
      [](Warp& w, const Instruction& i, uint32_t lanes) { atomic_128(w, i, lanes, true, false); });
  add(r, "atom.cas", ".b128",
      [](Warp& w, const Instruction& i, uint32_t lanes) { atomic_128(w, i, lanes, false, true); });
  add(r, "!atom.cas", ".b128",
      [](Warp& w, const Instruction& i, uint32_t lanes) { atomic_128(w, i, lanes, true, true); });
  bitwise<uint32_t>(r, ".b32");
  bitwise<uint64_t>(r, ".b64");
  atomic<uint16_t>(r, "atom.cas", ".b16", [](uint16_t a, uint16_t b, uint16_t c) { return a == b ? c : a; });
  order<uint32_t, int32_t>(r, ".u32", ".s32");
  order<uint64_t, int64_t>(r, ".u64", ".s64");
  atomic<uint32_t>(r, "atom.add", ".u32", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  atomic<uint32_t>(r, "atom.add", ".s32", [](uint32_t a, uint32_t b, uint32_t) { return a + b; });
  atomic<uint64_t>(r, "atom.add", ".u64", [](uint64_t a, uint64_t b, uint64_t) { return a + b; });
  atomic<uint32_t>(r, "atom.inc", ".u32", [](uint32_t a, uint32_t b, uint32_t) { return a >= b ? 0 : a + 1; });
  atomic<uint32_t>(r, "atom.dec", ".u32", [](uint32_t a, uint32_t b, uint32_t) { return a == 0 || a > b ? b : a - 1; });
  atomic<uint32_t>(r, "atom.add", ".f32", [](uint32_t a, uint32_t b, uint32_t) { return add_float(a, b); });
  atomic<uint64_t>(r, "atom.add", ".f64", [](uint64_t a, uint64_t b, uint64_t) { return add_double(a, b); });
  atomic<uint16_t>(r, "atom.add", ".f16", [](uint16_t a, uint16_t b, uint16_t) { return add_half<f16>(a, b); });
  atomic<uint16_t>(r, "atom.add", ".bf16", [](uint16_t a, uint16_t b, uint16_t) { return add_half<bf16>(a, b); });
  atomic<uint32_t>(r, "atom.add", ".f16x2", [](uint32_t a, uint32_t b, uint32_t) { return add_pair<f16>(a, b); });
  atomic<uint32_t>(r, "atom.add", ".bf16x2", [](uint32_t a, uint32_t b, uint32_t) { return add_pair<bf16>(a, b); });
}

}  // namespace ptx::emulator::common
