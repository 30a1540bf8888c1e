// Two CPUs compute the same text. One has a fault in one element of one step, which must be named exactly.
#include "engine/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cpu/cpu_steps.h"
#include "engine/forwarding_steps.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using ::testing::ElementsAre;

struct Fault {
  std::string_view step, vector;
  std::optional<uint32_t> layer;
  uint32_t pass, row, element;  // row: in the buffer
  bool is_nan = false;
};

// A CPU backend with one wrong value in one step: off by its column's norm, or NaN.
class FaultySteps final : public ForwardingSteps {
 public:
  FaultySteps(Steps& steps, const ModelConfig& config, const Fault& fault)
      : ForwardingSteps(steps), config_(config), fault_(fault) {}

  void begin(std::span<const warpchat::Run> runs) override {
    ++passes_;
    first_ = 0, last_ = runs[0].n_columns() - 1;
    ForwardingSteps::begin(runs);
  }
  bool run(const Operation& operation) override {
    if (std::holds_alternative<WantedColumns>(operation.what)) first_ = last_;
    const bool goes_on = ForwardingSteps::run(operation);
    for (const Buffer buffer : outputs_of(operation)) damage(operation, buffer);
    return goes_on;
  }

 private:
  void damage(const Operation& operation, Buffer buffer) {
    const bool is_convolution = std::holds_alternative<Convolution>(operation.what);
    const std::string_view vector = is_convolution ? "values" : name_of(buffer);
    if (operation.name != fault_.step || vector != fault_.vector || passes_ != fault_.pass + 1) return;
    if (operation.layer != fault_.layer.value_or(config_.n_layers)) return;
    std::vector<float> row(shape_of(buffer, config_).width);
    read_columns(buffer, first_ + fault_.row, row);
    double norm = 0;
    for (const float value : row) norm += double{value} * value;
    row[fault_.element] +=
        fault_.is_nan ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(std::sqrt(norm));
    write_columns(buffer, first_ + fault_.row, row);
  }

  ModelConfig config_;
  Fault fault_;
  uint32_t passes_ = 0, first_ = 0, last_ = 0;  // columns that are left
};

const DecodableModel& dense() {
  static const std::vector<std::byte> bytes = build_tiny_model(TinyModelSpec::smallest(/*n_layers=*/2), /*seed=*/1);
  static const DecodableModel model(GgufFile::view(bytes, "dense"));
  return model;
}

TinyModelSpec experts_spec() {
  TinyModelSpec spec = TinyModelSpec::smallest(/*n_layers=*/2);
  spec.architecture = "qwen3moe";
  spec.experts = {.n = 8, .n_used = 2, .ffn = 32, .normalises = true};
  return spec;
}

const DecodableModel& experts() {
  static const std::vector<std::byte> bytes = build_tiny_model(experts_spec(), /*seed=*/2);
  static const DecodableModel model(GgufFile::view(bytes, "experts"));
  return model;
}

const DecodableModel& hybrid() {
  static const std::vector<std::byte> bytes = [] {
    TinyModelSpec spec = TinyModelSpec::smallest(/*n_layers=*/2);
    spec.architecture = "qwen35", spec.head_dim = 32;
    spec.delta_net = {.n_k_heads = 1, .n_v_heads = 2, .head_dim = 32, .conv_kernel = 4};
    return build_tiny_model(spec, /*seed=*/3);
  }();
  static const DecodableModel model(GgufFile::view(bytes, "hybrid"));
  return model;
}

std::unique_ptr<Steps> cpu_steps(const DecodableModel& model) {
  CpuOptions options;
  options.threads = 1, options.max_columns = 64, options.context = 64;
  return make_cpu_steps(model.config, model.tensors, options);
}

constexpr uint32_t kPrefill = 8, kDecoded = 3;

std::vector<PassDifference> compare(const DecodableModel& model, Steps& first, Steps& second,
                                    uint64_t record_bytes = 1 << 20) {
  const std::vector<Token> tokens = some_tokens(kPrefill + kDecoded);
  return compare_devices(model.config, first, second, {tokens, kDecoded, kDefaultBound, record_bytes});
}

TEST(Compare, FindsNothingBetweenEqualDevices) {
  for (const DecodableModel* model : {&dense(), &experts(), &hybrid()}) {
    const auto first = cpu_steps(*model), second = cpu_steps(*model);
    const std::vector<PassDifference> passes = compare(*model, *first, *second);
    ASSERT_EQ(passes.size(), 1u + kDecoded);
    EXPECT_EQ(passes[0].n_tokens, kPrefill);
    for (const PassDifference& pass : passes) {
      const bool is_hybrid = model == &hybrid();  // its second layer has one step more
      EXPECT_EQ(pass.n_steps, 1u + 2 * 5 + is_hybrid + 1) << model->file.path();
      EXPECT_EQ(pass.largest.relative, 0) << model->file.path();
      EXPECT_FALSE(pass.first || pass.choice) << model->file.path();
    }
  }
}

TEST(Compare, CutsAPromptToWhatTheHostRecords) {
  const auto first = cpu_steps(dense()), second = cpu_steps(dense());
  std::vector<uint32_t> lengths;
  const uint32_t kColumnBytes = 4 * (64 + 2 * (64 + 2 * 32 + 64 + 64 + 128 + 64));
  for (const PassDifference& pass : compare(dense(), *first, *second, 3 * kColumnBytes))
    lengths.push_back(pass.n_tokens);
  EXPECT_THAT(lengths, ElementsAre(3, 3, 2, 1, 1, 1));
}

struct FaultCase {
  const char* name;
  const DecodableModel& (*model)();
  Fault fault;
  uint32_t column, element;  // as the report must name them
};

// Passes: 8 tokens, then three single ones. After the last layer's mixer, only column 7 is computed, in row 0.
const FaultCase kFaultCases[] = {
    {"embedding", dense, {"embed", "hidden", {}, 0, 5, 17}, 5, 17},
    {"queries", dense, {"norm_qkv", "q", 1, 0, 7, 63}, 7, 63},
    {"keys", dense, {"norm_qkv", "k", 0, 0, 6, 1}, 6, 1},
    {"values_of_a_token", dense, {"norm_qkv", "v", 1, 2, 0, 31}, 0, 31},
    {"attention", dense, {"attention", "mixed", 1, 0, 3, 40}, 3, 40},
    {"output_before_the_last_layer", dense, {"output_residual", "hidden", 0, 0, 2, 9}, 2, 9},
    {"output_of_the_last_layer", dense, {"output_residual", "hidden", 1, 0, 0, 9}, 7, 9},
    {"gate_up", dense, {"norm_gate_up", "inner", 0, 0, 4, 127}, 4, 127},
    {"down_of_a_token", dense, {"down_residual", "hidden", 1, 3, 0, 0}, 0, 0},
    {"logits_of_a_prompt", dense, {"norm_logits", "logits", {}, 0, 0, 3}, 7, 3},
    {"logits_of_a_token", dense, {"norm_logits", "logits", {}, 3, 0, 100}, 0, 100},
    {"not_a_number", dense, {"down_residual", "hidden", 0, 0, 1, 5, /*is_nan=*/true}, 1, 5},
    {"router", experts, {"norm_route", "scores", 0, 0, 3, 6}, 3, 6},
    {"experts", experts, {"experts_residual", "hidden", 1, 1, 0, 12}, 0, 12},
    {"gates_of_a_delta_net", hybrid, {"norm_delta", "z", 0, 0, 2, 3}, 2, 3},
    {"decay", hybrid, {"norm_delta", "alpha", 0, 1, 0, 1}, 0, 1},
    {"learning_rate", hybrid, {"norm_delta", "beta", 0, 0, 7, 0}, 7, 0},
    {"convolution", hybrid, {"conv_step", "values", 0, 0, 5, 2 * 32 + 10}, 5, 10},  // after a query and a key
    {"delta_net", hybrid, {"delta_step", "mixed", 0, 2, 0, 33}, 0, 33},
};

class CompareFaults : public testing::TestWithParam<FaultCase> {};

TEST_P(CompareFaults, AreNamedExactly) {
  const auto& [name, model, fault, column, element] = GetParam();
  const auto first = cpu_steps(model()), second = cpu_steps(model());
  FaultySteps faulty(*second, model().config, fault);
  const std::vector<PassDifference> passes = compare(model(), *first, faulty);
  ASSERT_EQ(passes.size(), fault.pass + 1) << "and no pass after it";
  for (const PassDifference& pass : std::span(passes).first(fault.pass)) EXPECT_EQ(pass.largest.relative, 0);
  ASSERT_TRUE(passes.back().first);
  const Difference& found = *passes.back().first;
  EXPECT_EQ(found.step, fault.step);
  EXPECT_EQ(found.vector, fault.vector);
  EXPECT_EQ(found.layer, fault.layer);
  EXPECT_EQ(found.column, column);
  EXPECT_EQ(found.element, element);
  EXPECT_EQ(std::isinf(found.relative), fault.is_nan);
  EXPECT_EQ(passes.back().n_beyond, 1u) << "the next step reads the first device's result";
  EXPECT_FALSE(passes.back().choice);
}

INSTANTIATE_TEST_SUITE_P(EveryStep, CompareFaults, testing::ValuesIn(kFaultCases),
                         [](const auto& c) { return c.param.name; });

// Rows 1 and 2 of the router are half of row 0; row `larger` is a ten-thousandth larger.
DecodableModel with_near_experts(const GgufFile& file, std::vector<std::byte>& bytes, uint32_t larger) {
  GgufWriter writer;
  writer.copy_metadata(file);
  for (const TensorInfo& tensor : file.tensors()) {
    std::vector<std::byte> data(tensor.data.begin(), tensor.data.end());
    if (tensor.name == "blk.1.ffn_gate_inp.weight") {
      std::vector<float> rows(tensor.k() * tensor.rows());
      for (uint64_t i = 0; i < tensor.k(); ++i) {
        rows[i] = 0.01f * static_cast<float>(i % 7 + 1);
        for (const uint32_t row : {1u, 2u}) rows[row * tensor.k() + i] = rows[i] / (row == larger ? 2.0f : 2.0002f);
      }
      EXPECT_EQ(tensor.type, TensorType::kF32);
      std::memcpy(data.data(), rows.data(), data.size());
    }
    writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), data);
  }
  bytes = writer.bytes();
  return DecodableModel(GgufFile::view(bytes, "near experts"));
}

// The outputs of these experts differ but are not compared; all other columns and steps are.
TEST(Compare, TellsThatNearExpertsWereChosenDifferently) {
  std::vector<std::byte> bytes[2];
  const DecodableModel models[] = {with_near_experts(experts().file, bytes[0], 1),
                                   with_near_experts(experts().file, bytes[1], 2)};
  const auto first = cpu_steps(models[0]), second = cpu_steps(models[1]);
  const std::vector<PassDifference> passes = compare(models[0], *first, *second);
  ASSERT_EQ(passes.size(), 1u + kDecoded);
  uint32_t n_choices = 0;
  for (const PassDifference& pass : passes) {
    EXPECT_FALSE(pass.first) << pass.first->step;
    EXPECT_EQ(pass.n_beyond, 0u);
    EXPECT_GT(pass.largest.relative, 0) << "the routers' scores";
    if (!pass.choice) continue;
    ++n_choices;
    EXPECT_EQ(pass.choice->layer, 1u);
    EXPECT_THAT(pass.choice->first, ElementsAre(0, 1));
    EXPECT_THAT(pass.choice->second, ElementsAre(0, 2));
  }
  EXPECT_GT(n_choices, 0u);
}

}  // namespace
}  // namespace warpchat
