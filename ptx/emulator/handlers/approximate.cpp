// Approximate functions: computed more accurately than documented, then perturbed within the documented error by
// Warp::jitter, so that tests can show independence of one machine's rounding.
#include <cmath>

#include "ptx/emulator/handlers/lanes.h"

namespace ptx::emulator::EMULATOR_ISA {
namespace {

enum ApproximateFlags : uint32_t { kFlush = 1 };

// Maximum error before rounding; rounding adds up to the documented error. Exact results stay exact, as on devices.
// Without a spread, either neighbour of the true value may result.
struct Spread {
  double absolute = 0, relative = 0;
};
constexpr Spread kNeighbours{};

inline double scramble(uint64_t seed, uint64_t bits, uint32_t lane) {  // in [-1, 1]
  uint64_t x = seed ^ (bits << 17) ^ (bits >> 40) ^ (uint64_t{lane} << 51);
  x *= 0x9e3779b97f4a7c15ull;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9ull;
  return static_cast<double>(static_cast<int64_t>(x)) * 0x1p-63;
}

float jittered(double exact, Spread spread, uint64_t seed, uint32_t lane) {
  const float nearest = static_cast<float>(exact);
  const float size = std::fabs(nearest);
  if (static_cast<double>(nearest) == exact || !(size >= 0x1p-125f && size <= 0x1p127f)) return nearest;
  const double by = scramble(seed, bits_as<uint64_t>(exact), lane);
  const double moved = exact + by * (spread.absolute + spread.relative * std::fabs(exact));
  const float beside = std::nextafter(nearest, nearest < exact ? HUGE_VALF : -HUGE_VALF);
  const float chosen = spread.absolute + spread.relative > 0 ? static_cast<float>(moved) : by > 0 ? nearest : beside;
  // nvcc's 128-bit division needs rcp of a number just below 2 to exceed 1/2, as on every device.
  const uint32_t changed = bits_as<uint32_t>(chosen) ^ bits_as<uint32_t>(nearest);
  return changed >> 23 || !(bits_as<uint32_t>(chosen) & 0x7fffff) ? nearest : chosen;
}

// F computes the value in double precision.
template <class F, int sources, Spread spread>
struct Approximate {
  static void full(Warp& w, const Instruction& i) { run(w, i, kAllLanes); }
  static void masked(Warp& w, const Instruction& i) { run(w, i, w.active); }
  static void run(Warp& w, const Instruction& i, uint32_t lanes) {
    float* d = column<float>(w, i.d);
    const float* a = column<float>(w, i.a);
    const float* b = column<float>(w, sources > 1 ? i.b : i.a);
    alignas(64) double exact[kLanes];
    alignas(64) float result[kLanes];
    const bool flushes = i.flags & kFlush;
    if (flushes) {
      EMULATOR_LANES exact[l] = F{}(flush(a[l]), flush(b[l]));
    } else {
      EMULATOR_LANES exact[l] = F{}(a[l], b[l]);
    }
    EMULATOR_LANES result[l] = static_cast<float>(exact[l]);
    if (w.jitter) {
      for (uint32_t l = 0; l < kLanes; ++l) result[l] = jittered(exact[l], spread, w.jitter, l);
    }
    if (flushes) EMULATOR_LANES result[l] = flush(result[l]);
    EMULATOR_LANES d[l] = blend(lanes >> l & 1, canonical(result[l]), d[l]);
  }
};

template <int sources, Spread spread, class F>
void approximate(Registry& r, const char* name, const char* with_flush, F) {
  using H = Approximate<F, sources, spread>;
  add_handler(r, name, ".f32", &H::full, &H::masked, 0);
  add_handler(r, with_flush, ".f32", &H::full, &H::masked, kFlush);
}

// 2^x: a polynomial for the fraction (degree 7 on [-1/2, 1/2], error below 1e-9), and exact scaling by the integer
// part, so that subnormal results round once.
inline double exp2_close(float x, float) {
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
  return x != x ? x : p * scale;
}

inline double divide_close(float a, float b) {
  const uint32_t exponent = bits_as<uint32_t>(b) & 0x7fffffffu;
  const double quotient = static_cast<double>(a) / b;
  const bool huge = exponent > 0x7e800000u && exponent < 0x7f800000u;  // 2^126 < |b| < inf
  const float sign = bits_as<float>((bits_as<uint32_t>(a) ^ bits_as<uint32_t>(b)) & 0x80000000u);
  const bool infinite = (bits_as<uint32_t>(a) & 0x7fffffffu) == 0x7f800000u;
  return huge ? static_cast<double>(infinite || a != a ? bits_as<float>(0x7fffffffu) : sign) : quotient;
}

// The approximate double functions only read and write the upper word.
inline double high_word(double x) { return bits_as<double>(bits_as<uint64_t>(x) & 0xffffffff00000000ull); }

}  // namespace

void register_approximate(Registry& r) {
  // Errors documented in the PTX ISA: ex2 and divisions 2 ulp, rcp 1 ulp, sqrt 2^-23, rsqrt 2^-22.9, lg2 2^-22
  // absolute, sin and cos 2^-20.5 absolute, tanh 2^-11.
  approximate<1, Spread{0, 0x1p-23}>(r, "ex2.approx", "ex2.approx.ftz",
                                     [](float a, float b) { return exp2_close(a, b); });
  approximate<1, kNeighbours>(r, "rcp.approx", "rcp.approx.ftz", [](float a, float) { return 1.0 / a; });
  approximate<1, Spread{0, 0x1p-24}>(r, "rsqrt.approx", "rsqrt.approx.ftz",
                                     [](float a, float) { return 1.0 / __builtin_sqrt(a); });
  approximate<1, kNeighbours>(r, "sqrt.approx", "sqrt.approx.ftz",
                              [](float a, float) { return __builtin_sqrt(static_cast<double>(a)); });
  approximate<1, Spread{0x1p-24, 0x1p-24}>(r, "lg2.approx", "lg2.approx.ftz",
                                           [](float a, float) { return std::log2(static_cast<double>(a)); });
  approximate<1, Spread{0x1p-22, 0}>(r, "sin.approx", "sin.approx.ftz",
                                     [](float a, float) { return std::sin(static_cast<double>(a)); });
  approximate<1, Spread{0x1p-22, 0}>(r, "cos.approx", "cos.approx.ftz",
                                     [](float a, float) { return std::cos(static_cast<double>(a)); });
  approximate<1, Spread{0, 0x1p-12}>(r, "tanh.approx", "tanh.approx.ftz",
                                     [](float a, float) { return std::tanh(static_cast<double>(a)); });
  approximate<2, Spread{0, 0x1p-23}>(r, "div.approx", "div.approx.ftz",
                                     [](float a, float b) { return divide_close(a, b); });
  approximate<2, Spread{0, 0x1p-23}>(r, "div.full", "div.full.ftz",
                                     [](float a, float b) { return static_cast<double>(a) / b; });
  op<double, double>(r, "rcp.approx.ftz", ".f64", [](double a) { return high_word(1.0 / high_word(a)); });
  op<double, double>(r, "rsqrt.approx.ftz", ".f64",
                     [](double a) { return high_word(1.0 / __builtin_sqrt(high_word(a))); });
  op<double, double>(r, "rsqrt.approx", ".f64", [](double a) { return 1.0 / __builtin_sqrt(a); });
}

}  // namespace ptx::emulator::EMULATOR_ISA
