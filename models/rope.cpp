#include "models/rope.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

#include "models/text_format.h"

namespace warpchat {
namespace {

// A float in [least, most], with a default.
struct FloatKey {
  const char* name;
  double absent, min, max;
};
constexpr double kLargestFactor = 1e6;  // larger factors would lose accuracy in the angles
constexpr FloatKey kFactor{"rope.scaling.factor", 1, 1e-6, kLargestFactor};
constexpr FloatKey kOldFactor{"rope.scale_linear", 1, 1e-6, kLargestFactor};
constexpr FloatKey kAttentionFactor{"rope.scaling.attn_factor", 1, 1e-6, kLargestFactor};
constexpr FloatKey kExtrapolation{"rope.scaling.yarn_ext_factor", 1, 0, 1};
constexpr FloatKey kBetaFast{"rope.scaling.yarn_beta_fast", 32, 1e-6, 1e6};
constexpr FloatKey kBetaSlow{"rope.scaling.yarn_beta_slow", 1, 1e-6, 1e6};
// Converters write transformers' attention_factor here, which replaces the computed magnitude.
constexpr FloatKey kMagnitude{"rope.scaling.yarn_attn_factor", 0, 1e-6, kLargestFactor};
// Used by other model families only; it would change the magnitude.
constexpr FloatKey kLogMultiplier{"rope.scaling.yarn_log_multiplier", 0, 0, 0};

double read(const GgufFile& file, std::string_view prefix, const FloatKey& wanted) {
  const std::string key = std::string(prefix) + "." + wanted.name;
  const double value = file.get_float(key, wanted.absent);
  if (value >= wanted.min && value <= wanted.max) return value;
  const auto text = [](double number) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g", number);
    return std::string(digits);
  };
  file.fail("key " + key + " is " + text(value) + ", expected " + text(wanted.min) +
            (wanted.min == wanted.max ? "" : " to " + text(wanted.max)));
}

RopeScaling::Kind read_kind(const GgufFile& file, std::string_view prefix) {
  const std::string key = std::string(prefix) + ".rope.scaling.type";
  const std::string_view kind = file.get_string(key, "linear");  // so that a factor alone divides positions
  if (kind == "none") return RopeScaling::Kind::kNone;
  if (kind == "linear") return RopeScaling::Kind::kLinear;
  if (kind == "yarn") return RopeScaling::Kind::kYarn;
  file.fail("key " + key + " is \"" + printable(kind) + "\", supported are none, linear and yarn");
}

// The (fractional) pair whose wave turns `turns` times within the original context.
double pair_of_turns(const RopeScaling& scaling, double base, uint32_t rope_dims, double turns) {
  return rope_dims * std::log(scaling.original_context / (turns * 2 * std::numbers::pi)) / (2 * std::log(base));
}

// Weight of pair i's original frequency: 1 for fast pairs, 0 for slow ones, with a ramp in between.
double extrapolated_share(const RopeScaling& scaling, double base, uint32_t rope_dims, uint32_t i) {
  const double low = std::max(0.0, std::floor(pair_of_turns(scaling, base, rope_dims, scaling.beta_fast)));
  const double high = std::min(rope_dims - 1.0, std::ceil(pair_of_turns(scaling, base, rope_dims, scaling.beta_slow)));
  const double ramp = (i - low) / std::max(0.001, high - low);
  return (1 - std::clamp(ramp, 0.0, 1.0)) * scaling.extrapolation;
}

// 1 is ambiguous: for transformers it is the whole magnitude, other programs write it for "nothing beside the computed
// magnitude".
void read_magnitude(const GgufFile& file, std::string_view prefix, RopeScaling& scaling) {
  const std::string key = std::string(prefix) + "." + kMagnitude.name;
  if (!file.has(key)) return;
  const double magnitude = read(file, prefix, kMagnitude), computed = rope_magnitude(scaling);
  if (magnitude == 1 && computed != 1) {
    char text[160];
    std::snprintf(text, sizeof text,
                  "is 1, which is the whole factor for some programs and leaves it at %.6g for others; use a file with "
                  "the factor that is meant",
                  computed);
    file.fail("key " + key + " " + text);
  }
  scaling.magnitude = magnitude;
}

}  // namespace

RopeScaling read_rope_scaling(const GgufFile& file, std::string_view prefix, uint32_t context_length) {
  RopeScaling scaling;
  scaling.kind = read_kind(file, prefix);
  scaling.factor = read(file, prefix, file.has(std::string(prefix) + "." + kFactor.name) ? kFactor : kOldFactor);
  if (scaling.kind == RopeScaling::Kind::kNone) scaling.factor = 1;
  if (scaling.kind == RopeScaling::Kind::kLinear && scaling.factor == 1) scaling.kind = RopeScaling::Kind::kNone;

  const std::string original = std::string(prefix) + ".rope.scaling.original_context_length";
  const uint64_t original_context = file.get_uint(original, context_length);
  if (original_context < 1 || original_context > INT32_MAX)
    file.fail("key " + original + " is " + grouped(original_context) + ", expected 1 to " + grouped(INT32_MAX));
  scaling.original_context = static_cast<uint32_t>(original_context);

  scaling.attention_factor = read(file, prefix, kAttentionFactor);
  scaling.beta_fast = read(file, prefix, kBetaFast);
  scaling.beta_slow = read(file, prefix, kBetaSlow);
  scaling.extrapolation = read(file, prefix, kExtrapolation);
  read(file, prefix, kLogMultiplier);
  if (scaling.kind == RopeScaling::Kind::kYarn) read_magnitude(file, prefix, scaling);
  return scaling;
}

std::vector<double> rope_frequencies(const RopeScaling& scaling, double base, uint32_t rope_dims,
                                     std::span<const float> divisors) {
  assert(rope_dims % 2 == 0 && (divisors.empty() || divisors.size() == rope_dims / 2));
  std::vector<double> frequencies(rope_dims / 2);
  for (uint32_t i = 0; i < frequencies.size(); ++i) {
    const double own = std::pow(base, -2.0 * i / rope_dims) / (divisors.empty() ? 1.0 : divisors[i]);
    const double kept = scaling.kind == RopeScaling::Kind::kYarn ? extrapolated_share(scaling, base, rope_dims, i) : 0;
    frequencies[i] = own / scaling.factor * (1 - kept) + own * kept;
  }
  return frequencies;
}

// llama.cpp multiplies by 1 + 0.1 ln(factor) only when extrapolating, and never for a factor below 1.
double rope_magnitude(const RopeScaling& scaling) {
  if (scaling.magnitude > 0) return scaling.attention_factor * scaling.magnitude;
  const bool yarn = scaling.kind == RopeScaling::Kind::kYarn && scaling.extrapolation != 0 && scaling.factor > 1;
  return scaling.attention_factor * (yarn ? 1 + 0.1 * std::log(scaling.factor) : 1);
}

}  // namespace warpchat
