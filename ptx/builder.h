// Builds one kernel or device function: parameters and memory here, operations in the headers included below, PTX text
// from finish().
//   Builder b("scale", sm_80);
//   Global<f32> x = b.global<f32>("x", n);
//   Reg<u32> i = b.block() * 256 + b.thread();
//   b.if_(i < n, [&] { x.store(i, x.load(i) * 2.0f); });
//   Kernel kernel = b.finish(Launch{ceil_div(n, 256), 256});
#pragma once
#include "ptx/arithmetic.h"
#include "ptx/async_copy.h"
#include "ptx/control.h"
#include "ptx/convert.h"
#include "ptx/emitter.h"
#include "ptx/kernel.h"
#include "ptx/memory.h"
#include "ptx/special.h"
#include "ptx/tensor.h"
#include "ptx/warp.h"

namespace ptx {

// The type of a C++ number: 0.0f is f32, 1u is u32, 1 is s32.
namespace maps {
f32 of_number(float);
f64 of_number(double);
u32 of_number(uint32_t);
s32 of_number(int32_t);
u64 of_number(uint64_t);
s64 of_number(int64_t);
pred of_number(bool);
}  // namespace maps
template <Number N>
using TypeOfNumber = decltype(maps::of_number(N{}));

// The C++ type with T's size, for tables of constants.
template <class N, class T>
concept StoredAs = sizeof(N) == bytes_of(T::kType);

// An operand of a raw line, of any type.
struct RawOperand : AnyIn {
  template <Value V>
  RawOperand(const V& value) : AnyIn(In<ElementOf<V>>(value)) {}
  template <class T>
  RawOperand(const In<T>& value) : AnyIn(value) {}
};

// An argument of a call: a register, a 32-bit number, or an address.
struct CallOperand : AnyIn {
  template <Value V>
  CallOperand(const V& value, Where where = Where::current()) : AnyIn(In<ElementOf<V>>(value, where)) {}
  template <class T, Space S>
  CallOperand(const Pointer<T, S>& pointer, Where where = Where::current())
      : AnyIn{whole_address(pointer.address(), where), &pointer.body(), where} {}
  CallOperand(uint32_t number, Where where = Where::current()) : AnyIn(In<u32>(number, where)) {}
  static CallOperand null(Where where = Where::current()) { return CallOperand(In<u64>(0, where)); }  // as an address

 private:
  explicit CallOperand(const AnyIn& in) : AnyIn(in) {}
};

// Owns the body that the builder's bases write to, so it must be constructed first.
class BodyOwner {
 protected:
  BodyOwner(std::string name, Target target) : kernel_{std::move(name), target} {}
  Body kernel_;
};

class Builder : private BodyOwner,
                public Arithmetic,
                public Conversions,
                public AsyncCopies,
                public Warps,
                public Tensors,
                public Control,
                public Specials {
 public:
  // name: the entry's, an identifier; throws Error otherwise.
  Builder(std::string name, Target target, Where at = Where::current());
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  // Parameters, in the order of the launch's arguments.
  template <class T>
  Global<T> global(const std::string& name, uint64_t elements = 0, int alignment = 16, Where at = Where::current()) {
    return {kernel_, buffer(name, T::kType, elements, alignment, at)};
  }
  template <class T>
  Reg<T> param(const std::string& name, Where at = Where::current()) {
    return {kernel_, scalar(name, T::kType, at)};
  }

  // Arguments of a function, in call order, instead of parameters. sharing: which threads must pass the same value. The
  // second overload is a global address; shared_argument is the address of the function's shared arrays, declared
  // before any array and at most once.
  template <class T>
  Reg<T> argument(const std::string& name, Sharing sharing, Where at = Where::current()) {
    return {kernel_, argument_register(name, T::kType, sharing, 1, at)};
  }
  template <class T>
  Global<T> global_argument(const std::string& name, Sharing sharing, int alignment = 16, Where at = Where::current()) {
    return {kernel_, argument_register(name, Type::kU64, sharing, alignment, at)};
  }
  void shared_argument(const std::string& name, Where at = Where::current());

  // Calls a function; threads must be convergent as its `together` requires.
  void call(const FunctionPointer& function, const std::vector<CallOperand>& arguments, Where at = Where::current());

  // Memory of the block, the thread, and the module. Dynamic shared memory follows static memory; its parts are in
  // order.
  template <class T>
  Shared<T> shared(const std::string& name, uint64_t elements, int alignment = 16, Where at = Where::current()) {
    return {kernel_, array(Space::kShared, name, T::kType, elements, alignment, at)};
  }
  template <class T>
  Shared<T> dynamic_shared(const std::string& name, uint64_t elements, int alignment = 16,
                           Where at = Where::current()) {
    return {kernel_, dynamic_array(name, T::kType, elements, alignment, at)};
  }
  // Call before the first in_turn(): places its array in dynamic shared memory, which may exceed static limits and can
  // then have no other parts.
  void dynamic_turns() { kernel_.has_dynamic_turns = true; }
  // Shared arrays requested in body() overlap those of every other in_turn(): one array, as large as the largest,
  // serves all. A block barrier must separate two of them. Names may repeat. A nested in_turn() starts after what the
  // outer one has requested so far.
  template <std::invocable F>
  void in_turn(F&& body) {
    const auto outer = kernel_.turn_bytes;
    kernel_.turn_bytes = outer.value_or(0);
    body();
    kernel_.turn_bytes = outer;
  }
  template <class T>
  Local<T> local(const std::string& name, uint64_t elements, int alignment = 16, Where at = Where::current()) {
    return {kernel_, array(Space::kLocal, name, T::kType, elements, alignment, at)};
  }
  template <class T, StoredAs<T> N>
  Const<T> constant(const std::string& name, const std::vector<N>& values, Where at = Where::current()) {
    return {kernel_, constants(name, T::kType, values.data(), values.size() * sizeof(N), at)};
  }
  Mbarrier mbarrier(const std::string& name, Where at = Where::current()) {
    return Mbarrier(shared<b64>(name, 1, 8, at));
  }
  std::vector<Mbarrier> mbarriers(const std::string& name, int n, Where at = Where::current());
  // A pointer as a number, and back: for addresses stored in memory, such as those of pages or of another kernel's
  // buffer.
  template <class T>
  Reg<u64> address(const Global<T>& pointer, Where at = Where::current()) {
    return {kernel_, whole_address(pointer.address(), at)};
  }
  template <class T>
  Global<T> pointer(In<u64> address, int alignment) {
    return Global<T>(kernel_, settled(kernel_, Type::kU64, address.operand, address.at)).aligned(alignment, address.at);
  }
  template <class T>
  Shared<T> shared_pointer(In<u32> address, int alignment) {  // of the block, as a function's argument
    return Shared<T>(kernel_, settled(kernel_, Type::kU32, address.operand, address.at)).aligned(alignment, address.at);
  }

  // Variables. Without an initial value they must be assigned on every path to a use.
  template <class T>
  Var<T> var(const std::string& name, Where at = Where::current()) {
    return {kernel_, new_register(kernel_, T::kType, name, at, true)};
  }
  template <class T>
  Var<T> var(const std::string& name, In<T> value) {
    Var<T> variable = var<T>(name, value.at);
    variable = value;
    return variable;
  }
  template <Number N>
  Var<TypeOfNumber<N>> var(const std::string& name, N value, Where at = Where::current()) {
    return var<TypeOfNumber<N>>(name, In<TypeOfNumber<N>>(value, at));
  }
  template <Value V>
  Var<ElementOf<V>> var(const std::string& name, const V& value, Where at = Where::current()) {
    return var<ElementOf<V>>(name, In<ElementOf<V>>(value, at));
  }
  template <class T, int N>
  VarVec<T, N> vars(const std::string& name, Where at = Where::current()) {
    std::vector<Operand> registers;
    for (int i = 0; i < N; ++i) registers.push_back(var<T>(name, at).operand());
    return {kernel_, std::move(registers)};
  }
  template <class T, int N>
  VarVec<T, N> vars(const std::string& name, In<T> value) {
    std::vector<Operand> registers;
    for (int i = 0; i < N; ++i) registers.push_back(var<T>(name, value).operand());
    return {kernel_, std::move(registers)};
  }

  // Launch bounds: .maxntid (by default from the launch passed to finish) and .minnctapersm.
  void max_threads(uint32_t per_block) { kernel_.max_threads = per_block; }
  void min_blocks_per_sm(uint32_t blocks) { kernel_.min_blocks = blocks; }

  // A line of PTX for what the builder lacks; {0}, {1}, ... are the result, if any, and the operands. It is not
  // verified, and a note says so.
  void raw(const std::string& line, std::initializer_list<RawOperand> operands = {}, Where at = Where::current());
  template <class T>
  Reg<T> raw(const std::string& line, std::initializer_list<RawOperand> operands = {}, Where at = Where::current()) {
    return {kernel_, raw_value(line, T::kType, operands, at)};
  }

  Target target() const { return kernel_.target; }
  const std::string& name() const { return kernel_.name; }

  // Verifies and writes the kernel; throws Error with every finding. The builder cannot be used afterwards.
  Kernel finish(Launch launch = {}, Cost cost = {});
  // The same for a function. Return only inside inlined(), so that threads that entered together leave together.
  FunctionPointer finish_function();

 private:
  struct Written {
    Version version;
    Text text;
    std::vector<std::string> notes;
  };
  Written write();
  Operand argument_register(const std::string& name, Type type, Sharing sharing, int alignment, Where at);
  Operand buffer(const std::string& name, Type element, uint64_t elements, int alignment, Where at);
  Operand scalar(const std::string& name, Type type, Where at);
  Operand array(Space space, const std::string& name, Type element, uint64_t elements, int alignment, Where at);
  Operand array_in_turn(const std::string& name, Type element, uint64_t elements, int alignment, Where at);
  Operand dynamic_array(const std::string& name, Type element, uint64_t elements, int alignment, Where at);
  Operand constants(const std::string& name, Type element, const void* data, size_t bytes, Where at);
  Operand raw_value(const std::string& line, Type type, std::initializer_list<RawOperand> operands, Where at);
  int declare(Symbol symbol, Where at);
};

}  // namespace ptx
