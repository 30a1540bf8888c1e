// Integer arithmetic compiled by nvcc, on corner values against C++: division, shifts, products, bits, 128 bits, carry
// chains, dot products and conversions.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

// Every pair of corner values, and random ones.
template <class T>
std::pair<std::vector<T>, std::vector<T>> pairs_of_corners() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> corners = {0, 1, 2, 3, 7, 8, 15, 31, 32, 33, 63, 64, 100, 127, Limits::max(), Limits::min()};
  for (int shift = 4; shift < int(sizeof(T)) * 8; shift += 9) corners.push_back(static_cast<T>(T(1) << shift));
  corners.push_back(static_cast<T>(Limits::max() - 1));
  corners.push_back(static_cast<T>(~T(0)));
  corners.push_back(static_cast<T>(-T(7)));
  corners.push_back(static_cast<T>(Limits::min() + 1));
  std::mt19937_64 random(7);
  for (int i = 0; i < 8; ++i) corners.push_back(static_cast<T>(random()));
  std::pair<std::vector<T>, std::vector<T>> pairs;
  for (T a : corners) {
    for (T b : corners) {
      pairs.first.push_back(a);
      pairs.second.push_back(b);
    }
  }
  return pairs;
}

class IntegerKernels : public CudaKernels {
 protected:
  // Runs `kernel` on every pair for which it is defined, and compares with f.
  template <class T, class To>
  void expect(
      const std::string& kernel, const std::function<To(T, T)>& f,
      const std::function<bool(T, T)>& defined = [](T, T) { return true; }) {
    const auto [all_a, all_b] = pairs_of_corners<T>();
    std::vector<T> a, b;
    for (size_t i = 0; i < all_a.size(); ++i) {
      if (!defined(all_a[i], all_b[i])) continue;
      a.push_back(all_a[i]);
      b.push_back(all_b[i]);
    }
    const uint32_t n = a.size();
    auto* to = zeros<To>(n);
    launch(kernel.c_str(), {(n + 127) / 128}, {128}, upload(a), upload(b), to, int(n));
    int wrong = 0;
    for (uint32_t i = 0; i < n && wrong < 3; ++i) {
      const To want = f(a[i], b[i]);
      if (to[i] == want) continue;
      ++wrong;
      ADD_FAILURE() << kernel << "(" << +a[i] << ", " << +b[i] << ") is " << +to[i] << ", expected " << +want;
    }
  }
};

class Integers : public IntegerKernels {
 protected:
  template <class T>
  void expect_division(const std::string& type) {
    const auto defined = [](T a, T b) {
      return b != 0 && !(std::is_signed_v<T> && sizeof(T) >= 4 && a == std::numeric_limits<T>::min() && b == T(-1));
    };
    expect<T, T>(
        "div_" + type, [](T a, T b) { return static_cast<T>(a / b); }, defined);
    expect<T, T>(
        "rem_" + type, [](T a, T b) { return static_cast<T>(a % b); }, defined);
  }
};

TEST_P(Integers, Division) {
  expect_division<int8_t>("s8");
  expect_division<uint8_t>("u8");
  expect_division<int16_t>("s16");
  expect_division<uint16_t>("u16");
  expect_division<int32_t>("s32");
  expect_division<uint32_t>("u32");
  expect_division<int64_t>("s64");
  expect_division<uint64_t>("u64");
}

TEST_P(Integers, DivisionByZeroEndsQuietly) {  // the result is unspecified
  const std::vector<int64_t> a = {0, 1, -1, INT64_MIN}, b = {0, 0, 0, -1};
  launch("div_s64", {1}, {32}, upload(a), upload(b), zeros<int64_t>(4), 4);
  launch("rem_s64", {1}, {32}, upload(a), upload(b), zeros<int64_t>(4), 4);
  const std::vector<int> narrow_a = {0, 1, -1, INT32_MIN}, narrow_b = {0, 0, 0, -1};
  launch("div_s32", {1}, {32}, upload(narrow_a), upload(narrow_b), zeros<int>(4), 4);
  launch("rem_s32", {1}, {32}, upload(narrow_a), upload(narrow_b), zeros<int>(4), 4);
}

TEST_P(Integers, DivisionByConstants) {
  using U = uint32_t;
  expect<int32_t, int32_t>("by_7_s32", [](int a, int) { return int(U(a / 7) * 10 + U(a % 7)); });
  expect<U, U>("by_10_u32", [](U a, U) { return a / 10 * 16 + a % 10; });
  expect<int32_t, int32_t>("by_8_s32", [](int a, int) { return int(U(a / 8) * 16 + U(a % 8)); });
  expect<int64_t, int64_t>("by_1000_s64", [](int64_t a, int64_t) { return (a / 1000) ^ (a % 1000); });
  expect<uint64_t, uint64_t>("by_3_u64", [](uint64_t a, uint64_t) { return (a / 3) ^ (a % 3); });
}

TEST_P(Integers, Products) {
  using S = int64_t;
  using U = uint64_t;
  expect<int32_t, int32_t>("mulhi_s32", [](int a, int b) { return int(S{a} * b >> 32); });
  expect<uint32_t, uint32_t>("mulhi_u32", [](uint32_t a, uint32_t b) { return uint32_t(U{a} * b >> 32); });
  expect<S, S>("mulhi_s64", [](S a, S b) { return S(static_cast<__int128>(a) * b >> 64); });
  expect<U, U>("mulhi_u64", [](U a, U b) { return U(static_cast<unsigned __int128>(a) * b >> 64); });
  const auto low24 = [](int v) { return S{int32_t(uint32_t(v) << 8) >> 8}; };
  expect<int32_t, int32_t>("mul24_s32", [&](int a, int b) { return int(low24(a) * low24(b)); });
  expect<uint32_t, uint32_t>("mul24_u32",
                             [](uint32_t a, uint32_t b) { return uint32_t(U{a & 0xffffff} * (b & 0xffffff)); });
  expect<int32_t, S>("wide_s32", [](int a, int b) { return S{a} * b; });
  expect<uint32_t, U>("wide_u32", [](uint32_t a, uint32_t b) { return U{a} * b; });
  expect<int32_t, S>("wide_mad_s32", [](int a, int b) { return S{a} * b + a; });
  expect<S, S>("mul_s64", [](S a, S b) { return S(U(a) * U(b)); });
  expect<int16_t, int32_t>("mul_s16", [](int16_t a, int16_t b) { return a * b; });
}

TEST_P(Integers, Shifts) {
  using U32 = uint32_t;
  using U64 = uint64_t;
  expect<U32, U32>("shl_u32", [](U32 a, U32 n) { return n > 31 ? 0 : a << n; });
  expect<U64, U64>("shl_u64", [](U64 a, U64 n) { return U32(n) > 63 ? 0 : a << U32(n); });
  expect<int32_t, int32_t>("shr_s32", [](int a, int n) { return a >> std::min(U32(n), 31u); });
  expect<U32, U32>("shr_u32", [](U32 a, U32 n) { return n > 31 ? 0 : a >> n; });
  expect<int64_t, int64_t>("shr_s64", [](int64_t a, int64_t n) { return a >> std::min(U32(n), 63u); });
  expect<U64, U64>("shr_u64", [](U64 a, U64 n) { return U32(n) > 63 ? 0 : a >> U32(n); });
  expect<int8_t, int8_t>("shift_s8", [](int8_t a, int8_t b) { return int8_t(a >> (b & 7)) ^ int8_t(a << (b & 7)); });
  expect<uint16_t, uint16_t>(
      "shift_u16", [](uint16_t a, uint16_t b) { return uint16_t(uint16_t(a >> (b & 15)) ^ uint16_t(a << (b & 15))); });
  const auto joined = [](U32 low) { return U64{~low} << 32 | low; };
  expect<U32, U32>("funnel_l", [&](U32 a, U32 n) { return U32(joined(a) << (n & 31) >> 32); });
  expect<U32, U32>("funnel_lc", [&](U32 a, U32 n) { return n >= 32 ? U32(joined(a)) : U32(joined(a) << n >> 32); });
  expect<U32, U32>("funnel_r", [&](U32 a, U32 n) { return U32(joined(a) >> (n & 31)); });
  expect<U32, U32>("funnel_rc", [&](U32 a, U32 n) { return U32(joined(a) >> std::min(n, 32u)); });
  expect<U64, U64>("rotate_u64", [](U64 a, U64 n) { return std::rotl(a, int(n & 63)); });
}

TEST_P(Integers, BitTricks) {
  using U32 = uint32_t;
  using U64 = uint64_t;
  const auto reversed = [](auto v) {
    decltype(v) r = 0;
    for (size_t i = 0; i < sizeof v * 8; ++i) r = r << 1 | (v >> i & 1);
    return r;
  };
  expect<int32_t, int32_t>("clz_s32", [](int a, int) { return std::countl_zero(U32(a)); });
  expect<int64_t, int32_t>("clz_s64", [](int64_t a, int64_t) { return std::countl_zero(U64(a)); });
  expect<int32_t, int32_t>("ffs_s32", [](int a, int) { return __builtin_ffs(a); });
  expect<int64_t, int32_t>("ffs_s64", [](int64_t a, int64_t) { return __builtin_ffsll(a); });
  expect<U32, int32_t>("popc_u32", [](U32 a, U32) { return std::popcount(a); });
  expect<U64, int32_t>("popc_u64", [](U64 a, U64) { return std::popcount(a); });
  expect<U32, U32>("brev_u32", [&](U32 a, U32) { return reversed(a); });
  expect<U64, U64>("brev_u64", [&](U64 a, U64) { return reversed(a); });
  expect<U32, U32>("byte_perm", [](U32 a, U32 selector) {
    const U64 bytes = U64{~a} << 32 | a;
    U32 result = 0;
    for (int i = 0; i < 4; ++i) result |= U32(bytes >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
    return result;
  });
  expect<U32, U32>("fns", [](U32 a, U32 b) {  // the first set bit at or above b % 32
    for (U32 i = b % 32; i < 32; ++i)
      if (a >> i & 1) return i;
    return ~0u;
  });
}

TEST_P(Integers, AveragesDistancesAndOrder) {
  using S = int64_t;
  using U32 = uint32_t;
  expect<int32_t, U32>("sad_s32", [](int a, int b) { return U32(std::abs(S{a} - b)) + 7; });
  expect<U32, U32>("sad_u32", [](U32 a, U32 b) { return (a > b ? a - b : b - a) + 7; });
  expect<int32_t, int32_t>("hadd_s32", [](int a, int b) { return int((S{a} + b) >> 1); });
  expect<int32_t, int32_t>("rhadd_s32", [](int a, int b) { return int((S{a} + b + 1) >> 1); });
  expect<U32, U32>("hadd_u32", [](U32 a, U32 b) { return U32((uint64_t{a} + b) >> 1); });
  expect<U32, U32>("rhadd_u32", [](U32 a, U32 b) { return U32((uint64_t{a} + b + 1) >> 1); });
  expect<S, S>("min_s64", [](S a, S b) { return std::min(a, b); });
  expect<uint64_t, uint64_t>("max_u64", [](uint64_t a, uint64_t b) { return std::max(a, b); });
  expect<int32_t, U32>("abs_s32", [](int a, int) { return U32(std::abs(S{a})); });
  expect<S, int32_t>("compare_s64", [](S a, S b) {
    return (a < b) | (a <= b) << 1 | (a == b) << 2 | (uint64_t(a) < uint64_t(b)) << 3;
  });
}

TEST_P(Integers, BitFields) {
  using U32 = uint32_t;
  const auto extract = [](U32 a, U32 b, bool is_signed) {
    const U32 at = b >> 8 & 255, length = b & 255;
    const U32 sign = !is_signed || length == 0 ? 0 : a >> std::min(at + length - 1, 31u) & 1;
    U32 result = 0;
    for (U32 i = 0; i < 32; ++i) result |= (i < length && at + i < 32 ? a >> (at + i) & 1 : sign) << i;
    return result;
  };
  expect<int32_t, int32_t>("bfe_s32", [&](int a, int b) { return int(extract(a, b, true)); });
  expect<U32, U32>("bfe_u32", [&](U32 a, U32 b) { return extract(a, b, false); });
  expect<U32, U32>("bfi_u32", [](U32 a, U32 b) {
    const U32 at = b >> 8 & 255, length = b & 255;
    U32 result = 0xa5a5a5a5;
    for (U32 i = 0; i < length && at + i < 32; ++i)
      result = (result & ~(1u << (at + i))) | (i < 32 ? a >> i & 1 : 0) << (at + i);
    return result;
  });
}

TEST_P(Integers, Saturation) {
  const auto clamped = [](__int128 v) { return int(std::clamp<__int128>(v, INT32_MIN, INT32_MAX)); };
  expect<int32_t, int32_t>("add_sat", [&](int a, int b) { return clamped(__int128{a} + b); });
  expect<int32_t, int32_t>("sub_sat", [&](int a, int b) { return clamped(__int128{a} - b); });
  expect<int32_t, int32_t>("mad_hi_sat", [&](int a, int b) { return clamped((int64_t{a} * b >> 32) + __int128{a}); });
}

using U128 = unsigned __int128;
U128 pair_at(const std::vector<uint64_t>& words, int i) { return U128{words[2 * i + 1]} << 64 | words[2 * i]; }

TEST_P(Integers, Of128Bits) {
  auto [a, b] = pairs_of_corners<uint64_t>();
  const int n = a.size() / 2;
  auto *to = zeros<uint64_t>(8 * n), *divided = zeros<uint64_t>(4 * n);
  for (int i = 0; i < n; ++i) b[2 * i] |= b[2 * i + 1] == 0;  // no division by zero
  launch("wide_128", {uint32_t(n + 63) / 64}, {64}, upload(a), upload(b), to, n);
  launch("divide_128", {uint32_t(n + 63) / 64}, {64}, upload(a), upload(b), divided, n);
  for (int i = 0; i < n; ++i) {
    const U128 x = pair_at(a, i), y = pair_at(b, i);
    const U128 want[4] = {x + y, x - y, x * y, U128(static_cast<__int128>(x) >> (y & 127))};
    for (int k = 0; k < 4; ++k) {
      ASSERT_EQ(to[8 * i + 2 * k], uint64_t(want[k])) << i << " " << k;
      ASSERT_EQ(to[8 * i + 2 * k + 1], uint64_t(want[k] >> 64)) << i << " " << k;
    }
    const U128 quotient = x / y, rest = x % y;
    ASSERT_EQ(divided[4 * i], uint64_t(quotient)) << i;
    ASSERT_EQ(divided[4 * i + 1], uint64_t(quotient >> 64)) << i;
    ASSERT_EQ(divided[4 * i + 2], uint64_t(rest)) << i;
    ASSERT_EQ(divided[4 * i + 3], uint64_t(rest >> 64)) << i;
  }
}

TEST_P(Integers, CarryChains) {
  const int n = 100;
  auto a = random_integers<uint32_t>(8 * n, 0, UINT32_MAX, 1), b = random_integers<uint32_t>(8 * n, 0, UINT32_MAX, 2);
  for (int i = 0; i < 8 * n; i += 3) a[i] = b[i] = i % 2 ? UINT32_MAX : 0;  // carries run far
  auto *sums = zeros<uint32_t>(8 * n), *differences = zeros<uint32_t>(8 * n), *products = zeros<uint32_t>(8 * n);
  launch("carry_chains", {2}, {64}, upload(a), upload(b), sums, differences, products, n);
  for (int i = 0; i < n; ++i) {
    uint64_t carry = 0, product_word = 0, product_carry = 0;
    int64_t borrow = 0;
    for (int w = 0; w < 8; ++w) {
      const uint64_t x = a[8 * i + w], y = b[8 * i + w];
      carry += x + y;
      ASSERT_EQ(sums[8 * i + w], uint32_t(carry)) << i << " " << w;
      carry >>= 32;
      borrow += int64_t(x) - int64_t(y);
      ASSERT_EQ(differences[8 * i + w], uint32_t(borrow)) << i << " " << w;
      borrow >>= 32;
      product_word = product_carry;  // column w of the schoolbook product
      product_carry = 0;
      for (int k = 0; k < 4; ++k) {
        if (w - k < 0 || w - k > 3) continue;
        const uint64_t term = uint64_t{a[8 * i + k]} * b[8 * i + w - k];
        product_word += uint32_t(term);
        product_carry += term >> 32;
      }
      ASSERT_EQ(products[8 * i + w], uint32_t(product_word)) << i << " " << w;
      product_carry += product_word >> 32;
    }
  }
}

TEST_P(Integers, CarryChainsOf64Bits) {
  const auto [a, b] = pairs_of_corners<uint64_t>();
  const int n = a.size() / 2;
  auto *sums = zeros<uint64_t>(2 * n), *differences = zeros<uint64_t>(2 * n);
  launch("carry_chains_64", {uint32_t(n + 63) / 64}, {64}, upload(a), upload(b), sums, differences, n);
  for (int i = 0; i < n; ++i) {
    const U128 sum = pair_at(a, i) + pair_at(b, i), difference = pair_at(a, i) - pair_at(b, i);
    EXPECT_EQ(sums[2 * i], uint64_t(sum));
    EXPECT_EQ(sums[2 * i + 1], uint64_t(sum >> 64));
    EXPECT_EQ(differences[2 * i], uint64_t(difference));
    EXPECT_EQ(differences[2 * i + 1], uint64_t(difference >> 64));
  }
}
INSTANTIATE_CUDA(Integers, "integers");

class DotProducts : public CudaKernels {};

int64_t byte_at(uint32_t word, int i, bool is_signed) {
  const auto byte = static_cast<uint8_t>(word >> 8 * i);
  return is_signed ? static_cast<int8_t>(byte) : byte;
}
int64_t half_at(uint32_t word, int i, bool is_signed) {
  const auto half = static_cast<uint16_t>(word >> 16 * i);
  return is_signed ? static_cast<int16_t>(half) : half;
}

TEST_P(DotProducts, EveryMixtureOfSigns) {
  const auto [a, b] = pairs_of_corners<uint32_t>();
  const auto c = random_integers<uint32_t>(a.size(), 0, UINT32_MAX, 3);  // sums wrap
  const int n = a.size();
  const auto run = [&](const char* kernel, bool four, int from_byte, bool a_signed, bool b_signed) {
    auto* to = zeros<uint32_t>(n);
    launch(kernel, {uint32_t(n + 127) / 128}, {128}, upload(a), upload(b), upload(c), to, n);
    for (int i = 0; i < n; ++i) {
      int64_t sum = c[i];
      for (int k = 0; k < (four ? 4 : 2); ++k)
        sum +=
            (four ? byte_at(a[i], k, a_signed) : half_at(a[i], k, a_signed)) * byte_at(b[i], from_byte + k, b_signed);
      ASSERT_EQ(to[i], uint32_t(sum)) << kernel << " " << std::hex << a[i] << " " << b[i] << " " << c[i];
    }
  };
  run("dp4a_ss", true, 0, true, true);
  run("dp4a_uu", true, 0, false, false);
  run("dp4a_su", true, 0, true, false);
  run("dp4a_us", true, 0, false, true);
  run("dp2a_lo_ss", false, 0, true, true);
  run("dp2a_lo_uu", false, 0, false, false);
  run("dp2a_hi_ss", false, 2, true, true);
  run("dp2a_hi_uu", false, 2, false, false);
  run("dp2a_hi_su", false, 2, true, false);
}
INSTANTIATE_CUDA(DotProducts, "dot_products");

}  // namespace
}  // namespace ptx::emulator
