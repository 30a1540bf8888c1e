// One instruction as a function of lanes: a kernel loads its operands, runs the given PTX and stores %d. It runs on
// whole warps and on a partial one, with every instruction set of this machine.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "tests/emulator/harness.h"

namespace ptx::emulator {

template <class T>
struct RegisterText;
template <>
struct RegisterText<uint16_t> {
  static constexpr const char *reg = ".b16", *mem = "b16", *prefix = "h";
};
template <>
struct RegisterText<int16_t> : RegisterText<uint16_t> {};
template <>
struct RegisterText<uint32_t> {
  static constexpr const char *reg = ".b32", *mem = "b32", *prefix = "r";
};
template <>
struct RegisterText<int32_t> : RegisterText<uint32_t> {};
template <>
struct RegisterText<float> : RegisterText<uint32_t> {};
template <>
struct RegisterText<uint64_t> {
  static constexpr const char *reg = ".b64", *mem = "b64", *prefix = "l";
};
template <>
struct RegisterText<int64_t> : RegisterText<uint64_t> {};
template <>
struct RegisterText<double> : RegisterText<uint64_t> {};
template <>
struct RegisterText<bool> : RegisterText<uint32_t> {};  // %d is a predicate

inline std::vector<InstructionSet> instruction_sets() {
  std::vector<InstructionSet> sets = {InstructionSet::kBaseline};
  if (best_instruction_set() >= InstructionSet::kAvx2) sets.push_back(InstructionSet::kAvx2);
  if (best_instruction_set() >= InstructionSet::kAvx512) sets.push_back(InstructionSet::kAvx512);
  return sets;
}

// The kernel: elements i of the inputs x, y, z are %a, %b, %c; %d goes to element i of the output.
template <class D, class... S>
std::string lane_kernel(const std::string& code, uint32_t target) {
  static constexpr const char* kNames[] = {"%a", "%b", "%c", "%e"};
  constexpr bool kPredicate = std::is_same_v<D, bool>;
  std::string text =
      ".version 9.0\n.target sm_" + std::to_string(target) + "\n.address_size 64\n.visible .entry k(.param .b64 out";
  for (size_t s = 0; s < sizeof...(S); ++s) text += ", .param .b64 in" + std::to_string(s);
  text +=
      ")\n{\n.reg .b64 %at, %base;\n.reg .b32 %t, %n, %i, %u, %v, %w;\n.reg .pred %p, %q;\n.reg .b16 %h, %g;\n.reg "
      ".b64 %l, %m;\n";
  text += std::string(".reg ") + (kPredicate ? ".pred" : RegisterText<D>::reg) + " %d;\n";
  text += "mov.u32 %t, %tid.x;\nmov.u32 %n, %ctaid.x;\nmov.u32 %i, %ntid.x;\nmad.lo.s32 %t, %n, %i, %t;\n";
  size_t s = 0;
  const auto load = [&](const char* reg, const char* mem, size_t bytes) {
    text += std::string(".reg ") + reg + " " + kNames[s] + ";\nld.param.b64 %base, [in" + std::to_string(s) +
            "];\nmad.wide.u32 %at, %t, " + std::to_string(bytes) + ", %base;\nld.global." + mem + " " + kNames[s] +
            ", [%at];\n";
    ++s;
  };
  (load(RegisterText<S>::reg, RegisterText<S>::mem, sizeof(S)), ...);
  const size_t bytes = kPredicate ? 4 : sizeof(D);
  text += code + "\n";
  if (kPredicate) text += "selp.b32 %u, 1, 0, %d;\n";
  text += "ld.param.b64 %base, [out];\nmad.wide.u32 %at, %t, " + std::to_string(bytes) + ", %base;\nst.global." +
          RegisterText<D>::mem + " [%at], " + (kPredicate ? "%u" : "%d") + ";\nret;\n}\n";
  return text;
}

template <class D>
using Stored = std::conditional_t<std::is_same_v<D, bool>, uint32_t, D>;

// %d for every element of the inputs; `errors` collects failures of loading and running.
template <class D, class... S>
std::vector<Stored<D>> evaluate(const std::string& code, InstructionSet set, uint32_t target,
                                const std::vector<S>&... inputs) {
  Device device(profile_named("sm_120"));
  const std::string text = lane_kernel<D, S...>(code, target);
  const size_t n = std::min({inputs.size()...});
  Stored<D>* out = device.zeros<Stored<D>>(n + 64);
  try {
    const Module module(text, device.profile, device.memory, set);
    const uint32_t block = 77;  // two whole warps and a ragged one
    const uint32_t grid = static_cast<uint32_t>(n) / block;
    const auto parameters = pack_parameters(out, device.upload(inputs)...);
    EXPECT_EQ(run(device, module, "k", {grid, 1, 1}, {block, 1, 1}, parameters), "") << code;
    return device.download(out, size_t{grid} * block);
  } catch (const std::exception& error) {
    ADD_FAILURE() << code << ": " << error.what();
    return {};
  }
}

// Values at the limits of arithmetic, then random ones.
template <class T>
std::vector<T> corner_values() {
  if constexpr (std::is_floating_point_v<T>) {
    using L = std::numeric_limits<T>;
    return {T(0),
            -T(0),
            T(1),
            T(-1),
            T(0.5),
            T(1.5),
            T(2.5),
            T(-2.5),
            T(3),
            L::max(),
            L::lowest(),
            L::min(),
            -L::min(),
            L::denorm_min(),
            -L::denorm_min(),
            L::min() / 2,
            L::infinity(),
            -L::infinity(),
            L::quiet_NaN(),
            T(65504),
            T(65520),
            T(1e-8),
            T(2147483648.0),
            T(-2147483648.0),
            T(4294967296.0),
            T(0.99999994),
            T(1.0000001),
            T(16777217),
            T(100.75),
            T(-0.3)};
  } else {
    using U = std::make_unsigned_t<T>;
    constexpr int kBits = 8 * sizeof(T);
    return {T(0),
            T(1),
            T(2),
            T(-1),
            T(-2),
            T(U(1) << (kBits - 1)),
            T((U(1) << (kBits - 1)) - 1),
            T(3),
            T(7),
            T(8),
            T(15),
            T(16),
            T(17),
            T(31),
            T(32),
            T(33),
            T(63),
            T(64),
            T(65),
            T(127),
            T(128),
            T(255),
            T(256),
            T(0x5555),
            T(0x1234),
            T(-100),
            T(100)};
  }
}

template <class T>
T random_value(std::mt19937_64& random) {
  if constexpr (std::is_floating_point_v<T>) {
    if (random() % 4 == 0) return static_cast<T>(std::ldexp(static_cast<double>(static_cast<int64_t>(random())), -62));
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    const T value = std::bit_cast<T>(static_cast<U>(random()));
    return std::isnan(value) ? T(1.25) : value;
  } else {
    return static_cast<T>(random() >> random() % 64);
  }
}

// Every corner value with every corner value of the other inputs (strides without common factor), and as many random
// values.
template <class T>
std::vector<T> test_values(size_t which, size_t count, uint64_t seed) {
  const std::vector<T> corners = corner_values<T>();
  std::mt19937_64 random(seed * 7 + which);
  std::vector<T> values;
  for (size_t i = 0; i < count; ++i) {
    if (i < count / 2)
      values.push_back(corners[(which == 0 ? i : which == 1 ? i / corners.size() : i * 7 / 3) % corners.size()]);
    else
      values.push_back(random_value<T>(random));
  }
  return values;
}

template <class T>
bool same_bits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return std::memcmp(&a, &b, sizeof a) == 0 || (std::isnan(a) && std::isnan(b));
  else
    return a == b;
}

template <class... S, size_t... which>
std::tuple<std::vector<S>...> test_inputs(size_t count, std::index_sequence<which...>) {
  return {test_values<S>(which, count, 1)...};
}

// Compares the instruction with a C++ function over test_values; prints the first operands with a difference.
template <class D, class... S, class F>
void expect_lanes(const std::string& code, F reference, uint32_t target = 90,
                  std::function<bool(Stored<D>, Stored<D>)> same = same_bits<Stored<D>>) {
  constexpr size_t kCount = 77 * 30;
  const auto inputs = test_inputs<S...>(kCount, std::index_sequence_for<S...>{});
  for (InstructionSet set : instruction_sets()) {
    std::apply(
        [&](const auto&... in) {
          const auto results = evaluate<D, S...>(code, set, target, in...);
          for (size_t i = 0; i < results.size(); ++i) {
            const Stored<D> expected = static_cast<Stored<D>>(reference(in[i]...));
            if (same(results[i], expected)) continue;
            std::string operands;
            ((operands += " " + ::testing::PrintToString(in[i])), ...);
            ADD_FAILURE() << code << " (instruction set " << static_cast<int>(set) << ", element " << i
                          << "):" << operands << " gives " << ::testing::PrintToString(results[i]) << ", expected "
                          << ::testing::PrintToString(expected);
            return;
          }
        },
        inputs);
  }
}

}  // namespace ptx::emulator
