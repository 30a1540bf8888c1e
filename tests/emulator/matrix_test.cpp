// mma of every shape and type on known matrices. Element positions are written here per shape, after the fragment
// figures of the PTX ISA, and not by the emulator's common rule.
#include <gtest/gtest.h>

#include <bit>
#include <functional>
#include <random>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

struct Spot {
  int row, column;
};
using Layout = std::function<Spot(int group, int place, int i)>;

// a0..: (row, k); b0..: (k, column); c0..: (row, column)
const Layout kC16 = [](int g, int p, int i) { return Spot{i < 2 ? g : g + 8, p * 2 + (i & 1)}; };
const Layout kC8 = [](int g, int p, int i) { return Spot{g, p * 2 + i}; };

struct MatrixCase {
  const char* types;  // spelling after the shape and layouts
  int m, n, k;
  const char* d;        // f32 f16 s32 f64
  int bits;             // per element of a and b
  const char* element;  // f16 bf16 tf32 f64 s8 u8 s4 u4 e4m3 b1
  Layout a, b;
};

const std::vector<MatrixCase>& cases() {
  static const Layout a_k8_16 = [](int g, int p, int i) { return Spot{i < 2 ? g : g + 8, p * 2 + (i & 1)}; };
  static const Layout b_k8_16 = [](int g, int p, int i) { return Spot{p * 2 + i, g}; };
  static const Layout a_k16_16 = [](int g, int p, int i) {
    return Spot{i < 2 || (i >= 4 && i < 6) ? g : g + 8, p * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
  };
  static const Layout b_k16_16 = [](int g, int p, int i) { return Spot{p * 2 + (i & 1) + (i >= 2 ? 8 : 0), g}; };
  static const Layout a_k4_32 = [](int g, int p, int i) { return Spot{i == 0 ? g : g + 8, p}; };
  static const Layout b_k4_32 = [](int g, int p, int) { return Spot{p, g}; };
  static const Layout a_k8_32 = [](int g, int p, int i) {
    return Spot{i == 0 || i == 2 ? g : g + 8, i < 2 ? p : p + 4};
  };
  static const Layout b_k8_32 = [](int g, int p, int i) { return Spot{i == 0 ? p : p + 4, g}; };
  static const Layout a_m8_8 = [](int g, int p, int i) { return Spot{g, p * 4 + i}; };
  static const Layout b_m8_8 = [](int g, int p, int i) { return Spot{p * 4 + i, g}; };
  static const Layout a_k16_8 = [](int g, int p, int i) { return Spot{i < 4 ? g : g + 8, p * 4 + (i & 3)}; };
  static const Layout a_k32_8 = [](int g, int p, int i) {
    return Spot{i < 4 || (i >= 8 && i < 12) ? g : g + 8, p * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
  };
  static const Layout b_k32_8 = [](int g, int p, int i) { return Spot{p * 4 + (i & 3) + (i >= 4 ? 16 : 0), g}; };
  static const Layout a_m8_4 = [](int g, int p, int i) { return Spot{g, p * 8 + i}; };
  static const Layout b_m8_4 = [](int g, int p, int i) { return Spot{p * 8 + i, g}; };
  static const Layout a_k64_4 = [](int g, int p, int i) {
    return Spot{i < 8 || (i >= 16 && i < 24) ? g : g + 8, p * 8 + (i & 7) + (i >= 16 ? 32 : 0)};
  };
  static const Layout b_k64_4 = [](int g, int p, int i) { return Spot{p * 8 + (i & 7) + (i >= 8 ? 32 : 0), g}; };
  static const Layout a_m8_64 = [](int g, int p, int) { return Spot{g, p}; };
  static const std::vector<MatrixCase> rows = {
      {"f32.f16.f16.f32", 16, 8, 8, "f32", 16, "f16", a_k8_16, b_k8_16},
      {"f32.f16.f16.f32", 16, 8, 16, "f32", 16, "f16", a_k16_16, b_k16_16},
      {"f16.f16.f16.f16", 16, 8, 16, "f16", 16, "f16", a_k16_16, b_k16_16},
      {"f32.bf16.bf16.f32", 16, 8, 8, "f32", 16, "bf16", a_k8_16, b_k8_16},
      {"f32.bf16.bf16.f32", 16, 8, 16, "f32", 16, "bf16", a_k16_16, b_k16_16},
      {"f32.tf32.tf32.f32", 16, 8, 4, "f32", 32, "tf32", a_k4_32, b_k4_32},
      {"f32.tf32.tf32.f32", 16, 8, 8, "f32", 32, "tf32", a_k8_32, b_k8_32},
      {"f64.f64.f64.f64", 8, 8, 4, "f64", 64, "f64", a_m8_64, b_k4_32},
      {"s32.s8.s8.s32", 8, 8, 16, "s32", 8, "s8", a_m8_8, b_m8_8},
      {"s32.u8.u8.s32", 16, 8, 16, "s32", 8, "u8", a_k16_8, b_m8_8},
      {"s32.s8.s8.s32", 16, 8, 32, "s32", 8, "s8", a_k32_8, b_k32_8},
      {"s32.s4.s4.s32", 8, 8, 32, "s32", 4, "s4", a_m8_4, b_m8_4},
      {"s32.u4.u4.s32", 16, 8, 64, "s32", 4, "u4", a_k64_4, b_k64_4},
      {"f32.e4m3.e4m3.f32", 16, 8, 32, "f32", 8, "e4m3", a_k32_8, b_k32_8},
  };
  return rows;
}

// Small integers are exact in every format.
uint64_t encoded(const std::string& type, int value) {
  if (type == "f64") return std::bit_cast<uint64_t>(static_cast<double>(value));
  const uint32_t single = std::bit_cast<uint32_t>(static_cast<float>(value));
  if (type == "f32" || type == "tf32") return single;
  if (type == "bf16") return single >> 16;
  if (type == "f16")
    return value == 0 ? 0 : (single >> 16 & 0x8000) | ((single >> 23 & 255) - 112) << 10 | (single >> 13 & 0x3ff);
  if (type == "e4m3")
    return value == 0 ? 0 : (single >> 24 & 0x80) | ((single >> 23 & 255) - 120) << 3 | (single >> 20 & 7);
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}
int decoded(const std::string& type, uint64_t bits) {
  if (type == "f64") return static_cast<int>(std::bit_cast<double>(bits));
  if (type == "f32") return static_cast<int>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  if (type == "s32") return static_cast<int>(bits);
  if ((bits & 0x7fff) == 0) return 0;
  return static_cast<int>(std::bit_cast<float>(
      static_cast<uint32_t>((bits & 0x8000) << 16 | ((bits >> 10 & 31) + 112) << 23 | (bits & 0x3ff) << 13)));
}

// Registers of a fragment, [register][lane], from a matrix given per element.
std::vector<uint64_t> fragment(const Layout& layout, int elements, int bits,
                               const std::function<uint64_t(Spot)>& value) {
  const int width = bits == 64 ? 64 : 32, per = width / bits, registers = elements / per;
  std::vector<uint64_t> result(static_cast<size_t>(registers) * 32);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < elements; ++i) {
      const uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
      result[static_cast<size_t>(i / per * 32 + lane)] |= (value(layout(lane / 4, lane % 4, i)) & mask)
                                                          << i % per * bits;
    }
  }
  return result;
}

class Matrix : public ::testing::TestWithParam<size_t> {};

TEST_P(Matrix, MultipliesKnownMatrices) {
  const MatrixCase& c = cases()[GetParam()];
  const bool is_unsigned = c.element[0] == 'u', is_narrow = c.bits == 4;
  std::mt19937 random(7);
  const auto draw = [&] {
    return static_cast<int>(random() % (is_narrow ? 8 : 13)) - (is_unsigned ? 0 : is_narrow ? 4 : 6);
  };
  std::vector<int> a(static_cast<size_t>(c.m * c.k)), b(static_cast<size_t>(c.k * c.n)),
      sum(static_cast<size_t>(c.m * c.n));
  for (int& x : a) x = draw();
  for (int& x : b) x = draw();
  for (int& x : sum) x = draw();
  const Layout& layout_c = c.m == 16 ? kC16 : kC8;
  const int bits_d = std::string(c.d) == "f64" ? 64 : std::string(c.d) == "f16" ? 16 : 32;
  const auto fa = fragment(c.a, c.m * c.k / 32, c.bits,
                           [&](Spot s) { return encoded(c.element, a[static_cast<size_t>(s.row * c.k + s.column)]); });
  const auto fb = fragment(c.b, c.k * c.n / 32, c.bits,
                           [&](Spot s) { return encoded(c.element, b[static_cast<size_t>(s.row * c.n + s.column)]); });
  const auto fc = fragment(layout_c, c.m * c.n / 32, bits_d,
                           [&](Spot s) { return encoded(c.d, sum[static_cast<size_t>(s.row * c.n + s.column)]); });
  // every register is a column of 64-bit words: a, then b, then c
  std::vector<uint64_t> in = fa;
  in.insert(in.end(), fb.begin(), fb.end());
  in.insert(in.end(), fc.begin(), fc.end());
  std::string code = ".reg .b64 %w<48>; .reg .b32 %v<48>; .reg .f64 %x<48>; .reg .f32 %y<48>;\n";
  const auto registers = [&](size_t first, size_t count, bool wide, bool real) {
    std::string list = "{";
    for (size_t i = first; i < first + count; ++i)
      list += (i > first ? ", " : "") + std::string(wide ? "%x" : real ? "%y" : "%v") + std::to_string(i);
    return list + "}";
  };
  const size_t na = fa.size() / 32, nb = fb.size() / 32, nc = fc.size() / 32;
  const bool wide = c.bits == 64, real_d = std::string(c.d) == "f32";
  for (size_t i = 0; i < na + nb + nc; ++i) {
    const std::string n = std::to_string(i);
    code += "mad.wide.u32 %rd1, %thread, 8, %in;\nld.global.b64 %w" + n + ", [%rd1+" + std::to_string(i * 256) +
            "];\ncvt.u32.u64 %v" + n + ", %w" + n + ";\nmov.b64 %x" + n + ", %w" + n + ";\nmov.b32 %y" + n + ", %v" +
            n + ";\n";
  }
  const std::string d = registers(na + nb, nc, wide, real_d);
  code += "mma.sync.aligned.m" + std::to_string(c.m) + "n" + std::to_string(c.n) + "k" + std::to_string(c.k) +
          ".row.col." + c.types + " " + d + ", " + registers(0, na, wide, false) + ", " +
          registers(na, nb, wide, false) + ", " + d + ";\n";
  for (size_t i = 0; i < nc; ++i) {
    const std::string n = std::to_string(na + nb + i);
    code += "mad.wide.u32 %rd1, %thread, 8, %out;\n" +
            std::string(wide     ? "st.global.f64 [%rd1+"
                        : real_d ? "st.global.f32 [%rd1+"
                                 : "st.global.b32 [%rd1+") +
            std::to_string(i * 256) + "], " +
            (wide     ? "%x"
             : real_d ? "%y"
                      : "%v") +
            n + ";\n";
  }
  Device device;
  const Module module(kernel(code), device.profile, device.memory);
  uint64_t* out = device.zeros<uint64_t>(nc * 32);
  ASSERT_EQ(run(device, module, "k", {1}, {32}, pack_parameters(out, device.upload(in))), "");
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < c.m * c.n / 32; ++i) {
      const Spot s = layout_c(lane / 4, lane % 4, i);
      int expected = sum[static_cast<size_t>(s.row * c.n + s.column)];
      for (int k = 0; k < c.k; ++k)
        expected += a[static_cast<size_t>(s.row * c.k + k)] * b[static_cast<size_t>(k * c.n + s.column)];
      const int per = bits_d == 16 ? 2 : 1;
      uint64_t got = out[i / per * 32 + lane];
      if (bits_d == 16) got = got >> i % 2 * 16 & 0xffff;
      EXPECT_EQ(decoded(c.d, got), expected) << "row " << s.row << " column " << s.column;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Matrix, ::testing::Range<size_t>(0, cases().size()), [](const auto& row) {
  const MatrixCase& c = cases()[row.param];
  return "m" + std::to_string(c.m) + "k" + std::to_string(c.k) + "_" + c.element + "_" + c.d;
});

TEST(MatrixSum, SaturatesOrWraps) {
  for (bool saturates : {false, true}) {
    const Result r =
        run_text(kernel("mov.u32 %r1, 0x7f7f7f7f;\nmov.u32 %r2, 0x7fffffff;\nmma.sync.aligned.m8n8k16.row.col" +
                        std::string(saturates ? ".satfinite" : "") +
                        ".s32.s8.s8.s32 {%r0, %r3}, {%r1}, {%r1}, {%r2, %r2};\n" + kStoreResult),
                 {1}, {32}, 32);
    ASSERT_EQ(r.fault, "");
    EXPECT_EQ(r.words[5], saturates ? 0x7fffffffu : 0x7fffffffu + 16u * 127 * 127);
  }
}

TEST(MatrixMemory, LoadAndStoreByRowsOf16Bytes) {
  std::vector<uint32_t> in;
  for (uint32_t i = 0; i < 128; ++i)
    in.push_back((2 * i + 1) << 16 | 2 * i);  // halves 0, 1, 2, ... of four 8 x 8 matrices
  const std::string shared = ".shared .align 16 .b8 tile[512];\n";
  const std::string fill =
      "mov.u32 %r1, tile;\nmad.lo.u32 %r1, %thread, 16, %r1;\nmad.wide.u32 %rd1, %thread, 16, %in;\nld.global.v4.b32 "
      "{%r2, %r3, %r4, %r5}, [%rd1];\n"
      "st.shared.v4.b32 [%r1], {%r2, %r3, %r4, %r5};\nbar.warp.sync -1;\n";
  const std::string pick = "ldmatrix.sync.aligned.m8n8.x4";
  const Result plain = run_text(
      kernel(fill + pick + ".shared.b16 {%r6, %r7, %r0, %r8}, [%r1];\n" + kStoreResult, shared), {1}, {32}, 32, in);
  const Result transposed =
      run_text(kernel(fill + pick + ".trans.shared.b16 {%r6, %r7, %r0, %r8}, [%r1];\n" + kStoreResult, shared), {1},
               {32}, 32, in);
  const Result stored =
      run_text(kernel(fill + pick +
                          ".shared.b16 {%r6, %r7, %r8, %r9}, [%r1];\nbar.warp.sync "
                          "-1;\nstmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%r1], {%r6, %r7, %r8, %r9};\n"
                          "bar.warp.sync -1;\nld.shared.b32 %r0, [%r1+4];\n" +
                          kStoreResult,
                      shared),
               {1}, {32}, 32, in);
  const Result moved =
      run_text(kernel(fill +
                          "ld.shared.b32 %r2, [tile];\nmad.wide.u32 %rd2, %thread, 4, %in;\nld.global.b32 %r2, "
                          "[%rd2];\nmovmatrix.sync.aligned.m8n8.trans.b16 %r0, %r2;\n" +
                          kStoreResult,
                      shared),
               {1}, {32}, 32, in);
  ASSERT_EQ(plain.fault + transposed.fault + stored.fault + moved.fault, "");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t row = lane / 4, column = lane % 4 * 2;
    EXPECT_EQ(plain.words[lane], (128 + row * 8 + column + 1) << 16 | (128 + row * 8 + column));
    EXPECT_EQ(transposed.words[lane], (128 + (column + 1) * 8 + row) << 16 | (128 + column * 8 + row));
    EXPECT_EQ(moved.words[lane], ((column + 1) * 8 + row) << 16 | (column * 8 + row));
    const uint32_t matrix = lane / 8 * 64, r = lane % 8;  // elements 2 and 3 of row r of the transposed matrix
    EXPECT_EQ(stored.words[lane], (matrix + 3 * 8 + r) << 16 | (matrix + 2 * 8 + r));
  }
}

}  // namespace
}  // namespace ptx::emulator
