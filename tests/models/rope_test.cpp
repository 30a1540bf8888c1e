// RoPE frequencies under every scaling. Expected numbers come from ggml 0.25.3: its rope operator on unit vectors at
// position 1, read back with atan2 (angle) and hypot (magnitude), in float32, so good to 7 digits.
#include "models/rope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using Kind = RopeScaling::Kind;

struct RopeCase {
  const char* name;
  RopeScaling scaling;
  double base;
  uint32_t rope_dims;
  std::vector<float> divisors;
  double magnitude;
  std::vector<double> frequencies;  // the first ones; the rest follow the same rule
};

RopeScaling yarn(double factor, uint32_t original_context, double beta_fast = 32, double beta_slow = 1,
                 double extrapolation = 1) {
  return {Kind::kYarn, factor, original_context, 1.0, beta_fast, beta_slow, extrapolation};
}

const RopeCase kRopeCases[] = {
    {"yarn_as_qwen", yarn(4, 32768), 1e6, 64, {}, 1.1386294, {1,           0.6493816,   0.4216966,   0.273842,
                                                              0.177828,    0.1154782,   0.07498943,  0.04869676,
                                                              0.03162278,  0.02053525,  0.01333522,  0.008659646,
                                                              0.005154797, 0.003043119, 0.001778531, 0.001026618,
                                                              5.833335e-4, 3.246909e-4, 1.75707e-4,  9.12807e-5,
                                                              4.445701e-5, 2.886956e-5, 1.874737e-5, 1.21742e-5,
                                                              7.905699e-6, 5.133816e-6, 3.333806e-6, 2.164912e-6,
                                                              1.405854e-6, 9.129359e-7, 5.928438e-7, 3.849819e-7}},
    {"yarn_other_betas",
     yarn(8, 4096, 16, 2),
     1e4,
     32,
     {},
     1.2079442,
     {1, 0.5623414, 0.3162278, 0.177828, 0.1, 0.05623413, 0.03162278, 0.01467081, 0.006500002, 0.002671121, 9.486836e-4,
      2.22285e-4, 1.25e-4, 7.029268e-5, 3.952848e-5, 2.22285e-5}},
    {"yarn_half_extrapolated",
     yarn(2, 2048, 32, 1, 0.5),
     1e4,
     32,
     {},
     1.0693147,
     {0.7500001, 0.421756, 0.2371708, 0.133371, 0.075, 0.04016723, 0.02145831, 0.0114318, 0.006071429, 0.00321338,
      0.001694078, 8.891399e-4, 5.000001e-4, 2.811707e-4, 1.581139e-4, 8.891398e-5}},
    {"linear",
     {Kind::kLinear, 4},
     1e4,
     16,
     {},
     1,
     {0.25, 0.07905694, 0.025, 0.007905695, 0.0025, 7.905695e-4, 2.5e-4, 7.905695e-5}},
    {"llama3_divisors",
     {Kind::kLlama3},
     5e5,
     16,
     {1, 1, 2, 8, 8, 8, 32, 32},
     1,
     {1, 0.1939228, 0.01880302, 9.115831e-4, 1.767767e-4, 3.428102e-5, 1.661967e-6, 3.222933e-7}},
    {"yarn_and_divisors",
     yarn(4, 8192),
     5e5,
     16,
     {1, 1, 2, 8, 8, 8, 32, 32},
     1.1386294,
     {1, 0.1939228, 0.01880302, 6.836873e-4, 8.838835e-5, 8.570255e-6, 4.154918e-7, 8.057332e-8}},
};

TEST(Rope, FrequenciesAreGgmls) {
  for (const RopeCase& c : kRopeCases) {
    const auto frequencies = rope_frequencies(c.scaling, c.base, c.rope_dims, c.divisors);
    ASSERT_EQ(frequencies.size(), c.frequencies.size()) << c.name;
    for (size_t i = 0; i < frequencies.size(); ++i)
      EXPECT_NEAR(frequencies[i], c.frequencies[i], 1e-6 * c.frequencies[i]) << c.name << " pair " << i;
    EXPECT_NEAR(rope_magnitude(c.scaling), c.magnitude, 1e-6) << c.name;
  }
}

TEST(Rope, WithoutScalingIsThePlainFormula) {
  const auto frequencies = rope_frequencies({}, 1e4, 128, {});
  for (size_t i = 0; i < 64; ++i) EXPECT_DOUBLE_EQ(frequencies[i], std::pow(1e4, -2.0 * i / 128));
  EXPECT_EQ(rope_magnitude({}), 1);
}

// As in llama.cpp: the attention factor always applies, the logarithm only if YaRN extrapolates.
TEST(Rope, MagnitudeFollowsTheAttentionFactor) {
  RopeScaling scaling = yarn(4, 32768);
  scaling.attention_factor = 0.5;
  EXPECT_DOUBLE_EQ(rope_magnitude(scaling), 0.5 * (1 + 0.1 * std::log(4)));
  scaling.extrapolation = 0;
  EXPECT_DOUBLE_EQ(rope_magnitude(scaling), 0.5);
  scaling.kind = Kind::kLinear;
  EXPECT_DOUBLE_EQ(rope_magnitude(scaling), 0.5);
}

// Transformers' attention_factor, as converters write it.
TEST(Rope, MagnitudeThatTheFileStates) {
  const auto magnitude = [](float stated, const char* kind = "yarn", float factor = 4) -> std::string {
    TinyModelSpec spec;
    spec.n_layers = 1;
    GgufWriter writer = tiny_model(spec, 1);
    writer.add_string("qwen2.rope.scaling.type", kind);
    writer.add_float32("qwen2.rope.scaling.factor", factor);
    writer.add_float32("qwen2.rope.scaling.yarn_attn_factor", stated);
    const std::vector<std::byte> bytes = writer.bytes();
    try {
      return std::to_string(read_model_config(GgufFile::view(bytes, "a.gguf")).ropes.at(0).magnitude);
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(magnitude(1.25f), "1.250000");
  EXPECT_EQ(magnitude(0.5f), "0.500000");
  EXPECT_EQ(magnitude(1, "yarn", 1), "1.000000");
  EXPECT_EQ(magnitude(1.25f, "linear"), "1.000000") << "a key of YaRN only";
  EXPECT_EQ(magnitude(1),
            "cannot load a.gguf: key qwen2.rope.scaling.yarn_attn_factor is 1, which is the whole factor for some "
            "programs and leaves it at 1.13863 for others; use a file with the factor that is meant");
  EXPECT_EQ(magnitude(-1),
            "cannot load a.gguf: key qwen2.rope.scaling.yarn_attn_factor is -1, expected 1e-06 to 1e+06");
}

// From key to frequency, through small models.
struct KeyCase {
  const char* name;
  void (*add)(GgufWriter&);
  Kind kind;
  double factor;
};
const KeyCase kKeyCases[] = {
    {"nothing", [](GgufWriter&) {}, Kind::kNone, 1},
    {"old_spelling", [](GgufWriter& to) { to.add_float32("qwen2.rope.scale_linear", 8); }, Kind::kLinear, 8},
    {"factor_without_type", [](GgufWriter& to) { to.add_float32("qwen2.rope.scaling.factor", 2); }, Kind::kLinear, 2},
    {"linear",
     [](GgufWriter& to) {
       to.add_string("qwen2.rope.scaling.type", "linear");
       to.add_float32("qwen2.rope.scaling.factor", 2);
     },
     Kind::kLinear, 2},
    {"none_whatever_the_factor",
     [](GgufWriter& to) {
       to.add_string("qwen2.rope.scaling.type", "none");
       to.add_float32("qwen2.rope.scaling.factor", 2);
     },
     Kind::kNone, 1},
    {"yarn",
     [](GgufWriter& to) {
       to.add_string("qwen2.rope.scaling.type", "yarn");
       to.add_float32("qwen2.rope.scaling.factor", 4);
       to.add_uint32("qwen2.rope.scaling.original_context_length", 256);
       to.add_bool("qwen2.rope.scaling.finetuned", true);
     },
     Kind::kYarn, 4},
};

TEST(Rope, ScalingIsReadFromItsKeys) {
  for (const KeyCase& c : kKeyCases) {
    TinyModelSpec spec;
    spec.n_layers = 1;
    GgufWriter writer = tiny_model(spec, 1);
    c.add(writer);
    const std::vector<std::byte> bytes = writer.bytes();
    const ModelConfig config = read_model_config(GgufFile::view(bytes, "a.gguf"));
    const Rope& rope = config.ropes.at(0);
    EXPECT_EQ(rope.scaling.kind, c.kind) << c.name;
    EXPECT_EQ(rope.scaling.factor, c.factor) << c.name;
    EXPECT_EQ(rope.frequencies, rope_frequencies(rope.scaling, rope.base, config.rope_dims, {})) << c.name;
    const uint32_t original = c.kind == Kind::kYarn ? 256 : spec.context_length;
    EXPECT_EQ(rope.scaling.original_context, original) << c.name;
  }
}

TEST(Rope, LlamaDivisorsComeFromTheirTensor) {
  TinyModelSpec spec;
  spec.architecture = "llama", spec.n_layers = 1, spec.rope_scaling.kind = Kind::kLlama3;
  const std::vector<std::byte> bytes = build_tiny_model(spec, 1);
  const ModelConfig config = read_model_config(GgufFile::view(bytes, "a.gguf"));
  const Rope& rope = config.ropes.at(0);
  EXPECT_EQ(rope.scaling.kind, Kind::kLlama3);
  const auto plain = rope_frequencies({}, rope.base, config.rope_dims, {});
  EXPECT_EQ(rope.frequencies.front(), plain.front());  // divided by 1
  EXPECT_LT(rope.frequencies.back(), plain.back() / 5);
}

}  // namespace
}  // namespace warpchat
