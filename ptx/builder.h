// Builds one kernel, or one device function: parameters and memory here, what it does in the headers included below,
// PTX text from finish().
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

// A C++ type with the bytes of T, for tables of constants.
template <class N, class T>
concept StoredAs = sizeof(N) == bytes_of(T::kType);

// An operand of a raw line, of any type.
struct RawOperand : AnyIn {
  template <Value V>
  RawOperand(const V& value) : AnyIn(In<ElementOf<V>>(value)) {}
  template <class T>
  RawOperand(const In<T>& value) : AnyIn(value) {}
};

// What a call passes: a register, a number of 32 bits, or an address.
struct CallOperand : AnyIn {
  template <Value V>
  CallOperand(const V& value, Where where = Where::current()) : AnyIn(In<ElementOf<V>>(value, where)) {}
  template <class T, Space S>
  CallOperand(const Pointer<T, S>& pointer, Where where = Where::current())
      : AnyIn{whole_address(pointer.address(), where), &pointer.body(), where} {}
  CallOperand(uint32_t number, Where where = Where::current()) : AnyIn(In<u32>(number, where)) {}
  static CallOperand null(Where where = Where::current()) { return CallOperand(In<u64>(0, where)); }  // an address

 private:
  explicit CallOperand(const AnyIn& in) : AnyIn(in) {}
};

// Holds what the parts of the builder write into, and so is made before them.
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
  // `name` is the entry's, an identifier; throws Error otherwise.
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

  // A function's arguments, in the order of the call's, instead of parameters. sharing: which threads must be passed
  // the same value. The second and third are addresses: of global memory, and of the memory behind which the function's
  // shared arrays will lie; that one comes before any array, and at most once.
  template <class T>
  Reg<T> argument(const std::string& name, Sharing sharing, Where at = Where::current()) {
    return {kernel_, argument_register(name, T::kType, sharing, 1, at)};
  }
  template <class T>
  Global<T> global_argument(const std::string& name, Sharing sharing, int alignment = 16, Where at = Where::current()) {
    return {kernel_, argument_register(name, Type::kU64, sharing, alignment, at)};
  }
  void shared_argument(const std::string& name, Where at = Where::current());

  // Calls a function, for which the threads come together as it says, and goes on when it returns.
  void call(const FunctionPointer& function, const std::vector<CallOperand>& arguments, Where at = Where::current());

  // Memory of the block, the thread, and the module. Dynamic shared memory follows the static one, its parts in order.
  template <class T>
  Shared<T> shared(const std::string& name, uint64_t elements, int alignment = 16, Where at = Where::current()) {
    return {kernel_, array(Space::kShared, name, T::kType, elements, alignment, at)};
  }
  template <class T>
  Shared<T> dynamic_shared(const std::string& name, uint64_t elements, int alignment = 16,
                           Where at = Where::current()) {
    return {kernel_, dynamic_array(name, T::kType, elements, alignment, at)};
  }
  // Said before the first turn: the array of all turns (in_turn) is the dynamic shared memory, which then has no other
  // parts, and may be larger than static memory.
  void dynamic_turns() { kernel_.has_dynamic_turns = true; }
  // Shared arrays that body() asks for begin where those of every other turn begin: one array serves all turns, as
  // large as the largest. A block barrier must part a turn from the next. Names may repeat from turn to turn. Turns
  // within a turn follow what that one has asked for before them.
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
  // A pointer as a number, and back: an address that memory held, as of a page of a table or a buffer of another
  // kernel.
  template <class T>
  Reg<u64> address(const Global<T>& pointer, Where at = Where::current()) {
    return {kernel_, whole_address(pointer.address(), at)};
  }
  template <class T>
  Global<T> pointer(In<u64> address, int alignment) {
    return Global<T>(kernel_, settled(kernel_, Type::kU64, address.operand, address.at)).aligned(alignment, address.at);
  }

  // Variables. Without a value they must be assigned on every way to a use.
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

  // Launch bounds: .maxntid (finish takes it from the launch otherwise) and .minnctapersm.
  void max_threads(uint32_t per_block) { kernel_.max_threads = per_block; }
  void min_blocks_per_sm(uint32_t blocks) { kernel_.min_blocks = blocks; }

  // A line as it is, for what the builder lacks; {0}, {1}, ... stand for the result, if any, and the operands. The
  // verifier cannot look inside and notes it.
  void raw(const std::string& line, std::initializer_list<RawOperand> operands = {}, Where at = Where::current());
  template <class T>
  Reg<T> raw(const std::string& line, std::initializer_list<RawOperand> operands = {}, Where at = Where::current()) {
    return {kernel_, raw_value(line, T::kType, operands, at)};
  }

  Target target() const { return kernel_.target; }
  const std::string& name() const { return kernel_.name; }

  // Verifies and spells the kernel; throws Error with every finding. The builder is spent afterwards.
  Kernel finish(Launch launch = {}, Cost cost = {});
  // The same of a function; a return in it must be an inlined part's, so that the threads that came together also
  // leave together.
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
