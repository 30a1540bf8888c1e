// What GPU steps show of a pass, compared with the CPU's, for every column layout and type. A kernel with a wrong text
// must be found.
#include "engine/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "engine/cpu/cpu_steps.h"
#include "engine/decoder.h"
#include "engine/forwarding_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

DecodableModel load_case(std::string_view name) {
  return load(*std::ranges::find(decoder_cases(), name, &DecoderCase::name));
}

std::unique_ptr<Steps> cpu_steps(const DecodableModel& model, uint32_t sequences = 1) {
  CpuOptions options;
  options.threads = 1, options.max_columns = 64, options.context = 64, options.sequences = sequences;
  return make_cpu_steps(model.config, model.tensors, options);
}

std::unique_ptr<Steps> gpu_steps(const DecodableModel& model, uint32_t sequences = 1,
                                 LaunchMode launch = LaunchMode::kStream, const DeviceChoice& on = test_device()) {
  return make_gpu_steps(model.config, model.tensors, {on, {.context = 64, .sequences = sequences}, launch, {}});
}

// Records the outputs of attention and the product after it per column: for all columns, then only for those wanted.
class ReadingSteps final : public ForwardingSteps {
 public:
  ReadingSteps(Steps& steps, const ModelConfig& config, std::vector<std::vector<float>>& read, uint32_t n_columns,
               std::vector<uint32_t> wanted)
      : ForwardingSteps(steps), config_(config), read_(read), wanted_(std::move(wanted)) {
    for (uint32_t c = 0; c < n_columns; ++c) columns_.push_back(c);
  }
  bool run(const Operation& operation) override {
    const bool is_left = ForwardingSteps::run(operation);
    if (const auto* attention = std::get_if<Attention>(&operation.what)) read_all(attention->output);
    if (const auto* dropping = std::get_if<WantedColumns>(&operation.what)) {
      columns_ = wanted_;
      keep(dropping->buffers[0]);
    }
    if (operation.name == "output_residual") keep(Buffer::kHidden);
    return is_left;
  }

 private:
  uint32_t width(Buffer buffer) const { return shape_of(buffer, config_).width; }
  void read_all(Buffer buffer) {
    std::vector<float> all(columns_.size() * width(buffer));  // in one read
    EXPECT_TRUE(read_columns(buffer, 0, all));
    for (size_t i = 0; i < all.size(); i += width(buffer))
      read_.emplace_back(all.begin() + static_cast<ptrdiff_t>(i),
                         all.begin() + static_cast<ptrdiff_t>(i + width(buffer)));
  }
  void keep(Buffer buffer) {
    for (const uint32_t column : columns_)
      EXPECT_TRUE(read_columns(buffer, column, read_.emplace_back(std::vector<float>(width(buffer)))));
  }

  ModelConfig config_;
  std::vector<std::vector<float>>& read_;  // owned by the test
  std::vector<uint32_t> wanted_, columns_;
};

double relative_difference(std::span<const float> a, std::span<const float> b) {
  double squares = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) squares += std::pow(double{a[i]} - b[i], 2), norm += double{a[i]} * a[i];
  return std::sqrt(squares / norm);
}

// Ten tokens between two prompts. A GPU puts the tokens first and every prompt at an aligned column; attention of a
// batch writes f16.
TEST(GpuColumns, AreReadWhereverTheyLie) {
  const DecodableModel model = load_case("qwen2_tied");
  constexpr uint32_t kTokens = 10, kSequences = kTokens + 2;
  const std::vector<Token> tokens = some_tokens(30);
  std::vector<warpchat::Run> runs{{0, 0, std::span(tokens).first(6), Logits::kLast}};
  std::vector<uint32_t> wanted{5};
  for (uint32_t i = 0; i < kTokens; ++i) {
    runs.push_back({1 + i, 0, std::span(tokens).subspan(6 + i, 1), Logits::kLast});
    wanted.push_back(6 + i);
  }
  runs.push_back({kSequences - 1, 0, std::span(tokens).subspan(20, 5), Logits::kNone});
  const auto cpu = cpu_steps(model, kSequences), gpu = gpu_steps(model, kSequences);
  std::vector<std::vector<float>> expected, read;
  Decoder reference(model.config, std::make_unique<ReadingSteps>(*cpu, model.config, expected, 21, wanted));
  Decoder decoder(model.config, std::make_unique<ReadingSteps>(*gpu, model.config, read, 21, wanted));
  ASSERT_TRUE(reference.forward(runs));
  ASSERT_TRUE(decoder.forward(runs));
  std::vector<std::string> names;
  for (const KernelText& kernel : gpu->kernels()) names.push_back(kernel.name);
  EXPECT_THAT(names, Contains(HasSubstr("_halves"))) << "otherwise no f16 values were read";
  ASSERT_EQ(read.size(), 2 * 21 + 21 + 2 * wanted.size());
  for (size_t i = 0; i < read.size(); ++i) EXPECT_LE(relative_difference(expected[i], read[i]), kDefaultBound) << i;
}

// After the last layer a graph is launched, and the persistent kernel shows only logits.
TEST(GpuCompare, ComparesWhatALaunchModeShows) {
  const DecodableModel model = load_case("delta_nets_and_experts");
  const std::vector<Token> tokens = some_tokens(9);
  const struct {
    LaunchMode launch;
    uint32_t n_steps;  // per token
  } modes[] = {{LaunchMode::kStream, 1 + 6 + 6 + 5 + 1}, {LaunchMode::kGraph, 2}, {LaunchMode::kPersistent, 1}};
  for (const auto& [launch, n_steps] : modes) {
    SCOPED_TRACE(name_of(launch));
    const auto cpu = cpu_steps(model), gpu = gpu_steps(model, 1, launch);
    const std::vector<PassDifference> passes = compare_devices(model.config, *cpu, *gpu, {tokens, 3});
    ASSERT_EQ(passes.size(), 4u);
    EXPECT_EQ(passes[0].n_steps, modes[0].n_steps) << "prompts go kernel by kernel";
    for (const PassDifference& pass : passes) {
      EXPECT_FALSE(pass.first) << pass.first->step << " by " << pass.first->relative;
      EXPECT_GT(pass.largest.relative, 0) << "the devices round differently";
      if (pass.n_tokens > 1) continue;
      EXPECT_EQ(pass.n_steps, n_steps);
    }
  }
}

// The device's driver with one wrong instruction in the SwiGLU of a token's kernels: neg instead of ex2.
class WrongSwiglu {
 public:
  WrongSwiglu() : table_(*test_device().table) {
    n_changed_ = 0;
    table_.cuModuleLoadDataEx = load;
  }
  DeviceChoice device() const {
    DeviceChoice choice = test_device();
    choice.table = &table_;
    return choice;
  }
  static uint32_t n_changed() { return n_changed_; }

 private:
  static ptx::cuda::CUresult load(ptx::cuda::CUmodule* module, const void* image, unsigned n,
                                  ptx::cuda::CUjit_option* options, void** values) {
    constexpr std::string_view kExponential = "ex2.approx.f32";
    std::string text = static_cast<const char*>(image);
    const size_t swiglu = text.find(".func gate_up_");
    if (const size_t at = text.find(kExponential, swiglu); swiglu != std::string::npos && at != std::string::npos) {
      text.replace(at, kExponential.size(), "neg.f32");
      ++n_changed_;
    }
    return test_device().table->cuModuleLoadDataEx(module, text.c_str(), n, options, values);
  }
  static inline std::atomic<uint32_t> n_changed_ = 0;  // modules are loaded on several threads
  DriverTable table_;
};

// Prefill uses other kernels, so the fault first shows at the first token: in both layers, and in no step after them.
TEST(GpuCompare, NamesTheStepOfAWrongKernel) {
  const DecodableModel model = load_case("qwen2_tied");
  const std::vector<Token> tokens = some_tokens(9);
  const WrongSwiglu driver;
  const auto cpu = cpu_steps(model), gpu = gpu_steps(model, 1, LaunchMode::kStream, driver.device());
  const std::vector<PassDifference> passes = compare_devices(model.config, *cpu, *gpu, {tokens, 3});
  ASSERT_EQ(passes.size(), 2u);
  EXPECT_EQ(WrongSwiglu::n_changed(), 1u);
  EXPECT_FALSE(passes[0].first);
  ASSERT_TRUE(passes[1].first);
  EXPECT_EQ(passes[1].first->step, "norm_gate_up");
  EXPECT_EQ(passes[1].first->vector, "inner");
  EXPECT_EQ(passes[1].first->layer, 0u);
  EXPECT_EQ(passes[1].n_beyond, model.config.n_layers);
}

}  // namespace
}  // namespace warpchat
