// Buffers share memory only where neither an operation nor a phase of the persistent decoder uses both.
#include "engine/gpu/gpu_memory.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/decoder.h"
#include "kernels/persistent/phase_program.h"
#include "kernels/shapes.h"

namespace warpchat {
namespace {

// All kinds of layers in one model.
ModelShape all_kinds() {
  ModelShape shape = model_shape("qwen3.5-35b-a3b");
  shape.config.ffn = 1024;
  shape.config.layers = {{Mixer::kDeltaNet, Ffn::kExperts},
                         {Mixer::kAttention, Ffn::kDense},
                         {Mixer::kDeltaNet, Ffn::kDense},
                         {Mixer::kAttention, Ffn::kExperts}};
  shape.config.n_layers = 4;
  shape.formats = q4_k_m_formats(shape.config);
  return shape;
}

class GpuMemory : public testing::Test {
 protected:
  void expect_apart(const std::set<Buffer>& buffers, std::string_view what) const {
    for (const Buffer a : buffers)
      for (const Buffer b : buffers)
        if (a < b && bytes(a) > 0 && bytes(b) > 0) {
          EXPECT_TRUE(plan_[a] + bytes(a) <= plan_[b] || plan_[b] + bytes(b) <= plan_[a])
              << shape_.config.name << ", " << what << ": " << name_of(a) << " and " << name_of(b);
        }
  }
  // Zero for what is not in columns.
  uint64_t bytes(Buffer buffer) const {
    if (buffer >= Buffer::kTokens && buffer != Buffer::kLogits) return 0;
    const BufferShape of = shape_of(buffer, shape_.config);
    return uint64_t{of.width} * of.per_column * sizeof(float) *
           (buffer == Buffer::kLogits ? logits_rows(sizes_) : sizes_.buffer_columns());
  }

  ModelShape shape_;
  GpuSizes sizes_{.context = 4096, .batch = 64, .sequences = 2};
  ActivationPlan plan_;
};

TEST_F(GpuMemory, IsSharedOnlyByBuffersOfDifferentTimes) {
  std::vector<ModelShape> shapes = {all_kinds()};
  for (const std::string& name : shape_names()) shapes.push_back(model_shape(name));
  for (const ModelShape& shape : shapes) {
    shape_ = shape;
    plan_ = plan_activations(shape.config, sizes_);
    const Network network = text_decoder(shape.config);
    for (const Operation& operation : network) {
      const std::vector<Buffer> all = buffers_of(operation);
      expect_apart({all.begin(), all.end()}, operation.name);
    }
    const LaunchList list = launch_list(network, shape.config, shape.formats, {PassKind::kDecode, 1, 4096});
    std::map<std::pair<uint32_t, PhaseKind>, std::set<Buffer>> phases;  // of a layer
    for_each_launch(list, [&](const KernelLaunch& launch, uint32_t layer) {
      std::set<Buffer>& all = phases[{layer, launch.phase}];
      all.insert({Buffer::kHidden, Buffer::kLogits});
      for (const auto& [name, operand] : launch.arguments)
        if (operand.buffer != Buffer::kNone) all.insert(operand.buffer);
    });
    for (const auto& [phase, all] : phases) expect_apart(all, name_of(phase.second));
  }
}

TEST_F(GpuMemory, IsSharedByTheTwoHalvesOfALayer) {
  shape_ = model_shape("qwen2.5-7b");
  plan_ = plan_activations(shape_.config, sizes_);
  EXPECT_EQ(plan_[Buffer::kInner], std::min({plan_[Buffer::kQ], plan_[Buffer::kK], plan_[Buffer::kMixed]}));
}

}  // namespace
}  // namespace warpchat
