// What devices tell a profiler besides calls: the use of memory, and the kernels' text.
#include "engine/device_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/cpu/cpu_steps.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/gpu/kernel_texts.h"
#include "engine/gpu/weight_upload.h"
#include "engine/profile.h"
#include "engine/token_source.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;

class DeviceReport : public testing::Test {
 protected:
  std::unique_ptr<Steps> gpu(LaunchMode launch = LaunchMode::kStream) const {
    return make_gpu_steps(model_.config, model_.tensors, {test_device(), {.context = 64}, launch, {}});
  }
  const std::vector<std::byte> bytes_ = build_tiny_model({.formats = TinyFormats::all(TensorType::kQ8_0)}, 1);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

uint64_t bytes_for(const Steps& steps, std::string_view purpose) {
  for (const MemoryUse& use : steps.memory())
    if (use.purpose == purpose) return use.bytes;
  ADD_FAILURE() << "nothing for " << purpose;
  return 0;
}

TEST_F(DeviceReport, SaysWhereMemoryGoesOnEveryDevice) {
  const auto on_gpu = gpu();
  const auto on_cpu = make_cpu_steps(model_.config, model_.tensors, {.threads = 1, .context = 64});
  for (const Steps* steps : {static_cast<const Steps*>(on_gpu.get()), static_cast<const Steps*>(on_cpu.get())}) {
    const ModelConfig& c = model_.config;
    EXPECT_GE(bytes_for(*steps, "KV cache"), uint64_t{2} * 2 * c.n_layers * 64 * c.n_kv_heads * c.head_dim);
    EXPECT_GT(bytes_for(*steps, "activations"), 0u);
    EXPECT_GE(bytes_for(*steps, "weights"), steps->weight_bytes_per_token());
    EXPECT_GT(steps->weight_bytes_per_token(), matrix_bytes(*model_.tensors.output));
  }
}

TEST_F(DeviceReport, HasTheTextOfEveryKernelThatRan) {
  std::vector<KernelText> kernels;
  std::set<std::string> ran;
  {
    Decoder decoder(model_.config, gpu());
    decoder.steps().set_measuring(true);
    decoder.forward(some_tokens(3), 0, Logits::kLast);
    const auto source = make_token_source(decoder, {{}, {}, 3, 2, 2});
    for (int i = 0; i < 2; ++i) source->next(false);
    decoder.wait();
    for (const OperationProfile& row : decoder.steps().profile().rows())
      if (row.calls > 0) ran.insert(row.name);
    kernels = decoder.steps().kernels();
  }
  EXPECT_GT(ran.size(), 8u);
  for (const KernelText& kernel : kernels) {  // the texts outlive the device
    EXPECT_THAT(*kernel.ptx, HasSubstr(".entry " + kernel.name));
    EXPECT_THAT(kernel.launch, HasSubstr(" of "));
    ran.erase(kernel.name);
  }
  EXPECT_THAT(ran, testing::IsEmpty()) << "no text for these kernels";
}

TEST_F(DeviceReport, HasThePersistentDecodersTextOnceItIsCompiled) {
  Decoder decoder(model_.config, gpu(LaunchMode::kPersistent));
  const auto is_persistent = [](const KernelText& kernel) { return kernel.name.starts_with("persistent_decoder"); };
  EXPECT_FALSE(std::ranges::any_of(decoder.steps().kernels(), is_persistent));
  decoder.forward(some_tokens(3), 0, Logits::kLast);
  make_token_source(decoder, {{}, {}, 3, 2, 2})->next(false);
  const std::vector<KernelText> kernels = decoder.steps().kernels();
  const auto persistent = std::ranges::find_if(kernels, is_persistent);
  ASSERT_NE(persistent, kernels.end());
  EXPECT_THAT(persistent->launch, HasSubstr("all resident"));
}

TEST(DescribeLaunch, GivesShapesWithoutTheirOnes) {
  ptx::Kernel kernel;
  kernel.launch.threads = 256;
  EXPECT_EQ(describe_launch(kernel, 1), "1 block of 256 threads");
  kernel.static_shared_bytes = 1024, kernel.dynamic_shared_bytes = 512;
  EXPECT_EQ(describe_launch(kernel, {1480, 8}), "1,480 x 8 blocks of 256 threads, 1.5 KiB shared memory");
  kernel.launch.cooperative = true;
  EXPECT_EQ(describe_launch(kernel, {2, 1, 3}), "2 x 1 x 3 blocks of 256 threads, 1.5 KiB shared memory, all resident");
}

}  // namespace
}  // namespace warpchat
