// Typed pointers into the memory spaces. p + i counts elements; constants fold into the address of the access.
//   Global<f32> x = b.global<f32>("x", n);  Reg<f32> v = x.load(i);  Vec<f32, 8> w = x.load<8>(i * 8);  y.store(i, v);
// A wide access is split into the widest instructions of the target: up to four elements and 16 bytes, or eight and 32
// in global memory from sm_100 (so access f16 in pairs, p.as<f16x2>()). The address must be aligned to each piece,
// which the verifier proves from declared alignments and arithmetic.
#pragma once
#include "ptx/value.h"

namespace ptx {

enum class Order : uint8_t { kRelaxed, kAcquire, kRelease, kAcquireRelease };
enum class Scope : uint8_t { kBlock, kGpu, kSystem };  // .cta .gpu .sys: the threads that observe the order
enum class Atomic : uint8_t { kAdd, kMin, kMax, kIncrement, kDecrement, kAnd, kOr, kXor, kExchange };
std::string_view spell(Order order);
std::string_view spell(Scope scope);

// Cache policy of a global access.
struct Cache {
  enum class Policy : uint8_t { kDefault, kAll, kL2, kStreaming, kLastUse, kUncached, kWriteBack, kWriteThrough };
  enum class L1 : uint8_t { kNormal, kEvictFirst, kEvictLast, kNoAllocate };
  Policy policy = Policy::kDefault;  // loads: .ca .cg .cs .lu .cv; stores: .wb .cg .cs .wt
  bool read_only = false;            // .nc: the memory is constant while the kernel runs
  L1 l1 = L1::kNormal;               // PTX 7.4
  bool l2_128 = false;               // fetch 128 bytes into L2; PTX 7.4
};
inline constexpr Cache kReadOnly{.read_only = true};
inline constexpr Cache kReadOnce{.read_only = true, .l1 = Cache::L1::kNoAllocate};  // streaming, as for weights

template <class V>
concept IndexValue = Value<V> && OneOf<ElementOf<V>, u32, s32, u64, s64>;

// A whole number of elements: a register of 32 or 64 bits, or a C++ integer.
class Index : public AnyIn {
 public:
  Index(Where where = Where::current()) : AnyIn{{}, nullptr, where} {}  // 0
  template <IndexValue V>
  Index(const V& value, Where where = Where::current()) : AnyIn(In<ElementOf<V>>(value, where)) {}
  template <std::integral N>
  Index(N number, Where where = Where::current()) : AnyIn{{}, nullptr, where}, constant(static_cast<int64_t>(number)) {}
  int64_t constant = 0;  // used without a register
};

// Modifiers of an access besides space and type: ld.acquire.gpu.global, ld.global.nc.
struct Access {
  std::string order = "", cache = "";
};
Access load_access(Cache cache);
Access store_access(Cache cache);
Access ordered_access(Order order, Scope scope);
Access volatile_access();

// An address: a register plus bytes.
struct Address {
  Body* body;
  Space space;
  Operand base;        // u32 in shared memory, else u64
  int64_t offset = 0;  // bytes
};
Operand operand_of(const Address& address);
Operand whole_address(const Address& address, Where at);  // including its offset, in one register
Address advance(const Address& from, const Index& index, int element_bytes);
Address aligned(const Address& address, int bytes, Where at);
std::vector<Operand> load(const Address& from, Type type, int lanes, const Access& how, Where at);
void store(const Address& to, Type type, const std::vector<Operand>& values, const Access& how, Where at);
Operand atom(const Address& at, Type type, Atomic op, const Operand& value, Order order, Scope scope, Where where);
void red(const Address& at, Type type, Atomic op, const Operand& value, Order order, Scope scope, Where where);
Operand compare_and_swap(const Address& at, Type type, const Operand& expected, const Operand& desired, Order order,
                         Scope scope, Where where);
template <class T, Space S>
class Pointer {
 public:
  using Cell = Loaded<T>;  // register type of a loaded element: u32 for u8

  Pointer(Body& body, const Operand& base, int64_t offset = 0) : address_{&body, S, base, offset} {}
  explicit Pointer(const Address& address) : address_(address) {}
  Pointer(const Pointer&) = default;
  Pointer& operator=(const Pointer&) = delete;  // as for Reg: a loop advances an index instead

  friend Pointer operator+(const Pointer& p, Index i) { return Pointer(advance(p.address_, i, bytes_of(T::kType))); }
  friend Pointer operator-(const Pointer& p, int64_t i) { return p + Index(-i); }
  // The same address as a pointer to another type, whose alignment it must have.
  template <class U>
  Pointer<U, S> as() const {
    return Pointer<U, S>(address_);
  }
  // The author vouches for this alignment, which the arithmetic does not prove.
  Pointer aligned(int bytes, Where at = Where::current()) const { return Pointer(ptx::aligned(address_, bytes, at)); }

  Reg<Cell> load(Index i = {}, Cache cache = {}) const { return one(i, load_access(cache)); }
  template <int N>
  Vec<Cell, N> load(Index i = {}, Cache cache = {}) const {
    static_assert(N > 1 && (N & (N - 1)) == 0, "a wide load has 2, 4, 8, ... elements");
    return {*address_.body, ptx::load((*this + i).address_, T::kType, N, load_access(cache), i.at)};
  }
  void store(Index i, In<Cell> value, Cache cache = {}) const { put(i, {value.operand}, store_access(cache)); }
  template <int N>
  void store(Index i, const Vec<Cell, N>& values, Cache cache = {}) const {
    put(i, values.operands(), store_access(cache));
  }
  template <int N>
  void store(Index i, const In<Cell> (&values)[N], Cache cache = {}) const {
    std::vector<Operand> operands;
    for (const In<Cell>& value : values) operands.push_back(value.operand);
    put(i, operands, store_access(cache));
  }

  // Single-element synchronising accesses: acquire and release order all surrounding accesses, relaxed only the access
  // itself.
  Reg<Cell> load_acquire(Scope scope, Index i = {}) const { return one(i, ordered_access(Order::kAcquire, scope)); }
  Reg<Cell> load_relaxed(Scope scope, Index i = {}) const { return one(i, ordered_access(Order::kRelaxed, scope)); }
  Reg<Cell> load_volatile(Index i = {}) const { return one(i, volatile_access()); }
  void store_release(In<Cell> value, Scope scope, Index i = {}) const {
    put(i, {value.operand}, ordered_access(Order::kRelease, scope));
  }
  void store_relaxed(In<Cell> value, Scope scope, Index i = {}) const {
    put(i, {value.operand}, ordered_access(Order::kRelaxed, scope));
  }
  void store_volatile(In<Cell> value, Index i = {}) const { put(i, {value.operand}, volatile_access()); }

  // Atomic read-modify-write; atom returns the old value, red nothing. kAdd: u32 s32 u64 f32 f64 f16 f16x2, from sm_90
  // bf16 and bf16x2; kMin, kMax: integers; kIncrement, kDecrement: u32, wrapping at `value`.
  Reg<T> atom(Atomic op, In<T> value, Order order = Order::kRelaxed, Scope scope = Scope::kGpu) const {
    return {*address_.body, ptx::atom(address_, T::kType, op, value.operand, order, scope, value.at)};
  }
  void red(Atomic op, In<T> value, Order order = Order::kRelaxed, Scope scope = Scope::kGpu) const {
    ptx::red(address_, T::kType, op, value.operand, order, scope, value.at);
  }
  // Writes `desired` if the cell contains `expected`; returns the old value.
  Reg<T> compare_and_swap(In<T> expected, In<T> desired, Order order = Order::kRelaxed,
                          Scope scope = Scope::kGpu) const {
    return {*address_.body,
            ptx::compare_and_swap(address_, T::kType, expected.operand, desired.operand, order, scope, expected.at)};
  }

  const Address& address() const { return address_; }
  Body& body() const { return *address_.body; }

 private:
  Reg<Cell> one(const Index& i, const Access& how) const {
    return {*address_.body, ptx::load((*this + i).address_, T::kType, 1, how, i.at)[0]};
  }
  void put(const Index& i, const std::vector<Operand>& values, const Access& how) const {
    ptx::store((*this + i).address_, T::kType, values, how, i.at);
  }
  Address address_;
};

template <class T>
using Global = Pointer<T, Space::kGlobal>;
template <class T>
using Shared = Pointer<T, Space::kShared>;
template <class T>
using Local = Pointer<T, Space::kLocal>;
template <class T>
using Const = Pointer<T, Space::kConst>;

}  // namespace ptx
