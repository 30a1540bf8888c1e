// The approximate functions: computed more closely than they promise, then moved within the documented error by
// Warp::jitter, so that a test can show that it does not lean on one machine's rounding.
#include <cmath>

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

enum ApproximateFlags : uint32_t { kFlush = 1 };

inline uint32_t scramble(uint64_t seed, uint32_t bits, uint32_t lane) {
  uint64_t x = seed ^ (uint64_t{bits} << 17) ^ (uint64_t{lane} << 51);
  x *= 0x9e3779b97f4a7c15ull;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ull;
  return static_cast<uint32_t>(x >> 40);
}

// Within one unit of the last place of a finite, non-zero result.
inline float jittered(float x, uint64_t seed, uint32_t lane) {
  const uint32_t bits = bits_as<uint32_t>(x), magnitude = bits & 0x7fffffffu;
  if (magnitude < 0x00800001u || magnitude >= 0x7f7fffffu || magnitude == 0x3f800000u) return x;
  return bits_as<float>(bits - 1 + scramble(seed, bits, lane) % 3);
}

template <class F, int sources>
struct Approximate {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    float* d = column<float>(w, i.d);
    const float* a = column<float>(w, i.a);
    const float* b = column<float>(w, sources > 1 ? i.b : i.a);
    alignas(64) float result[kLanes];
    if (i.flags & kFlush) {
      EMULATOR_LANES result[l] = flush(F{}(flush(a[l]), flush(b[l])));
    } else {
      EMULATOR_LANES result[l] = F{}(a[l], b[l]);
    }
    if (w.jitter) {
      for (uint32_t l = 0; l < kLanes; ++l) result[l] = jittered(result[l], w.jitter, l);
    }
    EMULATOR_LANES d[l] = blend(lanes >> l & 1, canonical(result[l]), d[l]);
  }
};

template <int sources, class F>
void approximate(Registry& r, const char* name, const char* with_flush, F) {
  using H = Approximate<F, sources>;
  add_handler(r, name, ".f32", &H::full, &H::masked, 0);
  add_handler(r, with_flush, ".f32", &H::full, &H::masked, kFlush);
}

// 2^x: the fraction by a polynomial (Taylor to the seventh power on [-1/2, 1/2], error below 1e-9), the whole part by
// two exact scalings so that subnormal results round once.
inline float exp2_close(float x, float) {
  const float clamped = x < -160.0f ? -160.0f : x > 130.0f ? 130.0f : x;
  const double whole = __builtin_nearbyint(static_cast<double>(clamped));
  const double t = (static_cast<double>(clamped) - whole) * 0.6931471805599453;
  double p = 1.0 / 5040;
  p = p * t + 1.0 / 720;
  p = p * t + 1.0 / 120;
  p = p * t + 1.0 / 24;
  p = p * t + 1.0 / 6;
  p = p * t + 0.5;
  p = p * t + 1;
  p = p * t + 1;
  const double scale = bits_as<double>(static_cast<uint64_t>(static_cast<int32_t>(whole) + 1023) << 52);
  return x != x ? x : static_cast<float>(p * scale);
}

inline float divide_close(float a, float b) {
  const uint32_t exponent = bits_as<uint32_t>(b) & 0x7fffffffu;
  const float quotient = static_cast<float>(static_cast<double>(a) / b);
  const bool huge = exponent > 0x7e800000u && exponent < 0x7f800000u;  // 2^126 < |b| < inf
  const float sign = bits_as<float>((bits_as<uint32_t>(a) ^ bits_as<uint32_t>(b)) & 0x80000000u);
  const bool infinite = (bits_as<uint32_t>(a) & 0x7fffffffu) == 0x7f800000u;
  return huge ? (infinite || a != a ? bits_as<float>(0x7fffffffu) : sign) : quotient;
}

// The double approximations read and write the upper half of the word only.
inline double high_word(double x) { return bits_as<double>(bits_as<uint64_t>(x) & 0xffffffff00000000ull); }

}  // namespace

void register_approximate(Registry& r) {
  approximate<1>(r, "ex2.approx", "ex2.approx.ftz", [](float a, float b) { return exp2_close(a, b); });
  approximate<1>(r, "rcp.approx", "rcp.approx.ftz", [](float a, float) { return static_cast<float>(1.0 / a); });
  approximate<1>(r, "rsqrt.approx", "rsqrt.approx.ftz",
                 [](float a, float) { return static_cast<float>(1.0 / __builtin_sqrt(a)); });
  approximate<1>(r, "sqrt.approx", "sqrt.approx.ftz", [](float a, float) { return __builtin_sqrtf(a); });
  approximate<1>(r, "lg2.approx", "lg2.approx.ftz",
                 [](float a, float) { return static_cast<float>(std::log2(static_cast<double>(a))); });
  approximate<1>(r, "sin.approx", "sin.approx.ftz",
                 [](float a, float) { return static_cast<float>(std::sin(static_cast<double>(a))); });
  approximate<1>(r, "cos.approx", "cos.approx.ftz",
                 [](float a, float) { return static_cast<float>(std::cos(static_cast<double>(a))); });
  approximate<1>(r, "tanh.approx", "tanh.approx.ftz",
                 [](float a, float) { return static_cast<float>(std::tanh(static_cast<double>(a))); });
  approximate<2>(r, "div.approx", "div.approx.ftz", [](float a, float b) { return divide_close(a, b); });
  approximate<2>(r, "div.full", "div.full.ftz", [](float a, float b) { return a / b; });
  op<double, double>(r, "rcp.approx.ftz", ".f64", [](double a) { return high_word(1.0 / high_word(a)); });
  op<double, double>(r, "rsqrt.approx.ftz", ".f64",
                     [](double a) { return high_word(1.0 / __builtin_sqrt(high_word(a))); });
  op<double, double>(r, "rsqrt.approx", ".f64", [](double a) { return 1.0 / __builtin_sqrt(a); });
}

}  // namespace ptx::emulator::EMULATOR_ISA
