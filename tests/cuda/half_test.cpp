// f16 and bf16 arithmetic and conversions compiled by nvcc, bit by bit against 113-bit arithmetic.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "tests/cuda/cuda_text.h"

namespace ptx::emulator {
namespace {

using Wide = __float128;  // holds sums and products of f16 and of usual bf16 values exactly
enum class Rounding { kNearest, kZero, kDown, kUp };

// A 16-bit binary format: f16 has 10 fraction and 5 exponent bits, bf16 7 and 8.
struct Format {
  int fraction_bits, exponent_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint16_t infinity() const { return static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits); }
};
constexpr Format kHalf{10, 5}, kBfloat{7, 8};
constexpr uint16_t kCanonicalNan = 0x7fff;

Wide wide(double v) { return v; }
bool is_nan(Wide v) { return v != v; }
Wide kInfinity = std::numeric_limits<double>::infinity();

double decode(uint16_t bits, const Format& f) {
  const int exponent = (bits & 0x7fff) >> f.fraction_bits, fraction = bits & ((1 << f.fraction_bits) - 1);
  double value = exponent == 0 ? std::ldexp(fraction, 1 - f.bias() - f.fraction_bits)
                               : std::ldexp(fraction + (1 << f.fraction_bits), exponent - f.bias() - f.fraction_bits);
  if ((bits & 0x7fff) == f.infinity()) value = INFINITY;
  if ((bits & 0x7fff) > f.infinity()) value = NAN;
  return bits & 0x8000 ? -value : value;
}

uint16_t encode(Wide value, const Format& f, Rounding rounding = Rounding::kNearest) {
  if (is_nan(value)) return kCanonicalNan;
  const bool negative = value < 0 || (value == 0 && std::signbit(static_cast<double>(value)));
  const uint16_t sign = negative ? 0x8000 : 0;
  Wide size = negative ? -value : value;
  if (size == kInfinity) return sign | f.infinity();
  int exponent = 1 - f.bias();  // the lowest bit's weight times 2^fraction_bits
  Wide unit = std::ldexp(1.0, exponent - f.fraction_bits);
  while (size >= unit * std::ldexp(1.0, f.fraction_bits + 1)) unit *= 2, ++exponent;
  const Wide scaled = size / unit;  // below 2^(fraction_bits + 1), exact
  auto whole = static_cast<uint32_t>(scaled);
  const Wide rest = scaled - Wide(whole);
  const bool away = rounding == Rounding::kNearest ? rest > Wide(0.5) || (rest == Wide(0.5) && whole % 2 == 1)
                    : rounding == Rounding::kZero  ? false
                                                   : rest > 0 && negative == (rounding == Rounding::kDown);
  whole += away;
  const int biased = exponent + f.bias() - 1;  // the fraction's carry makes it right for normal numbers
  uint32_t bits = (static_cast<uint32_t>(biased) << f.fraction_bits) + whole;
  if (bits >= f.infinity()) {
    const bool to_infinity =
        rounding == Rounding::kNearest || (rounding != Rounding::kZero && negative == (rounding == Rounding::kDown));
    bits = to_infinity ? f.infinity() : f.infinity() - 1;
  }
  return sign | static_cast<uint16_t>(bits);
}

bool same(uint16_t got, uint16_t want, const Format& f) {
  return got == want || ((got & 0x7fff) > f.infinity() && (want & 0x7fff) > f.infinity());
}

// Zeros, subnormals, ones, maximum, infinities, NaN, neighbours of rounding ties, and random patterns; an even number.
std::vector<uint16_t> interesting(const Format& f) {
  std::vector<uint16_t> bits = {0,
                                1,
                                3,
                                uint16_t((1 << f.fraction_bits) - 1),
                                uint16_t(1 << f.fraction_bits),
                                uint16_t(f.infinity() - 1),
                                f.infinity(),
                                uint16_t(f.infinity() + 1),
                                encode(1, f),
                                uint16_t(encode(1, f) + 1),
                                encode(0.5, f),
                                encode(1.5, f),
                                encode(2047, f),
                                encode(3e-3, f),
                                encode(100.25, f)};
  for (uint16_t pattern : random_integers<uint16_t>(9, 0, 0x7fff)) bits.push_back(pattern);
  const size_t positive = bits.size();
  for (size_t i = 0; i < positive; ++i) bits.push_back(bits[i] | 0x8000);
  return bits;
}

using Operation = std::function<Wide(double a, double b, double c)>;

Wide saturated(Wide v) { return v > 1 ? 1 : v > 0 ? v : 0; }  // NaN and -0 become 0
Wide relu(Wide v) { return is_nan(v) ? v : v > 0 ? v : 0; }
Wide times(double a, double b) { return wide(a) * wide(b); }
// If 113 bits do not hold a * b + c, the lost part moves the sum off any tie of the narrow format.
Wide fused(double a, double b, double c) {
  const Wide product = times(a, b), sum = product + wide(c), shadow = sum - product;
  const Wide error = (product - (sum - shadow)) + (wide(c) - shadow);
  if (!(error != 0) || is_nan(error)) return sum;
  const Wide nudge = (sum < 0 ? -sum : sum) * wide(0x1p-100);
  return error > 0 ? sum + nudge : sum - nudge;
}
double min(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? b : a;
  return a == b ? (std::signbit(a) ? a : b) : std::min(a, b);
}
double greatest(double a, double b) { return -min(-a, -b); }

class HalfArithmetic : public CudaKernels {
 protected:
  // Runs name_TYPE and its packed twin on all pairs of interesting values.
  void expect(const std::string& name, const Operation& operation, bool bfloat_needs_sm80 = false) {
    expect_one(name + "_f16", kHalf, operation, 1);
    expect_one(name + "_f16x2", kHalf, operation, 2);
    if (bfloat_needs_sm80 && target() < 80) return;
    expect_one(name + "_bf16", kBfloat, operation, 1);
    expect_one(name + "_bf16x2", kBfloat, operation, 2);
  }
  void expect_packed(const std::string& name, const Operation& operation) {
    expect_one(name + "_f16x2", kHalf, operation, 2);
    expect_one(name + "_bf16x2", kBfloat, operation, 2);
  }
  void expect_one(const std::string& kernel, const Format& f, const Operation& operation, int per) {
    const auto values = interesting(f);
    std::vector<uint16_t> a, b, c;
    for (size_t i = 0; i < values.size() * values.size(); ++i) {
      a.push_back(values[i / values.size()]);
      b.push_back(values[i % values.size()]);
      c.push_back(values[i * 7 % values.size()]);
    }
    const int n = static_cast<int>(a.size()) / per;
    auto* to = zeros<uint16_t>(a.size());
    launch(kernel.c_str(), {uint32_t(n + 127) / 128}, {128}, upload(a), upload(b), upload(c), to, n);
    int wrong = 0;
    for (size_t i = 0; i < a.size() && wrong < 3; ++i) {
      const uint16_t want = encode(operation(decode(a[i], f), decode(b[i], f), decode(c[i], f)), f);
      if (same(to[i], want, f)) continue;
      ++wrong;
      ADD_FAILURE() << kernel << std::hex << "(" << a[i] << ", " << b[i] << ", " << c[i] << ") is " << to[i]
                    << ", expected " << want;
    }
  }
  // Approximations for numbers up to `largest`: within one step of the result's format, or `absolute`.
  void expect_near(const std::string& name, const std::function<double(double)>& function, double absolute,
                   double largest = INFINITY) {
    for (const Format& f : {kHalf, kBfloat}) {
      const bool half = f.fraction_bits == 10;
      auto values = interesting(f);
      for (int i = 0; i < 100; ++i) values.push_back(encode((i - 50) / 7.0, f));
      std::erase_if(values, [&](uint16_t v) { return std::fabs(decode(v, f)) > largest; });
      const int n = static_cast<int>(values.size());
      auto* to = zeros<uint16_t>(n);
      const std::string kernel = name + (half ? "_f16" : "_bf16");
      const auto* from = upload(values);
      launch(kernel.c_str(), {uint32_t(n + 127) / 128}, {128}, from, from, from, to, n);
      std::vector<double> got, want;
      for (int i = 0; i < n; ++i) {
        got.push_back(decode(to[i], f));
        want.push_back(decode(encode(function(decode(values[i], f)), f), f));
      }
      // One step of the format: the CUDA headers compute in f32 and round once, with special cases by hand.
      expect_close(kernel, got, want, absolute + std::ldexp(1.0, 1 - f.bias() - f.fraction_bits),
                   std::ldexp(1.0, -f.fraction_bits));
    }
  }
};

TEST_P(HalfArithmetic, SumsAndProducts) {
  expect("add", [](double a, double b, double) { return wide(a) + wide(b); });
  expect("sub", [](double a, double b, double) { return wide(a) - wide(b); });
  expect("mul", [](double a, double b, double) { return times(a, b); });
  expect("add_rn", [](double a, double b, double) { return wide(a) + wide(b); });
  expect("mul_rn", [](double a, double b, double) { return times(a, b); });
  expect(
      "fma", [](double a, double b, double c) { return fused(a, b, c); }, true);
}

TEST_P(HalfArithmetic, Saturation) {
  expect("add_sat", [](double a, double b, double) { return saturated(wide(a) + wide(b)); });
  expect("mul_sat", [](double a, double b, double) { return saturated(times(a, b)); });
  expect(
      "fma_sat", [](double a, double b, double c) { return saturated(fused(a, b, c)); }, true);
  if (target() < 80) return;  // relu came with sm_80
  expect("fma_relu", [](double a, double b, double c) { return relu(fused(a, b, c)); });
}

TEST_P(HalfArithmetic, SignsAndExtremes) {
  expect("neg", [](double a, double, double) { return -wide(a); });
  expect("abs", [](double a, double, double) { return wide(std::fabs(a)); });
  expect("min", [](double a, double b, double) { return wide(min(a, b)); });
  expect("max", [](double a, double b, double) { return wide(greatest(a, b)); });
  const auto with_nan = [](double a, double b, double v) { return std::isnan(a) || std::isnan(b) ? NAN : v; };
  const bool by_floats = target() < 80;  // the headers compare bf16 as f32: the first of -0 and 0 wins
  for (const char* type : {"_f16", "_f16x2", "_bf16", "_bf16x2"}) {
    const bool is_half = type[1] == 'f';
    const auto of_zeros = [=](double a, double b, double v) { return by_floats && !is_half && a == b ? a : v; };
    const int per = std::string(type).ends_with("x2") ? 2 : 1;
    const auto min_or_nan = [&](double a, double b, double) { return with_nan(a, b, of_zeros(a, b, min(a, b))); };
    const auto greatest_or_nan = [&](double a, double b, double) {
      return with_nan(a, b, of_zeros(a, b, greatest(a, b)));
    };
    expect_one(std::string("min_nan") + type, is_half ? kHalf : kBfloat, min_or_nan, per);
    expect_one(std::string("max_nan") + type, is_half ? kHalf : kBfloat, greatest_or_nan, per);
  }
}

TEST_P(HalfArithmetic, PackedComparisons) {
  const auto truth = [](bool v) { return wide(v ? 1 : 0); };
  expect_packed("equal", [&](double a, double b, double) { return truth(a == b); });
  expect_packed("not_equal", [&](double a, double b, double) { return truth(a < b || a > b); });  // ordered
  expect_packed("less", [&](double a, double b, double) { return truth(a < b); });
  expect_packed("less_unordered", [&](double a, double b, double) { return truth(!(a >= b)); });
  expect_packed("greater_equal", [&](double a, double b, double) { return truth(a >= b); });
  expect_packed("is_nan", [&](double a, double, double) { return truth(std::isnan(a)); });
}

TEST_P(HalfArithmetic, ComparisonsOfPairsAsMasks) {
  for (const Format& f : {kHalf, kBfloat}) {
    const auto values = interesting(f);
    std::vector<uint16_t> as, bs;
    for (uint16_t a : values)
      for (uint16_t b : values) as.push_back(a), bs.push_back(b);
    if (as.size() % 2) as.push_back(0), bs.push_back(0);
    const int n = static_cast<int>(as.size() / 2);
    auto* to = zeros<uint32_t>(3 * n);
    launch(f.fraction_bits == 10 ? "masks_f16x2" : "masks_bf16x2", {uint32_t(n + 127) / 128}, {128}, upload(as),
           upload(bs), to, n);
    const auto* halves = reinterpret_cast<const uint16_t*>(to);
    for (int i = 0; i < 2 * n; ++i) {
      const double a = decode(as[i], f), b = decode(bs[i], f);
      const bool want[3] = {a > b, !(a >= b), a == b};
      for (int k = 0; k < 3; ++k) ASSERT_EQ(halves[2 * n * k + i], want[k] ? 0xffff : 0) << k << " " << a << " " << b;
    }
  }
}

TEST_P(HalfArithmetic, ComparisonsAsBits) {
  for (const Format& f : {kHalf, kBfloat}) {
    const auto values = interesting(f);
    std::vector<uint16_t> as, bs;
    for (uint16_t a : values)
      for (uint16_t b : values) as.push_back(a), bs.push_back(b);
    const int n = static_cast<int>(as.size());
    auto* to = zeros<uint32_t>(n);
    launch(f.fraction_bits == 10 ? "compare_f16" : "compare_bf16", {uint32_t(n + 127) / 128}, {128}, upload(as),
           upload(bs), to, n);
    for (int i = 0; i < n; ++i) {
      const double a = decode(as[i], f), b = decode(bs[i], f);
      const bool ordered[6] = {a == b, a < b || a > b, a<b, a <= b, a> b, a >= b};
      uint32_t want = 0;
      for (int k = 0; k < 6; ++k) want |= ordered[k] << k | (ordered[k] || std::isnan(a) || std::isnan(b)) << (6 + k);
      ASSERT_EQ(to[i], want) << std::hex << as[i] << " " << bs[i];
    }
  }
}

TEST_P(HalfArithmetic, RoundingToIntegers) {
  for (const char* type : {"_f16", "_bf16"}) {
    const Format& f = std::string(type) == "_f16" ? kHalf : kBfloat;
    expect_one(
        std::string("floor") + type, f, [](double a, double, double) { return wide(std::floor(a)); }, 1);
    expect_one(
        std::string("ceil") + type, f, [](double a, double, double) { return wide(std::ceil(a)); }, 1);
    expect_one(
        std::string("trunc") + type, f, [](double a, double, double) { return wide(std::trunc(a)); }, 1);
    expect_one(
        std::string("rint") + type, f, [](double a, double, double) { return wide(std::nearbyint(a)); }, 1);
  }
}

TEST_P(HalfArithmetic, Functions) {
  expect_near(
      "sqrt", [](double a) { return std::sqrt(a); }, 0);
  expect_near(
      "rsqrt", [](double a) { return 1 / std::sqrt(a); }, 0);
  expect_near(
      "rcp", [](double a) { return 1 / a; }, 0);
  expect_near(
      "exp", [](double a) { return std::exp(a); }, 0);
  expect_near(
      "exp2", [](double a) { return std::exp2(a); }, 0);
  expect_near(
      "log", [](double a) { return std::log(a); }, 0);
  expect_near(
      "log2", [](double a) { return std::log2(a); }, 0);
  expect_near(
      "tanh", [](double a) { return std::tanh(a); }, 0);
}

// With -use_fast_math, sines are sin.approx: error 2^-20.9 within one turn, unbounded beyond.
TEST_P(HalfArithmetic, SinesAndCosines) {
  const double absolute = fast() ? 0x1p-20 : 0, largest = fast() ? 3.14 : INFINITY;
  expect_near(
      "sin", [](double a) { return std::sin(a); }, absolute, largest);
  expect_near(
      "cos", [](double a) { return std::cos(a); }, absolute, largest);
}

class HalfArithmeticOfSm80 : public HalfArithmetic {};

// a * b + c for complex numbers in pairs: two fused steps per part, each rounded.
TEST_P(HalfArithmeticOfSm80, ComplexProducts) {
  for (const Format& f : {kHalf, kBfloat}) {
    std::vector<uint16_t> a, b, c;
    for (float v : random_floats(400, -30, 30)) a.push_back(encode(v, f));
    for (float v : random_floats(400, -30, 30, 2)) b.push_back(encode(v, f));
    for (float v : random_floats(400, -900, 900, 3)) c.push_back(encode(v, f));
    auto* to = zeros<uint16_t>(400);
    launch(f.fraction_bits == 10 ? "complex_fma_f16x2" : "complex_fma_bf16x2", {2}, {128}, upload(a), upload(b),
           upload(c), to, 200);
    const auto step = [&](double x, double y, double z) { return decode(encode(fused(x, y, z), f), f); };
    for (int i = 0; i < 400; i += 2) {
      const double re = decode(a[i], f), im = decode(a[i + 1], f);
      const double other_re = decode(b[i], f), other_im = decode(b[i + 1], f);
      EXPECT_EQ(decode(to[i], f), step(-im, other_im, step(re, other_re, decode(c[i], f)))) << i;
      EXPECT_EQ(decode(to[i + 1], f), step(im, other_re, step(re, other_im, decode(c[i + 1], f)))) << i;
    }
  }
}

// Quotients are rounded from f32; special cases (0 / 0, overflow) follow from f32's.
TEST_P(HalfArithmetic, Quotients) {
  expect("div", [](double a, double b, double) { return wide(static_cast<float>(a) / static_cast<float>(b)); });
}

TEST_P(HalfArithmetic, HalvesOfPairs) {
  const auto values = interesting(kHalf);
  const int n = static_cast<int>(values.size()) / 2;
  auto* to = zeros<uint16_t>(2 * n);
  const auto* from = upload(values);
  for (const char* kernel : {"swap_f16x2", "swap_bf16x2"}) {
    launch(kernel, {1}, {64}, from, from, from, to, n);
    for (int i = 0; i < 2 * n; ++i) EXPECT_EQ(to[i], values[i ^ 1]) << kernel;
  }
}

TEST_P(HalfArithmetic, Axpy) {
  const int n = 77;
  std::vector<uint16_t> x, y;
  for (int i = 0; i < n; ++i) x.push_back(encode(i / 16.0, kHalf)), y.push_back(encode(50 - i, kHalf));
  auto* to = upload(y);
  launch("half_axpy", {1}, {64}, encode(1.75, kHalf), upload(x), to, n);
  for (int i = 0; i < n; ++i)
    EXPECT_EQ(to[i], encode(wide(1.75) * wide(decode(x[i], kHalf)) + wide(decode(y[i], kHalf)), kHalf)) << i;
}
INSTANTIATE_CUDA(HalfArithmetic, "half_arithmetic");
INSTANTIATE_CUDA_FOR(HalfArithmeticOfSm80, "half_arithmetic", from_sm_80);

class HalfConversions : public CudaKernels {
 protected:
  // The same bits for every element; bits_of computes the expected ones.
  template <class From, class To>
  void expect(const std::string& kernel, const std::vector<From>& from, const std::function<To(From)>& convert,
              const std::function<bool(To, To)>& equal = std::equal_to<To>()) {
    const int n = static_cast<int>(from.size());
    auto* to = zeros<To>(n);
    launch(kernel.c_str(), {uint32_t(n + 127) / 128}, {128}, upload(from), to, n);
    int wrong = 0;
    for (int i = 0; i < n && wrong < 3; ++i) {
      if (equal(to[i], convert(from[i]))) continue;
      ++wrong;
      ADD_FAILURE() << kernel << " of " << +from[i] << " is " << +to[i] << ", expected " << +convert(from[i]);
    }
  }
  // To integers: rounded, then clamped to the range; NaN is 0 for 32 bits and fewer.
  template <class To>
  void expect_to_integer(const std::string& name, const Format& f, double (*round)(double)) {
    expect<uint16_t, To>((f.fraction_bits == 10 ? "f16_to_" : "bf16_to_") + name, patterns(f),
                         [=](uint16_t bits) -> To {
                           const double value = decode(bits, f);
                           if (std::isnan(value)) return sizeof(To) == 8 ? To(0x8000000000000000ull) : To(0);
                           const double rounded = round(value);
                           if (rounded <= double(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
                           if (rounded >= double(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
                           return static_cast<To>(rounded);
                         });
  }
  template <class From>
  void expect_from_integer(const std::string& type, const std::string& rounding, Rounding r) {
    std::vector<From> from = {std::numeric_limits<From>::max(), std::numeric_limits<From>::min()};
    for (int v : {0, 1, 2047, 2049, 2051, 4098, 255, 257, 259, 65504, 65519, 65520, 65535})
      from.push_back(static_cast<From>(v));
    for (int64_t v : random_integers<int64_t>(100, -100000, 100000)) from.push_back(static_cast<From>(v));
    for (int64_t v : random_integers<int64_t>(50, INT64_MIN, INT64_MAX)) from.push_back(static_cast<From>(v));
    for (const Format& f : {kHalf, kBfloat}) {
      expect<From, uint16_t>(type + (f.fraction_bits == 10 ? "_to_f16_" : "_to_bf16_") + rounding, from,
                             [=](From v) { return encode(Wide(v), f, r); });
    }
  }
  static std::vector<uint16_t> patterns(const Format& f) {
    auto bits = interesting(f);
    for (double v : {0.5, 1.5, 2.5, -0.5, -1.5, 126.5, 127.5, 128.0, 254.75, 255.5, 256.0, 32767.0, 65504.0, -129.0})
      bits.push_back(encode(v, f));
    return bits;
  }
  static std::vector<double> reals(const Format& f) {
    std::vector<double> values = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-30, -1e-30, 1e30, -1e30, 65519.99, 65520.0};
    for (uint16_t bits : interesting(f)) {
      const double v = decode(bits, f), next = decode(static_cast<uint16_t>(bits + 1), f);
      if (!std::isfinite(v) || !std::isfinite(next)) continue;
      for (double part : {0.25, 0.5, 0.75, 0.5 + 0x1p-12}) values.push_back(v + part * (next - v));
      values.push_back(v);
    }
    return values;
  }
};

TEST_P(HalfConversions, FromFloatWithEveryRounding) {
  const std::pair<const char*, Rounding> roundings[] = {
      {"rn", Rounding::kNearest}, {"rz", Rounding::kZero}, {"rd", Rounding::kDown}, {"ru", Rounding::kUp}};
  for (const Format& f : {kHalf, kBfloat}) {
    const std::string type = f.fraction_bits == 10 ? "f16" : "bf16";
    const auto equal = [=](uint16_t got, uint16_t want) { return same(got, want, f); };
    const auto exact = reals(f);
    const std::vector<float> floats(exact.begin(), exact.end());
    for (const auto& [name, rounding] : roundings) {
      expect<float, uint16_t>(
          "f32_to_" + type + "_" + name, floats, [=, r = rounding](float v) { return encode(wide(v), f, r); }, equal);
    }
    expect<double, uint16_t>(
        "f64_to_" + type + "_rn", exact, [=](double v) { return encode(wide(v), f); }, equal);
  }
}

TEST_P(HalfConversions, ToFloatAndInPairs) {
  for (const Format& f : {kHalf, kBfloat}) {
    const std::string type = f.fraction_bits == 10 ? "f16" : "bf16";
    const auto from = patterns(f);
    const auto equal = [](float got, float want) { return got == want || (std::isnan(got) && std::isnan(want)); };
    expect<uint16_t, float>(
        type + "_to_f32", from, [=](uint16_t v) { return float(decode(v, f)); }, equal);
    const int pairs = static_cast<int>(from.size()) / 2;
    auto* floats = zeros<float>(2 * pairs);
    auto* back = zeros<uint16_t>(2 * pairs);
    launch((type + "x2_to_pairs").c_str(), {1}, {128}, upload(from), floats, pairs);
    launch(("pairs_to_" + type + "x2").c_str(), {1}, {128}, floats, back, pairs);
    for (int i = 0; i < 2 * pairs; ++i) {
      EXPECT_TRUE(equal(floats[i], float(decode(from[i], f)))) << type << " " << from[i];
      EXPECT_TRUE(same(back[i], from[i], f)) << type << " " << from[i];
    }
  }
}

TEST_P(HalfConversions, ToIntegers) {
  for (const Format& f : {kHalf, kBfloat}) {
    expect_to_integer<int32_t>("s32_rn", f, std::nearbyint);
    expect_to_integer<int32_t>("s32_rz", f, std::trunc);
    expect_to_integer<int32_t>("s32_rd", f, std::floor);
    expect_to_integer<int32_t>("s32_ru", f, std::ceil);
    expect_to_integer<uint32_t>("u32_rn", f, std::nearbyint);
    expect_to_integer<uint32_t>("u32_rz", f, std::trunc);
    expect_to_integer<int64_t>("s64_rd", f, std::floor);
    expect_to_integer<uint64_t>("u64_ru", f, std::ceil);
    expect_to_integer<int16_t>("s16_rn", f, std::nearbyint);
    expect_to_integer<uint16_t>("u16_rz", f, std::trunc);
    expect_to_integer<int8_t>("s8_rz", f, std::trunc);
    expect_to_integer<uint8_t>("u8_rz", f, std::trunc);
  }
}

TEST_P(HalfConversions, FromIntegers) {
  expect_from_integer<int32_t>("s32", "rn", Rounding::kNearest);
  expect_from_integer<int32_t>("s32", "rz", Rounding::kZero);
  expect_from_integer<int32_t>("s32", "rd", Rounding::kDown);
  expect_from_integer<int32_t>("s32", "ru", Rounding::kUp);
  expect_from_integer<uint32_t>("u32", "rn", Rounding::kNearest);
  expect_from_integer<uint32_t>("u32", "ru", Rounding::kUp);
  expect_from_integer<int64_t>("s64", "rn", Rounding::kNearest);
  expect_from_integer<uint64_t>("u64", "rz", Rounding::kZero);
  expect_from_integer<int16_t>("s16", "rn", Rounding::kNearest);
  expect_from_integer<uint16_t>("u16", "rd", Rounding::kDown);
}
INSTANTIATE_CUDA(HalfConversions, "half_conversions");

}  // namespace
}  // namespace ptx::emulator
