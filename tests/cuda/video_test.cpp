// Arithmetic on parts of words compiled by nvcc: __vadd4 and its family, and PTX's video instructions.
#include <algorithm>
#include <cstdlib>
#include <functional>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

using Word = uint32_t;
using Operation = std::function<int64_t(int64_t a, int64_t b)>;

// Part i of a word in `width` bits.
int64_t part(Word word, int i, int width, bool is_signed) {
  const int64_t bits = word >> (i * width) & ((1ll << width) - 1);
  return is_signed && bits >> (width - 1) ? bits - (1ll << width) : bits;
}
int64_t clamped(int64_t v, int width, bool is_signed) {
  const int64_t min = is_signed ? -(1ll << (width - 1)) : 0;
  return std::clamp<int64_t>(v, min, min + (1ll << width) - 1);
}
int64_t byte(Word word, int i, bool is_signed) { return part(word, i, 8, is_signed); }
int64_t half(Word word, int i, bool is_signed) { return part(word, i, 16, is_signed); }
int64_t sword(Word word) { return static_cast<int32_t>(word); }

class Video : public CudaKernels {
 protected:
  void SetUp() override {
    CudaKernels::SetUp();
    a = random_integers<Word>(600, 0, UINT32_MAX, 1);
    b = random_integers<Word>(600, 0, UINT32_MAX, 2);
    c = random_integers<Word>(600, 0, UINT32_MAX, 3);
    const Word corners[] = {0, ~0u, 0x80808080, 0x7f7f7f7f, 0x80008000, 0x7fff7fff, 0x01010101, 0x80000000, 0x7fffffff};
    for (Word x : corners)
      for (Word y : corners) a.push_back(x), b.push_back(y), c.push_back(x ^ 0x55);
  }
  void expect(const std::string& kernel, const std::function<Word(Word, Word, Word)>& f) {
    const uint32_t n = a.size();
    auto* to = zeros<Word>(n);
    launch(kernel.c_str(), {(n + 127) / 128}, {128}, upload(a), upload(b), upload(c), to, int(n));
    for (uint32_t i = 0; i < n; ++i)
      ASSERT_EQ(to[i], f(a[i], b[i], c[i])) << kernel << std::hex << " " << a[i] << " " << b[i] << " " << c[i];
  }
  // Kernels name4 and name2, part by part; results wrap to their width.
  void expect_parts(const std::string& name, bool is_signed, const Operation& f) {
    for (int width : {8, 16}) {
      expect(name + (width == 8 ? "4" : "2"), [&](Word x, Word y, Word) {
        Word result = 0;
        for (int i = 0; i < 32 / width; ++i) {
          const int64_t v = f(part(x, i, width, is_signed), part(y, i, width, is_signed));
          result |= static_cast<Word>(v & ((1ll << width) - 1)) << (i * width);
        }
        return result;
      });
    }
  }
  // The same, clamped to the width.
  void expect_clamped(const std::string& name, bool is_signed, const Operation& f) {
    for (int width : {8, 16}) {
      expect(name + (width == 8 ? "4" : "2"), [&](Word x, Word y, Word) {
        Word result = 0;
        for (int i = 0; i < 32 / width; ++i) {
          const int64_t v = clamped(f(part(x, i, width, is_signed), part(y, i, width, is_signed)), width, is_signed);
          result |= static_cast<Word>(v & ((1ll << width) - 1)) << (i * width);
        }
        return result;
      });
    }
  }
  void expect_sum(const std::string& name, bool is_signed) {  // of absolute differences
    for (int width : {8, 16}) {
      expect(name + (width == 8 ? "4" : "2"), [&](Word x, Word y, Word) {
        Word sum = 0;
        for (int i = 0; i < 32 / width; ++i)
          sum += static_cast<Word>(std::abs(part(x, i, width, is_signed) - part(y, i, width, is_signed)));
        return sum;
      });
    }
  }

  std::vector<Word> a, b, c;
};

TEST_P(Video, SumsAndDifferencesOfParts) {
  const auto add = [](int64_t x, int64_t y) { return x + y; };
  const auto sub = [](int64_t x, int64_t y) { return x - y; };
  expect_parts("vadd", false, add);
  expect_clamped("vaddss", true, add);
  expect_clamped("vaddus", false, add);
  expect_parts("vsub", false, sub);
  expect_clamped("vsubss", true, sub);
  expect_clamped("vsubus", false, sub);
}

TEST_P(Video, SignsAndAveragesOfParts) {
  expect_parts("vneg", true, [](int64_t x, int64_t) { return -x; });
  expect_parts("vabs", true, [](int64_t x, int64_t) { return std::abs(x); });
  expect_clamped("vabsss", true, [](int64_t x, int64_t) { return std::abs(x); });
  expect_parts("vavgs", true, [](int64_t x, int64_t y) {  // halves round away from zero
    const int64_t sum = x + y;
    return (sum + (sum >= 0)) >> 1;
  });
  expect_parts("vavgu", false, [](int64_t x, int64_t y) { return (x + y + 1) >> 1; });
  expect_parts("vhaddu", false, [](int64_t x, int64_t y) { return (x + y) >> 1; });
}

TEST_P(Video, OrderOfParts) {
  const auto min = [](int64_t x, int64_t y) { return std::min(x, y); };
  const auto greatest = [](int64_t x, int64_t y) { return std::max(x, y); };
  expect_parts("vmins", true, min);
  expect_parts("vminu", false, min);
  expect_parts("vmaxs", true, greatest);
  expect_parts("vmaxu", false, greatest);
  expect_parts("vcmpeq", false, [](int64_t x, int64_t y) { return x == y ? -1 : 0; });
  expect_parts("vcmpgts", true, [](int64_t x, int64_t y) { return x > y ? -1 : 0; });
  expect_parts("vcmpleu", false, [](int64_t x, int64_t y) { return x <= y ? -1 : 0; });
  expect_parts("vsetlts", true, [](int64_t x, int64_t y) { return x < y; });
  expect_parts("vsetgeu", false, [](int64_t x, int64_t y) { return x >= y; });
}

TEST_P(Video, DistancesOfParts) {
  const auto distance = [](int64_t x, int64_t y) { return std::abs(x - y); };
  expect_parts("vabsdiffs", true, distance);
  expect_parts("vabsdiffu", false, distance);
  expect_sum("vsads", true);
  expect_sum("vsadu", false);
}

TEST_P(Video, ScalarInstructions) {
  const auto word = [](int64_t v) { return static_cast<Word>(v); };
  expect("vadd_bytes", [&](Word x, Word y, Word) { return word(byte(x, 1, false) + byte(y, 3, true)); });
  expect("vadd_saturating",
         [&](Word x, Word y, Word) { return word(clamped(half(x, 0, true) + half(y, 1, true), 32, false)); });
  expect("vadd_then_add", [&](Word x, Word y, Word z) { return word(byte(x, 0, true) + half(y, 1, true)) + z; });
  expect("vsub_merged", [&](Word x, Word y, Word z) {
    const Word difference = word(clamped(byte(x, 1, false) - byte(y, 3, false), 8, false));
    return (z & ~0xff0000u) | difference << 16;
  });
  expect("vabsdiff_then_max",
         [&](Word x, Word y, Word z) { return std::max(word(std::abs(half(x, 1, true) - half(y, 0, true))), z); });
  expect("vmin_then_min", [&](Word x, Word y, Word z) {
    return word(std::min(std::min(byte(x, 2, true), byte(y, 2, false)), sword(z)));
  });
  expect("vmax_words", [](Word x, Word y, Word) { return std::max(x, y); });
}

TEST_P(Video, ScalarShiftsProductsAndComparisons) {
  const auto word = [](int64_t v) { return static_cast<Word>(v); };
  expect("vshl_clamp", [&](Word x, Word y, Word) {
    const int64_t n = std::min<int64_t>(byte(y, 0, false), 32);
    return word(half(x, 0, false) << n);
  });
  expect("vshl_wrap", [&](Word x, Word y, Word) { return word(int64_t{x} << (byte(y, 1, false) & 31)); });
  expect("vshr_then_add",
         [&](Word x, Word y, Word z) { return word(sword(x) >> std::min<int64_t>(byte(y, 0, false), 32)) + z; });
  expect("vmad_bytes", [&](Word x, Word y, Word z) { return word(byte(x, 0, true) * byte(y, 3, false) + sword(z)); });
  expect("vmad_shifted",
         [&](Word x, Word y, Word z) { return word((half(x, 0, false) * half(y, 1, false) + z) >> 7); });
  expect("vmad_saturating", [&](Word x, Word y, Word z) {
    const __int128 sum = static_cast<__int128>(sword(x)) * sword(y) + sword(z);
    return word(clamped(static_cast<int64_t>(sum >> 15), 32, true));
  });
  expect("vmad_plus_one",
         [&](Word x, Word y, Word z) { return word(half(x, 0, true) * half(y, 0, true) + sword(z) + 1); });
  expect("vmad_negated", [&](Word x, Word y, Word z) { return word(byte(x, 0, true) * byte(y, 1, true) - sword(z)); });
  expect("vset_less", [&](Word x, Word y, Word) { return word(byte(x, 0, true) < byte(y, 1, false)); });
  expect("vset_then_add", [&](Word x, Word y, Word z) { return word(half(x, 0, false) >= half(y, 1, false)) + z; });
}

// A selector's digit picks a part of a (0-3, or 0-1) or of b (4-7, 2-3); the first digit is the highest part.
int64_t selected(Word x, Word y, int digit, int width, bool is_signed) {
  const int parts = 32 / width;
  return part(digit < parts ? x : y, digit % parts, width, is_signed);
}

TEST_P(Video, SelectionsMasksAndSums) {
  expect("vadd4_selected", [](Word x, Word y, Word) {
    Word result = 0;
    for (int i = 0; i < 4; ++i) {  // a in .b0123, b in .b7654: both signed and unsigned parts, saturated
      const int64_t v = selected(x, y, 3 - i, 8, true) + selected(x, y, 4 + i, 8, false);
      result |= static_cast<Word>(clamped(v, 8, true) & 255) << (8 * i);
    }
    return result;
  });
  expect("vadd2_masked", [](Word x, Word y, Word z) {  // only the high half is written
    const int64_t v = selected(x, y, 1, 16, false) + selected(x, y, 3, 16, true);
    return (z & 0xffff) | static_cast<Word>(v & 0xffff) << 16;
  });
  expect("vsub4_summed", [](Word x, Word y, Word z) {
    for (int i = 0; i < 4; ++i) z += static_cast<Word>(byte(x, i, false) - byte(y, i, false));
    return z;
  });
  expect("vabsdiff4_summed", [](Word x, Word y, Word z) {
    for (int i = 0; i < 4; ++i) z += static_cast<Word>(std::abs(byte(x, i, false) - byte(y, i, false)));
    return z;
  });
  expect("vavrg2_signed", [](Word x, Word y, Word) {
    Word result = 0;
    for (int i = 0; i < 2; ++i) {
      const int64_t sum = half(x, i, true) + half(y, i, true);
      result |= static_cast<Word>(((sum + (sum >= 0)) >> 1) & 0xffff) << (16 * i);
    }
    return result;
  });
  expect("vmax4_mixed", [](Word x, Word y, Word) {
    const int from_a[4] = {0, 4, 1, 5}, from_b[4] = {2, 6, 3, 7};  // .b5140 and .b7362 from the lowest part on
    Word result = 0;
    for (int i = 0; i < 4; ++i) {
      const int64_t v = std::max(selected(x, y, from_a[i], 8, true), selected(x, y, from_b[i], 8, true));
      result |= static_cast<Word>(v & 255) << (8 * i);
    }
    return result;
  });
  expect("vset4_summed", [](Word x, Word y, Word z) {
    for (int i = 0; i < 4; ++i) z += byte(x, i, false) < byte(y, i, false);
    return z;
  });
}
INSTANTIATE_CUDA(Video, "video");

}  // namespace
}  // namespace ptx::emulator
