// Every format against two witnesses. First, to the bit, the PyPI package `gguf` on random blocks
// (data/dequantised.gguf, made by tests/tools/make_dequantised_gguf.py). Second, a walk through the block's bytes in
// storage order, written from the format's description with plain offsets and without the structs.
#include "models/dequantise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "models/block_types.h"
#include "models/gguf_reader.h"
#include "models/grids.h"
#include "models/half.h"
#include "models/kernel_type.h"

namespace warpchat {
namespace {

using Bytes = std::vector<std::byte>;

int u8(const std::byte* b, int at) { return static_cast<int>(b[at]); }
double f16_at(const std::byte* b, int at) {
  return to_float(f16{static_cast<uint16_t>(u8(b, at) | u8(b, at + 1) << 8)});
}

// Blocks of 32: nibbles in order, the low ones first. `qh`: offset of the fifth bits, or -1.
void walk_32(const std::byte* b, int qs, int qh, double d, double offset, double* out) {
  for (int half = 0; half < 2; ++half) {
    for (int byte = 0; byte < 16; ++byte) {
      const int position = 16 * half + byte;
      int q = half == 0 ? u8(b, qs + byte) % 16 : u8(b, qs + byte) / 16;
      if (qh >= 0 && (u8(b, qh + position / 8) & 1 << position % 8)) q += 16;
      *out++ = d * q + offset;
    }
  }
}

void walk_q8_0(const std::byte* b, double* out) {
  for (int i = 0; i < 32; ++i) *out++ = f16_at(b, 0) * static_cast<int8_t>(u8(b, 2 + i));
}

// Q2_K and Q3_K: the same 32 bytes hold two bits for each of four runs of 32 weights.
void walk_q2_k(const std::byte* b, double* out) {
  int sub_block = 0;
  for (int half = 0; half < 2; ++half) {
    for (int shift = 0; shift < 8; shift += 2) {
      for (int part = 0; part < 2; ++part, ++sub_block) {
        const int scales = u8(b, sub_block);
        for (int byte = 0; byte < 16; ++byte) {
          const int q = u8(b, 16 + 32 * half + 16 * part + byte) >> shift & 3;
          *out++ = f16_at(b, 80) * (scales & 15) * q - f16_at(b, 82) * (scales >> 4);
        }
      }
    }
  }
}

void walk_q3_k(const std::byte* b, double* out) {
  uint32_t words[4];  // like the reference: sixteen 6-bit scales from three 32-bit words, with masks
  std::memcpy(words, b + 96, 12);
  const uint32_t high = words[2];
  words[2] = (words[0] >> 4 & 0x0f0f0f0f) | (high >> 4 & 0x03030303) << 4;
  words[3] = (words[1] >> 4 & 0x0f0f0f0f) | (high >> 6 & 0x03030303) << 4;
  words[0] = (words[0] & 0x0f0f0f0f) | (high & 0x03030303) << 4;
  words[1] = (words[1] & 0x0f0f0f0f) | (high >> 2 & 0x03030303) << 4;
  int8_t scales[16];
  std::memcpy(scales, words, 16);
  int sub_block = 0, mask = 1;
  for (int half = 0; half < 2; ++half) {
    for (int shift = 0; shift < 8; shift += 2, mask <<= 1) {
      for (int part = 0; part < 2; ++part, ++sub_block) {
        for (int byte = 16 * part; byte < 16 * part + 16; ++byte) {
          const int q = (u8(b, 32 + 32 * half + byte) >> shift & 3) - (u8(b, byte) & mask ? 0 : 4);
          *out++ = f16_at(b, 108) * (scales[sub_block] - 32) * q;
        }
      }
    }
  }
}

// Q4_K and Q5_K: the twelve scale bytes are not one little-endian bit stream. They hold six bits for each of the first
// four sub-blocks, then nibbles with two bits borrowed from the first ones.
void walk_q45_k(const std::byte* b, int qs, int qh, double* out) {
  const std::byte* packed = b + 4;
  for (int s = 0; s < 8; ++s) {
    int scale = u8(packed, s) % 64, min = u8(packed, 4 + s) % 64;
    if (s >= 4) {
      scale = u8(packed, 4 + s) % 16 + u8(packed, s - 4) / 64 * 16;
      min = u8(packed, 4 + s) / 16 + u8(packed, s) / 64 * 16;
    }
    for (int byte = 0; byte < 32; ++byte) {
      const int pair = u8(b, qs + s / 2 * 32 + byte);
      int q = s % 2 == 0 ? pair % 16 : pair / 16;
      if (qh >= 0 && (u8(b, qh + byte) & 1 << s)) q += 16;
      *out++ = f16_at(b, 0) * scale * q - f16_at(b, 2) * min;
    }
  }
}

// Q6_K, like the reference: four weights 32 apart come from two low bytes and one high byte.
void walk_q6_k(const std::byte* b, double* out) {
  const double d = f16_at(b, 208);
  for (int half = 0; half < 2; ++half) {
    for (int l = 0; l < 32; ++l) {
      const int first = u8(b, 64 * half + l), second = u8(b, 64 * half + 32 + l), high = u8(b, 128 + 32 * half + l);
      const int q[4] = {first % 16 + high % 4 * 16, second % 16 + high / 4 % 4 * 16, first / 16 + high / 16 % 4 * 16,
                        second / 16 + high / 64 * 16};
      for (int run = 0; run < 4; ++run) {
        const int position = 128 * half + 32 * run + l;
        out[position] = d * static_cast<int8_t>(u8(b, 192 + position / 16)) * (q[run] - 32);
      }
    }
  }
}

// Formats whose codes index tables. In IQ4_XS, the two high bits of eight scales form one little-endian number.
constexpr int kIq4[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

void walk_table(const std::byte* b, const int (&table)[16], double scale, double* out) {
  for (int byte = 0; byte < 16; ++byte) {
    out[byte] = scale * table[u8(b, byte) % 16];
    out[16 + byte] = scale * table[u8(b, byte) / 16];
  }
}

void walk_iq4_xs(const std::byte* b, double* out) {
  int high = u8(b, 2) + 256 * u8(b, 3);
  for (int s = 0; s < 8; ++s, high /= 4) {
    const int low = s % 2 == 0 ? u8(b, 4 + s / 2) % 16 : u8(b, 4 + s / 2) / 16;
    walk_table(b + 8 + 16 * s, kIq4, f16_at(b, 0) * (low + high % 4 * 16 - 32), out + 32 * s);
  }
}

// E2M1: a sign, two exponent bits with bias 1, one mantissa bit; here twice its value, with half the scale.
void walk_mxfp4(const std::byte* b, double* out) {
  int table[16];
  for (int code = 0; code < 16; ++code) {
    const int exponent = code / 2 % 4, mantissa = code % 2;
    const int magnitude = exponent == 0 ? mantissa : (2 + mantissa) << (exponent - 1);
    table[code] = code < 8 ? magnitude : -magnitude;
  }
  walk_table(b + 1, table, std::pow(2.0, u8(b, 0) - 128), out);
}

// Formats of grids: entries with two or four bits per magnitude. If seven signs are stored, the eighth makes the number
// of negative ones even.
constexpr int kIq2[4] = {8, 25, 43, 0}, kIq3Xxs[8] = {4, 12, 20, 28, 36, 44, 52, 62},
              kIq3[8] = {1, 3, 5, 7, 9, 11, 13, 15};

int with_eighth(uint32_t seven) { return static_cast<int>(seven) + (std::popcount(seven) % 2 == 1 ? 128 : 0); }

uint32_t word_at(const std::byte* b, int at) {
  return static_cast<uint32_t>(u8(b, at) | u8(b, at + 1) << 8 | u8(b, at + 2) << 16) |
         static_cast<uint32_t>(u8(b, at + 3)) << 24;
}

double* put_signed(double* out, double scale, int magnitude, bool is_negative) {
  *out = scale * (is_negative ? -magnitude : magnitude);
  return out + 1;
}

double* walk_eight(double* out, double scale, int entry, int signs) {  // for IQ2
  for (int i = 0; i < 8; ++i, entry /= 4, signs /= 2) out = put_signed(out, scale, kIq2[entry % 4], signs % 2 == 1);
  return out;
}

void walk_iq2_xxs(const std::byte* b, double* out) {
  for (int at = 2; at < 66; at += 8) {
    const uint32_t rest = word_at(b, at + 4);
    for (int i = 0; i < 4; ++i)
      out = walk_eight(out, f16_at(b, 0) * (0.5 + (rest >> 28)) / 4, kIQ2XXSGrid[u8(b, at + i)],
                       with_eighth(rest >> (7 * i) & 127));
  }
}

int sub_block_nibble(const std::byte* b, int at, int sub) { return u8(b, at + sub / 2) >> (sub % 2 * 4) & 15; }

void walk_iq2_xs(const std::byte* b, double* out) {
  for (int eight = 0; eight < 32; ++eight) {
    const int both = u8(b, 2 + 2 * eight) + 256 * u8(b, 3 + 2 * eight);
    out = walk_eight(out, f16_at(b, 0) * (0.5 + sub_block_nibble(b, 66, eight / 2)) / 4, kIQ2XSGrid[both % 512],
                     with_eighth(static_cast<uint32_t>(both / 512)));
  }
}

void walk_iq2_s(const std::byte* b, double* out) {
  for (int eight = 0; eight < 32; ++eight) {
    const int high = u8(b, 66 + eight / 4) >> (eight % 4 * 2) & 3;
    out = walk_eight(out, f16_at(b, 0) * (0.5 + sub_block_nibble(b, 74, eight / 2)) / 4,
                     kIQ2SGrid[u8(b, 2 + eight) + 256 * high], u8(b, 34 + eight));
  }
}

void walk_iq3(const std::byte* b, const uint16_t* grid, const int (&magnitudes)[8], bool is_s, double* out) {
  for (int group = 0; group < 64; ++group) {
    const int of_32 = group / 8;
    const uint32_t rest = is_s ? 0 : word_at(b, 66 + 4 * of_32);
    const int signs = is_s ? u8(b, 74 + group / 2) : with_eighth(rest >> (group / 2 % 4 * 7) & 127);
    const double scale = is_s ? 1 + 2 * sub_block_nibble(b, 106, of_32) : (0.5 + (rest >> 28)) / 2;
    const int high = is_s ? u8(b, 66 + of_32) >> (group % 8) & 1 : 0;
    const int entry = grid[u8(b, 2 + group) + 256 * high];
    for (int i = 0; i < 4; ++i)
      out = put_signed(out, f16_at(b, 0) * scale, magnitudes[entry >> (4 * i) & 7], signs >> (group % 2 * 4 + i) & 1);
  }
}

struct FormatCase {
  const char* name;
  TensorType type;
  std::vector<int> halves;  // offsets of the block's binary16 scales
  std::function<void(const std::byte*, double*)> walk;
  int exponent = -1;  // offset of an E8M0 scale
};

using B = const std::byte*;
const FormatCase kFormats[] = {
    {"F16", TensorType::kF16, {0}, [](B b, double* w) { *w = f16_at(b, 0); }},
    {"BF16", TensorType::kBF16, {}, [](B b, double* w) { *w = std::bit_cast<float>(u8(b, 0) << 16 | u8(b, 1) << 24); }},
    {"Q4_0", TensorType::kQ4_0, {0}, [](B b, double* w) { walk_32(b, 2, -1, f16_at(b, 0), -8 * f16_at(b, 0), w); }},
    {"Q4_1", TensorType::kQ4_1, {0, 2}, [](B b, double* w) { walk_32(b, 4, -1, f16_at(b, 0), f16_at(b, 2), w); }},
    {"Q5_0", TensorType::kQ5_0, {0}, [](B b, double* w) { walk_32(b, 6, 2, f16_at(b, 0), -16 * f16_at(b, 0), w); }},
    {"Q5_1", TensorType::kQ5_1, {0, 2}, [](B b, double* w) { walk_32(b, 8, 4, f16_at(b, 0), f16_at(b, 2), w); }},
    {"Q8_0", TensorType::kQ8_0, {0}, walk_q8_0},
    {"Q2_K", TensorType::kQ2_K, {80, 82}, walk_q2_k},
    {"Q3_K", TensorType::kQ3_K, {108}, walk_q3_k},
    {"Q4_K", TensorType::kQ4_K, {0, 2}, [](B b, double* w) { walk_q45_k(b, 16, -1, w); }},
    {"Q5_K", TensorType::kQ5_K, {0, 2}, [](B b, double* w) { walk_q45_k(b, 48, 16, w); }},
    {"Q6_K", TensorType::kQ6_K, {208}, walk_q6_k},
    {"IQ4_NL", TensorType::kIQ4_NL, {0}, [](B b, double* w) { walk_table(b + 2, kIq4, f16_at(b, 0), w); }},
    {"IQ4_XS", TensorType::kIQ4_XS, {0}, walk_iq4_xs},
    {"MXFP4", TensorType::kMXFP4, {}, walk_mxfp4, 0},
    {"IQ2_XXS", TensorType::kIQ2_XXS, {0}, walk_iq2_xxs},
    {"IQ2_XS", TensorType::kIQ2_XS, {0}, walk_iq2_xs},
    {"IQ2_S", TensorType::kIQ2_S, {0}, walk_iq2_s},
    {"IQ3_XXS", TensorType::kIQ3_XXS, {0}, [](B b, double* w) { walk_iq3(b, kIQ3XXSGrid, kIq3Xxs, false, w); }},
    {"IQ3_S", TensorType::kIQ3_S, {0}, [](B b, double* w) { walk_iq3(b, kIQ3SGrid, kIq3, true, w); }},
};
static_assert(std::size(kFormats) == SupportedBlocks::kCount - 1);  // F32 needs no dequantisation

void set_f16(std::byte* block, int at, uint16_t bits) { std::memcpy(block + at, &bits, 2); }

// n blocks of random bytes with finite scales.
Bytes random_blocks(const FormatCase& format, size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  const size_t block_bytes = traits(format.type).block_bytes;
  Bytes bytes(n * block_bytes);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  for (size_t block = 0; block < n; ++block) {
    std::byte* start = bytes.data() + block * block_bytes;
    for (int at : format.halves) set_f16(start, at, static_cast<uint16_t>(random() & 0xbfff));
    if (format.type == TensorType::kBF16) start[1] &= std::byte{0xbf};
    if (format.exponent >= 0) start[format.exponent] = static_cast<std::byte>(random() % 255);
  }
  return bytes;
}

class Dequantise : public testing::TestWithParam<FormatCase> {};

TEST_P(Dequantise, MatchesTheGgufPackageToTheBit) {
  const std::string name = GetParam().name;
  const GgufFile file = GgufFile::open(WARPCHAT_SOURCE_DIR "/tests/models/data/dequantised.gguf");
  const TensorInfo &blocks = file.tensor(name), &expected = file.tensor(name + ".weights");
  ASSERT_EQ(blocks.type, GetParam().type);
  ASSERT_EQ(blocks.k(), expected.k());
  std::vector<float> got(blocks.k()), want(blocks.k());
  dequantise_row(blocks.type, blocks.data, std::span(got));
  std::memcpy(want.data(), expected.data.data(), expected.data.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i])) << "weight " << i << ": " << got[i];
  }
}

TEST_P(Dequantise, MatchesAWalkThroughTheBytes) {
  const FormatCase& format = GetParam();
  const TensorTypeTraits& t = traits(format.type);
  constexpr size_t kBlocks = 64;
  const Bytes bytes = random_blocks(format, kBlocks, /*seed=*/1);
  std::vector<double> got(kBlocks * t.block_weights), want(got.size());
  dequantise_row(format.type, bytes, std::span(got));
  for (size_t n = 0; n < kBlocks; ++n) {
    format.walk(bytes.data() + n * t.block_bytes, want.data() + n * t.block_weights);
  }
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], want[i]) << "weight " << i;
}

TEST_P(Dequantise, FloatIsTheDoubleRoundedOnce) {
  const FormatCase& format = GetParam();
  const Bytes bytes = random_blocks(format, 8, /*seed=*/2);
  std::vector<double> exact(8 * traits(format.type).block_weights);
  std::vector<float> rounded(exact.size());
  dequantise_row(format.type, bytes, std::span(exact));
  dequantise_row(format.type, bytes, std::span(rounded));
  for (size_t i = 0; i < exact.size(); ++i) EXPECT_EQ(rounded[i], static_cast<float>(exact[i])) << "weight " << i;
}

TEST_P(Dequantise, FindsEveryNonFiniteScale) {
  const FormatCase& format = GetParam();
  const size_t block_bytes = traits(format.type).block_bytes;
  const Bytes good = random_blocks(format, 3, /*seed=*/3);
  EXPECT_TRUE(scales_are_finite(format.type, good));
  for (size_t block = 0; block < 3; ++block) {
    for (int at : format.halves) {
      for (uint16_t bits : {0x7c00, 0xfc00, 0x7e00, 0xfc01}) {
        Bytes bad = good;
        set_f16(bad.data() + block * block_bytes, at, bits);
        EXPECT_FALSE(scales_are_finite(format.type, bad)) << "block " << block << " byte " << at << " bits " << bits;
      }
    }
    if (format.exponent < 0) continue;
    Bytes bad = good;
    bad[block * block_bytes + format.exponent] = std::byte{255};
    EXPECT_FALSE(scales_are_finite(format.type, bad)) << "block " << block;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Dequantise, testing::ValuesIn(kFormats),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(KernelType, HasTheSameWeights) {
  int n_expanded = 0;
  for (const FormatCase& format : kFormats) {
    const TensorType read = kernel_type(format.type);
    if (read == format.type) continue;
    ++n_expanded;
    EXPECT_FALSE(find_tensor_type(static_cast<uint32_t>(read)).has_value()) << "no file may have it";
    constexpr size_t kBlocks = 16, kWeights = kBlocks * 256;
    const Bytes bytes = random_blocks(format, kBlocks, /*seed=*/4);
    Bytes expanded(bytes_per_row(read, kWeights));
    expand_rows(format.type, bytes, expanded);
    std::vector<double> got(kWeights), want(kWeights);
    dequantise_row(read, expanded, std::span(got));
    dequantise_row(format.type, bytes, std::span(want));
    EXPECT_EQ(got, want) << format.name;
  }
  EXPECT_EQ(n_expanded, 5);
}

TEST(ScalesAreFinite, LooksAtEveryFloat) {
  std::vector<float> weights(33, 1e38f);
  EXPECT_TRUE(scales_are_finite(TensorType::kF32, std::as_bytes(std::span(weights))));
  weights.back() = NAN;
  EXPECT_FALSE(scales_are_finite(TensorType::kF32, std::as_bytes(std::span(weights))));
  const uint16_t bf16_infinity[] = {0x3f80, 0xff80};
  EXPECT_FALSE(scales_are_finite(TensorType::kBF16, std::as_bytes(std::span(bf16_infinity))));
}

}  // namespace
}  // namespace warpchat
