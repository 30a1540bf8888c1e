// Every launch of every known shape has a kernel that takes exactly its arguments, blocks and a cost; and together the
// shapes have every kind of operation and of kernel, so a new one without a case, a cost or a kernel fails here.
#include "kernels/launch_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/decoder.h"
#include "kernels/shapes.h"
#include "models/error.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;

constexpr struct {
  PassKind kind;
  uint32_t columns;
} kPasses[] = {{PassKind::kDecode, 1},
               {PassKind::kSmallBatch, 4},
               {PassKind::kBatch, 32},
               {PassKind::kPrefill, 512},
               {PassKind::kVerify, 8}};

LaunchList list_of(const ModelShape& shape, PassKind kind, uint32_t columns) {
  return launch_list(text_decoder(shape.config), shape.config, shape.formats, {kind, columns, 4096});
}

// One head size that flash attention does not take: its prompts go through incremental attention.
std::vector<ModelShape> shapes() {
  std::vector<ModelShape> all;
  for (const std::string& name : shape_names()) all.push_back(model_shape(name));
  all.push_back(all[0]);
  all.back().config.name = "small heads";
  all.back().config.head_dim = all.back().config.rope_dims = 32;
  all.back().config.ropes[0].frequencies.resize(16);
  return all;
}

TEST(LaunchList, HasAKernelAndACostForEveryLaunch) {
  std::map<std::string, ptx::Kernel> kernels;  // by name
  std::set<size_t> kinds_of_operations, kinds_of_kernels;
  for (const ModelShape& shape : shapes()) {
    for (const Operation& operation : text_decoder(shape.config)) kinds_of_operations.insert(operation.what.index());
    for (const auto& [kind, columns] : kPasses)
      for_each_launch(list_of(shape, kind, columns), [&](const KernelLaunch& launch, uint32_t layer) {
        if (layer > 4 && layer < shape.config.n_layers) return;  // as earlier ones
        kinds_of_kernels.insert(launch.spec.index());
        const std::string name = name_of(launch.spec);
        if (!kernels.contains(name)) kernels.emplace(name, generate(launch.spec, ptx::sm_75));
        const ptx::Kernel& kernel = kernels.at(name);
        EXPECT_EQ(operands_of(launch, kernel).size(), kernel.parameters.size());
        const uint32_t n = columns * launch.per_column;
        const LaunchColumns of_launch{std::min(n, max_columns_of(launch.spec)), n, n};
        EXPECT_GT(bytes_of(launch.spec, kernel, of_launch), 0u) << name;
        EXPECT_GT(blocks_of(launch.spec, kernel, of_launch).total(), 0u) << name;
      });
  }
  EXPECT_EQ(kinds_of_operations.size(), std::variant_size_v<decltype(Operation::what)>);
  EXPECT_EQ(kinds_of_kernels.size(), std::variant_size_v<KernelSpec>);
}

std::string fault_of(const KernelLaunch& launch) {
  try {
    operands_of(launch, generate(launch.spec, ptx::sm_75));
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(LaunchList, ArgumentsMustMatchTheKernelsParameters) {
  const LaunchList list = list_of(model_shape("qwen3-0.6b"), PassKind::kSmallBatch, 2);
  const KernelLaunch embedding = list.operations[0].launches.at(0);
  EXPECT_EQ(fault_of(embedding), "");
  KernelLaunch other = embedding;
  other.arguments.pop_back();
  EXPECT_THAT(fault_of(other), HasSubstr(" gets no argument error"));
  other = embedding;
  other.arguments.push_back({"gamma", Weight::kAttnNorm});
  EXPECT_THAT(fault_of(other), HasSubstr(" has no parameter gamma"));
  other = embedding;
  other.arguments[0].value = Operand::of_number(3);
  EXPECT_THAT(fault_of(other), HasSubstr(" gets no address weights"));
}

// Every buffer that a launch reads has been written before in the pass, unless it lasts from pass to pass.
TEST(LaunchList, ReadsWhatEarlierLaunchesWrote) {
  for (const ModelShape& shape : shapes())
    for (const auto& [kind, columns] : kPasses) {
      std::set<Buffer> written = {Buffer::kTokens,           Buffer::kPositions,    Buffer::kPageTables,
                                  Buffer::kStates,           Buffer::kKeys,         Buffer::kValues,
                                  Buffer::kAttentionScratch, Buffer::kBatchScratch, Buffer::kError};
      if (kind == PassKind::kPrefill) written.insert(Buffer::kDeltaChunks);
      for_each_launch(list_of(shape, kind, columns), [&](const KernelLaunch& launch, uint32_t) {
        for (const auto& [name, operand] : launch.arguments) {
          if (operand.buffer == Buffer::kNone || operand.access == Operand::Access::kWrite) continue;
          EXPECT_TRUE(written.contains(operand.buffer))
              << shape.config.name << ": " << name_of(launch.spec) << " reads " << name_of(operand.buffer);
        }
        for (const auto& [name, operand] : launch.arguments)
          if (operand.access != Operand::Access::kRead) written.insert(operand.buffer);
      });
    }
}

}  // namespace
}  // namespace warpchat
