// Kernels that launch objects share: compiled once per context, from any thread, and freed with the last user.
#include "engine/gpu/compiled_kernels.h"

#include <gtest/gtest.h>

#include <thread>

#include "engine/gpu/attention_launch.h"
#include "tests/support/error_of.h"
#include "tests/support/faulty_driver.h"

namespace warpchat {
namespace {

KvScatterSpec scatter_spec(double frequency) {
  KvScatterSpec spec{1, 1, 8, 2, RopePairing::kNeox, 64};
  spec.frequencies = {frequency};
  return spec;
}

class CompiledKernelsTest : public testing::Test {
 protected:
  ContextPointer open() { return Context::open(driver_.table(), driver_.device().gpu); }
  uint64_t compilations() { return driver_.calls("cuModuleLoadDataEx"); }
  FaultyDriver driver_;
  const AttentionSpec spec_{1, 1, 8, 64};
};

TEST_F(CompiledKernelsTest, AreSharedByObjectsOfEqualSpecs) {
  const ContextPointer context = open();
  const AttentionLaunch first(context, spec_), second(context, spec_);
  EXPECT_EQ(compilations(), 1u);
  AttentionSpec in_f32 = spec_;
  in_f32.v_type = KvType::kF32;
  const AttentionLaunch other(context, in_f32);
  const KvScatterLaunch scatter(context, scatter_spec(1)), rotated_apart(context, scatter_spec(0.5));
  const KvScatterLaunch again(context, scatter_spec(1));
  EXPECT_EQ(compilations(), 4u);
  EXPECT_EQ(CompiledKernels::of(context)->n_compiled(), 4u);
}

TEST_F(CompiledKernelsTest, OfOneSpecAreCompiledOnceOnManyThreads) {
  const ContextPointer context = open();
  const std::shared_ptr<CompiledKernels> kernels = CompiledKernels::of(context);
  std::vector<const LoadedKernel*> found(8);
  std::vector<std::thread> threads;
  for (const LoadedKernel*& kernel : found)
    threads.emplace_back([&] { kernel = &CompiledKernels::of(context)->get(spec_); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compilations(), 1u);
  EXPECT_EQ(found, std::vector<const LoadedKernel*>(8, &kernels->get(spec_)));
}

TEST_F(CompiledKernelsTest, KeepNoContextAlive) {
  std::weak_ptr<Context> watched;
  {
    const ContextPointer context = open();
    watched = context;
    for (int i = 0; i < 2; ++i) AttentionLaunch(context, spec_);
    EXPECT_EQ(compilations(), 2u) << "the first had no owner";
    const std::shared_ptr<CompiledKernels> held = CompiledKernels::of(context);
    for (int i = 0; i < 2; ++i) AttentionLaunch(context, spec_);
    EXPECT_EQ(compilations(), 3u);
  }
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(driver_.alive(), "");
  const AttentionLaunch in_another(open(), spec_);
  EXPECT_EQ(compilations(), 4u);
}

TEST_F(CompiledKernelsTest, AreCompiledAgainAfterAFailure) {
  const ContextPointer context = open();
  const std::shared_ptr<CompiledKernels> kernels = CompiledKernels::of(context);
  driver_.fail("cuModuleLoadDataEx", 1, ptx::cuda::CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_NE(error_of([&] { kernels->get(spec_); }), "no error");
  AttentionSpec wrong = spec_;
  wrong.head_dim = 9;
  EXPECT_EQ(error_of([&] { kernels->get(wrong); }),
            "incremental_attention: head_dim is 9, expected a multiple of 8 up to 256");
  EXPECT_EQ(kernels->n_compiled(), 0u);
  EXPECT_EQ(kernels->get(spec_).kernel().name, "incremental_attention_h1_kv1_d8_s64_c1");
}

}  // namespace
}  // namespace warpchat
