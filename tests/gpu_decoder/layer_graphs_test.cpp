// Batches replayed from graphs, one graph per number of columns, compared with the same launches kernel by kernel.
#include "engine/gpu/layer_graphs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "engine/gpu/gpu_steps.h"
#include "engine/profile.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/faulty_driver.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;

using Rows = std::map<std::string, std::pair<uint64_t, uint64_t>>;  // calls and bytes by name

// Runs passes of one token per sequence over a subset of sequences.
class Passes {
 public:
  Passes(const DecodableModel& model, const DeviceChoice& device, LaunchMode launch, GpuSizes sizes)
      : lengths_(sizes.sequences),
        decoder_(model.config, make_gpu_steps(model.config, model.tensors, {device, sizes, launch})) {
    decoder_.steps().set_measuring(true);
  }

  void prefill(uint32_t sequence, uint32_t n_tokens) {
    decoder_.prefill(some_tokens(n_tokens), 0, sequence);
    lengths_[sequence] = n_tokens;
  }
  // A pass over n sequences from `first` on. Returns all logits, or none if it was stopped.
  std::vector<float> pass(uint32_t first, uint32_t n, const std::atomic<bool>* stop = nullptr) {
    std::vector<Run> runs;
    std::vector<Token> tokens(first + n);
    for (uint32_t i = first; i < first + n; ++i) {
      tokens[i] = static_cast<Token>(i * 7);
      runs.push_back({i, lengths_[i], std::span(tokens).subspan(i, 1), Logits::kLast});
    }
    if (!decoder_.forward(runs, stop)) return {};
    std::vector<float> logits;
    for (uint32_t i = 0; i < n; ++i) {
      ++lengths_[first + i];
      const std::span<const float> row = decoder_.logits(i);
      logits.insert(logits.end(), row.begin(), row.end());
    }
    return logits;
  }
  void stop_measuring() { decoder_.steps().set_measuring(false); }
  Rows rows() {
    Rows found;
    for (const OperationProfile& row : decoder_.steps().profile().rows())
      if (row.calls > 0) found[row.name] = {row.calls, row.bytes};
    return found;
  }

 private:
  std::vector<uint32_t> lengths_;
  Decoder decoder_;
};

class LayerGraphsTest : public testing::Test {
 protected:
  const std::vector<std::byte> bytes_ = build_tiny_model(TinyModelSpec::smallest(2), /*seed=*/3);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

// Varies the set and number of sequences; one has attention with two splits.
TEST_F(LayerGraphsTest, OfBatchesGiveTheBitsOfTheStream) {
  const struct { uint32_t first, n; } passes[] = {{0, 4}, {0, 4}, {1, 2}, {0, 3}, {2, 2}, {1, 3}, {3, 1}, {0, 4}};
  for (const KvType type : {KvType::kF16, KvType::kQ8_0, KvType::kF32}) {
    const GpuSizes sizes{.context = 200, .sequences = 4, .cache = {type, type}};
    Passes streamed(model_, test_device(), LaunchMode::kStream, sizes);
    streamed.prefill(2, 126);
    std::vector<std::vector<float>> expected;
    for (const auto& pass : passes) expected.push_back(streamed.pass(pass.first, pass.n));
    for (const LaunchMode mode : {LaunchMode::kGraph, LaunchMode::kPersistent}) {
      if (mode == LaunchMode::kPersistent && type == KvType::kF32) continue;  // not supported
      Passes graphed(model_, test_device(), mode, sizes);
      graphed.prefill(2, 126);
      for (size_t i = 0; i < std::size(passes); ++i)
        EXPECT_EQ(graphed.pass(passes[i].first, passes[i].n), expected[i]) << name_of(mode) << ", pass " << i;
      EXPECT_EQ(graphed.rows(), streamed.rows()) << name_of(mode);
    }
  }
}

TEST_F(LayerGraphsTest, ForgetAPassThatWasStopped) {
  const GpuSizes sizes{.context = 32, .sequences = 3};
  Passes streamed(model_, test_device(), LaunchMode::kStream, sizes);
  Passes graphed(model_, test_device(), LaunchMode::kGraph, sizes);
  const std::atomic<bool> stop = true;
  for (int i = 0; i < 3; ++i) {  // while recording, and while replaying
    EXPECT_TRUE(graphed.pass(0, 3, &stop).empty());
    EXPECT_EQ(graphed.pass(0, 3), streamed.pass(0, 3)) << i;
  }
}

// Events are created during a capture, and another thread may load a module meanwhile.
TEST(LaunchGraphs, ForbidNothingWhileTheyRecord) {
  const ContextPointer context = Context::open(*test_device().table, test_device().gpu);
  const Stream stream(context);
  LaunchGraph graph(context);
  const DeviceMemory before(context, 256, "a test");
  graph.begin(stream);
  EXPECT_NO_THROW(DeviceMemory(context, 256, "a test"));
  stream.fill(before.address(), 1, 256);
  EXPECT_NO_THROW(graph.end(stream));
  EXPECT_NO_THROW(graph.launch(stream));
  stream.wait();
}

// More batch sizes than graphs are kept. The timer may not have collected the times of an evicted graph yet.
TEST_F(LayerGraphsTest, AreBounded) {
  constexpr uint32_t kMore = LayerGraphs::kMax + 2;
  const GpuSizes sizes{.context = 64, .sequences = kMore + 1};
  for (const bool is_measured : {false, true}) {
    FaultyDriver driver;
    {
      Passes streamed(model_, driver.device(), LaunchMode::kStream, sizes);
      Passes graphed(model_, driver.device(), LaunchMode::kGraph, sizes);
      if (!is_measured) streamed.stop_measuring(), graphed.stop_measuring();
      for (uint32_t n = 1; n <= kMore; ++n) ASSERT_EQ(graphed.pass(0, n), streamed.pass(0, n)) << n;
      EXPECT_THAT(driver.alive(), HasSubstr("cuGraphInstantiate " + std::to_string(LayerGraphs::kMax) + ","));
      EXPECT_EQ(graphed.pass(0, 1), streamed.pass(0, 1)) << "recorded again";
      EXPECT_EQ(graphed.rows(), streamed.rows()) << "kernel by kernel";
    }
    EXPECT_EQ(driver.alive(), "");
  }
}

}  // namespace
}  // namespace warpchat
