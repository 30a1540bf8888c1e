// Every operation of the builder with its expected text, shared by tests of the text, of target gates and of ptxas.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "ptx/builder.h"

namespace ptx::testing {

// A kernel with registers of every type, named as below.
struct Inputs {
  explicit Inputs(Builder& b);
  Reg<u16> u16_a, u16_b;
  Reg<s16> s16_a, s16_b;
  Reg<u32> a, b, c;
  Reg<s32> i, j, k;
  Reg<u64> l, m, n;
  Reg<s64> v, w;
  Reg<b16> b16_a;
  Reg<b32> b32_a, b32_b, b32_c;
  Reg<b64> b64_a, b64_b;
  Reg<u8x4> u8x4_a, u8x4_b;
  Reg<s8x4> s8x4_a, s8x4_b;
  Reg<f16> f16_a, f16_b, f16_c;
  Reg<bf16> bf16_a, bf16_b, bf16_c;
  Reg<f16x2> f16x2_a, f16x2_b, f16x2_c;
  Reg<bf16x2> bf16x2_a, bf16x2_b, bf16x2_c;
  Reg<f32> x, y, z;
  Reg<f64> d, e, f;
  Pred p, q;
};

struct Operation {
  const char* name;
  Target minimum;
  std::function<void(Builder&, const Inputs&)> build;
  const char* text;     // the added lines, one instruction each
  bool adapts = false;  // older targets get other instructions instead of an error
};

const std::vector<Operation>& arithmetic_operations();
const std::vector<Operation>& conversion_operations();
const std::vector<Operation>& memory_operations();
const std::vector<Operation>& warp_operations();
const std::vector<Operation>& tensor_operations();
std::vector<const Operation*> all_operations();

// A kernel with only the operation, and the lines that it adds.
Kernel kernel_of(const Operation& operation, Target target);
std::string added_lines(const std::string& text);

}  // namespace ptx::testing
