// mma.m8n8k4 of f16, the oldest tensor-core product: four 8x8x4 products per warp, in every layout and type. Element
// positions follow the PTX ISA's figures.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

uint16_t half_bits(int v) {  // exact for |v| < 2048
  if (v == 0) return 0;
  const int size = std::abs(v), exponent = std::bit_width(static_cast<unsigned>(size)) - 1;
  const int fraction = (size << 10 >> exponent) & 1023;
  return static_cast<uint16_t>((v < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
}

struct Matrices {
  int a[4][8][4], b[4][4][8], c[4][8][8];
};

Matrices known_matrices() {
  Matrices x;
  std::mt19937 random(7);
  const auto fill = [&](auto& matrices) {
    for (auto& matrix : matrices)
      for (auto& row : matrix)
        for (int& v : row) v = static_cast<int>(random() % 15) - 7;
  };
  fill(x.a), fill(x.b), fill(x.c);
  return x;
}

// Thirty-two lanes with 2 registers of a, 2 of b and 8 of c each.
std::vector<uint32_t> fragments(const Matrices& x, bool a_by_row, bool b_by_row, bool c_is_half) {
  std::vector<uint32_t> words;
  for (int lane = 0; lane < 32; ++lane) {
    const int q = lane % 16 / 4, low = lane < 16 ? 0 : 4, t = lane % 4;
    uint16_t a[4], b[4];
    for (int i = 0; i < 4; ++i) {
      a[i] = half_bits(a_by_row ? x.a[q][t + low][i] : x.a[q][i + low][t]);
      b[i] = half_bits(b_by_row ? x.b[q][t][i + low] : x.b[q][i][t + low]);
    }
    for (int i = 0; i < 4; i += 2) words.push_back(a[i] | static_cast<uint32_t>(a[i + 1]) << 16);
    for (int i = 0; i < 4; i += 2) words.push_back(b[i] | static_cast<uint32_t>(b[i + 1]) << 16);
    for (int i = 0; i < 8; ++i) {
      if (c_is_half) {
        const int row = t + low, column = 2 * i % 8;
        words.push_back(half_bits(x.c[q][row][column]) | static_cast<uint32_t>(half_bits(x.c[q][row][column + 1]))
                                                             << 16);
      } else {
        const int row = (lane & 1) + (i & 2) + low, column = (i & 4) + (lane & 2) + (i & 1);
        words.push_back(std::bit_cast<uint32_t>(static_cast<float>(x.c[q][row][column])));
      }
    }
  }
  return words;
}

std::string registers(const char* prefix, int first, int count) {
  std::string list = "{";
  for (int i = 0; i < count; ++i) list += (i ? ", " : "") + std::string(prefix) + std::to_string(first + i);
  return list + "}";
}

TEST(QuadPair, FourProductsInEveryLayoutAndType) {
  const Matrices x = known_matrices();
  for (const char* la : {"row", "col"}) {
    for (const char* lb : {"row", "col"}) {
      for (const char* d : {"f16", "f32"}) {
        for (const char* c : {"f16", "f32"}) {
          const bool d_is_half = d[1] == '1', c_is_half = c[1] == '1';
          if (d_is_half && !c_is_half) continue;  // this form does not exist
          std::string body = "mad.wide.u32 %rd1, %thread, 48, %in;\n";
          for (int i = 0; i < 4; ++i)
            body += "ld.global.b32 %r" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
          for (int i = 0; i < 8; ++i)
            body += std::string("ld.global.b32 ") + (c_is_half ? "%r" : "%f") + std::to_string(4 + i) + ", [%rd1+" +
                    std::to_string(16 + 4 * i) + "];\n";
          body += std::string("mma.sync.aligned.m8n8k4.") + la + "." + lb + "." + d + ".f16.f16." + c + " " +
                  registers(d_is_half ? "%r" : "%f", 20, d_is_half ? 4 : 8) + ", " + registers("%r", 0, 2) + ", " +
                  registers("%r", 2, 2) + ", " + registers(c_is_half ? "%r" : "%f", 4, c_is_half ? 4 : 8) + ";\n";
          body += "mad.wide.u32 %rd2, %thread, 32, %out;\n";
          for (int i = 0; i < (d_is_half ? 4 : 8); ++i)
            body += "st.global.b32 [%rd2+" + std::to_string(4 * i) + "], " + (d_is_half ? "%r" : "%f") +
                    std::to_string(20 + i) + ";\n";
          const Result result =
              run_text(kernel(body), {1}, {32}, 256, fragments(x, la[0] == 'r', lb[0] == 'r', c_is_half));
          ASSERT_EQ(result.fault, "") << body;
          for (int lane = 0; lane < 32; ++lane) {
            const int q = lane % 16 / 4, low = lane < 16 ? 0 : 4;
            for (int i = 0; i < 8; ++i) {
              const int row = d_is_half ? lane % 4 + low : (lane & 1) + (i & 2) + low;
              const int column = d_is_half ? i : (i & 4) + (lane & 2) + (i & 1);
              int sum = x.c[q][row][column];
              for (int k = 0; k < 4; ++k) sum += x.a[q][row][k] * x.b[q][k][column];
              const uint32_t word = result.words[8 * lane + (d_is_half ? i / 2 : i)];
              if (d_is_half)
                ASSERT_EQ(word >> 16 * (i % 2) & 0xffff, half_bits(sum)) << la << lb << d << c << " lane " << lane;
              else
                ASSERT_EQ(std::bit_cast<float>(word), static_cast<float>(sum))
                    << la << lb << d << c << " lane " << lane;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace ptx::emulator
