// A model's memory is counted without overflow, compared with the available memory, and refused in one helpful
// sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "engine/cpu/cpu_steps.h"
#include "engine/cpu/memory_budget.h"
#include "engine/cpu/pages.h"
#include "engine/cpu/simd_level.h"
#include "engine/decoder.h"
#include "engine/file_mappings.h"
#include "models/error.h"
#include "tests/support/error_of.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(MemoryCheck, NamesTheLargestContextThatFits) {
  const MemoryBudget budget{
      .weights_bytes = 3ull << 30, .cache_bytes_per_position = 1 << 20, .activation_bytes = 1 << 20};
  EXPECT_NO_THROW(check_memory(budget, 1023, 4ull << 30));
  const std::string message = error_of([&] { check_memory(budget, 4096, 4ull << 30); });
  EXPECT_THAT(message, HasSubstr("needs 7.00 GiB"));
  EXPECT_THAT(message, HasSubstr("4.00 GiB are available"));
  EXPECT_EQ(budget.largest_context(4ull << 30), 1023u);
  try {
    check_memory(budget, 4096, 4ull << 30);
  } catch (const MemoryShortage& shortage) {
    EXPECT_EQ(shortage.remedy, (Remedy{Remedy::Kind::kSmallerContext, 1023}));
  }
  try {
    check_memory(budget, 4096, 4ull << 30, "memory", /*own_context=*/512);
  } catch (const MemoryShortage& shortage) {
    EXPECT_EQ(shortage.remedy.context, 512u) << "no context beyond the model's own is offered";
  }
}

TEST(MemoryCheck, SaysThatNoContextFits) {
  const MemoryBudget budget{.weights_bytes = 3ull << 30, .cache_bytes_per_position = 1 << 20, .activation_bytes = 0};
  EXPECT_THAT(error_of([&] { check_memory(budget, 256, 1 << 30); }),
              HasSubstr("1.00 GiB are available; no context fits, use a smaller model with weights of up to 0.75 GiB"));
  EXPECT_THAT(error_of([&] { check_memory(budget, 1024, 1 << 30); }), EndsWith("no context fits, use a smaller model"));
}

TEST(MemoryCheck, DoesNotOverflow) {
  ModelConfig config{};
  config.n_layers = config.n_kv_heads = config.n_heads = config.head_dim = config.hidden = config.ffn = UINT32_MAX;
  config.n_vocab = UINT32_MAX;
  TensorInfo huge{"huge", TensorType::kF32, {1ull << 32, 1ull << 31, 1, 1}, 2, {}};
  ModelTensors tensors{};
  tensors.output = tensors.token_embd = &huge;
  const MemoryBudget budget = memory_budget(*usable_kernels().front(), config, tensors, 512);
  EXPECT_EQ(budget.total(UINT32_MAX), UINT64_MAX);
  EXPECT_THROW(check_memory(budget, UINT32_MAX, available_memory()), Error);
}

TEST(MemoryCheck, CountsWeightsOnceAndTheCacheByPosition) {
  TinyModelSpec spec;
  spec.formats = TinyFormats::all(TensorType::kQ8_0);
  const std::vector<std::byte> bytes = build_tiny_model(spec, /*seed=*/1);
  const GgufFile file = GgufFile::view(bytes, "tiny");
  const ModelConfig config = read_model_config(file);
  const ModelTensors tensors = read_model_tensors(file, config);
  uint64_t matrices = 0;
  for (const TensorInfo& t : file.tensors()) matrices += t.n_dims == 2 ? t.data.size() : 0;
  const MemoryBudget budget = memory_budget(*usable_kernels().front(), config, tensors, 64);
  EXPECT_GE(budget.weights_bytes, matrices);
  EXPECT_LE(budget.weights_bytes, matrices + matrices / 50);       // the last group of the vocabulary is padded
  EXPECT_EQ(budget.cache_bytes_per_position, 2 * 2 * 2 * 64 * 2);  // layers, keys and values, KV heads, head_dim, fp16
  CpuOptions options;
  options.context = 100, options.max_columns = 64;
  EXPECT_EQ(cpu_memory_needed(config, tensors, options), budget.total(100));
  options.cache = {KvType::kQ8_0, KvType::kF16};  // keys: one byte each, and two float scales
  EXPECT_EQ(cpu_memory_needed(config, tensors, options), budget.total(100) - 100 * 2 * 2 * (128 - 72));
  options.cache = {KvType::kF16, KvType::kF32};
  EXPECT_EQ(cpu_memory_needed(config, tensors, options), budget.total(100) + 100 * 2 * 2 * 128);
}

// In a child, because the limit cannot be raised again.
TEST(MemoryCheck, SeesTheLimitOfTheAddressSpace) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer reserves the whole address space";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit limit{1ull << 30, 1ull << 30};
    setrlimit(RLIMIT_AS, &limit);
    const uint64_t available = available_memory();
    const bool refused = !error_of([] { Pages pages(2ull << 30, "a test"); }).empty();
    _exit(available > 0 && available < 1ull << 30 && refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// The vocabulary makes logits the largest buffer of a pass. Runs in a child, because the limit cannot be raised again.
TEST(MemoryCheck, CountsTheLogitsOfAPass) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer reserves the whole address space";
#endif
  TinyModelSpec spec = TinyModelSpec::smallest();
  spec.n_vocab = 100'000;
  const std::vector<std::byte> bytes = build_tiny_model(spec, /*seed=*/1);
  const GgufFile file = GgufFile::view(bytes, "tiny");
  const ModelConfig config = read_model_config(file);
  const ModelTensors tensors = read_model_tensors(file, config);
  CpuOptions options;
  options.threads = 1, options.context = options.max_columns = 512;
  constexpr uint64_t kSlack = 16 << 20;  // norms, positions, and malloc's reserve
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::ifstream status("/proc/self/status");
    uint64_t kib = 0;
    for (std::string word; status >> word;)
      if (word == "VmSize:") status >> kib;
    const uint64_t limit_bytes = (kib << 10) + cpu_memory_needed(config, tensors, options) + kSlack;
    const rlimit limit{limit_bytes, limit_bytes};
    if (kib == 0 || setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    try {
      Decoder decoder(config, make_cpu_steps(config, tensors, options));
      const std::vector<Token> given(decoder.max_logits_columns(), 7);
      decoder.forward(given, 0, Logits::kAll);
      _exit(given.size() < 16 || std::isnan(decoder.logits(0)[0]) ? 3 : 0);
    } catch (const std::exception& error) {
      fprintf(stderr, "%s\n", error.what());
      _exit(1);
    }
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Pages, NameTheirPurposeWhenRefused) {
  EXPECT_THAT(error_of([] { Pages pages(UINT64_MAX - 4096, "the keys of the KV cache"); }),
              HasSubstr("for the keys of the KV cache"));
}

TEST(Pages, AreZeroAndWritableToTheEnd) {
  for (Pages::Size size : {Pages::Size::kSmall, Pages::Size::kHuge})
    for (uint64_t n : {1ull, 4096ull, 5ull << 20}) {
      const Pages pages(n, "a test", size);
      EXPECT_EQ(pages.as<uint8_t>()[0], 0);
      EXPECT_EQ(pages.as<uint8_t>()[n - 1], 0);
      pages.as<uint8_t>()[n - 1] = 1;
    }
}

// Releasing pages must lose nothing: pages of a file are read again, other memory is untouched.
TEST(FileMappings, LeaveOtherMemoryAlone) {
  std::vector<uint8_t> heap(1 << 20, 7);
  FileMappings().release(heap.data(), heap.size());
  EXPECT_EQ(heap, std::vector<uint8_t>(1 << 20, 7));
}

}  // namespace
}  // namespace warpchat
