#include "operations.h"

namespace ptx::testing {

Inputs::Inputs(Builder& builder)
    : u16_a(builder.param<u16>("u16_a")),
      u16_b(builder.param<u16>("u16_b")),
      s16_a(builder.param<s16>("s16_a")),
      s16_b(builder.param<s16>("s16_b")),
      a(builder.param<u32>("a")),
      b(builder.param<u32>("b")),
      c(builder.param<u32>("c")),
      i(builder.param<s32>("i")),
      j(builder.param<s32>("j")),
      k(builder.param<s32>("k")),
      l(builder.param<u64>("l")),
      m(builder.param<u64>("m")),
      n(builder.param<u64>("n")),
      v(builder.param<s64>("v")),
      w(builder.param<s64>("w")),
      b16_a(builder.param<b16>("b16_a")),
      b32_a(builder.param<b32>("b32_a")),
      b32_b(builder.param<b32>("b32_b")),
      b32_c(builder.param<b32>("b32_c")),
      b64_a(builder.param<b64>("b64_a")),
      b64_b(builder.param<b64>("b64_b")),
      u8x4_a(builder.param<u8x4>("u8x4_a")),
      u8x4_b(builder.param<u8x4>("u8x4_b")),
      s8x4_a(builder.param<s8x4>("s8x4_a")),
      s8x4_b(builder.param<s8x4>("s8x4_b")),
      f16_a(builder.param<f16>("f16_a")),
      f16_b(builder.param<f16>("f16_b")),
      f16_c(builder.param<f16>("f16_c")),
      bf16_a(builder.param<bf16>("bf16_a")),
      bf16_b(builder.param<bf16>("bf16_b")),
      bf16_c(builder.param<bf16>("bf16_c")),
      f16x2_a(builder.param<f16x2>("f16x2_a")),
      f16x2_b(builder.param<f16x2>("f16x2_b")),
      f16x2_c(builder.param<f16x2>("f16x2_c")),
      bf16x2_a(builder.param<bf16x2>("bf16x2_a")),
      bf16x2_b(builder.param<bf16x2>("bf16x2_b")),
      bf16x2_c(builder.param<bf16x2>("bf16x2_c")),
      x(builder.param<f32>("x")),
      y(builder.param<f32>("y")),
      z(builder.param<f32>("z")),
      d(builder.param<f64>("d")),
      e(builder.param<f64>("e")),
      f(builder.param<f64>("f")),
      p((a < b).named("p")),
      q((b < c).named("q")) {}

std::vector<const Operation*> all_operations() {
  std::vector<const Operation*> all;
  for (const auto* list : {&arithmetic_operations(), &conversion_operations(), &memory_operations(), &warp_operations(),
                           &tensor_operations()}) {
    for (const Operation& operation : *list) all.push_back(&operation);
  }
  return all;
}

Kernel kernel_of(const Operation& operation, Target target) {
  Builder b(std::string("test_") + operation.name, target);
  const Inputs inputs(b);
  b.region("operation", [&] { operation.build(b, inputs); });
  return b.finish(Launch{1, 32});
}

// Removes indentation and trailing comments.
std::string added_lines(const std::string& text) {
  const std::string start = "  // tag: operation\n";
  const size_t first = text.find(start) + start.size(), end = text.find("  // end tag: operation");
  std::string lines;
  for (size_t at = first; at < end;) {
    const size_t next = text.find('\n', at) + 1;
    std::string line = text.substr(at, next - at - 1);
    line.erase(0, line.find_first_not_of(' '));
    if (const size_t comment = line.find(";  //"); comment != line.npos) line.erase(comment + 1);
    lines += lines.empty() ? line : "\n" + line;
    at = next;
  }
  return lines;
}

}  // namespace ptx::testing
