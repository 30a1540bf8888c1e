// Kernels compiled in several modules and found by name.
#include "engine/gpu/kernel_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/builder.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::HasSubstr;

// y[0] = `number`, in a text of at least `lines` lines
ptx::Kernel stores(uint32_t number, uint32_t lines) {
  ptx::Builder b("stores_" + std::to_string(number), ptx::sm_75);
  ptx::Global<ptx::u32> y = b.global<ptx::u32>("y", 1);
  for (uint32_t i = 0; i < lines; ++i) y.store(0, number);
  return b.finish(ptx::Launch{1, 1});
}

std::vector<ptx::Kernel> many_kernels() {
  std::vector<ptx::Kernel> kernels;
  for (uint32_t i = 0; i < 9; ++i) kernels.push_back(stores(i, 400 + 100 * (i % 4)));
  return kernels;
}

struct Kernels : testing::Test {
  uint32_t result_of(const LoadedKernel& kernel) {
    const Stream stream(context);
    const DeviceMemory y(context, 4, "y");
    kernel.launch(stream, {y});
    uint32_t value = 0;
    stream.download(std::as_writable_bytes(std::span(&value, 1)), y.address());
    stream.wait();
    return value;
  }
  ContextPointer context = Context::open(*test_device().table, test_device().gpu);
};

TEST_F(Kernels, AreFoundByNameInWhicheverModule) {
  std::vector<ptx::Kernel> kernels = many_kernels();
  kernels.push_back(kernels[0]);  // two layers with the same step
  const KernelSet set(context, kernels);
  for (uint32_t i = 0; i < 9; ++i) EXPECT_EQ(result_of(set["stores_" + std::to_string(i)]), i);
  EXPECT_EQ(&set["stores_3"], &set["stores_3"]);
}

TEST_F(Kernels, RefusedTextIsToldAtEveryLookUp) {
  std::vector<ptx::Kernel> kernels = many_kernels();
  kernels[4].entry.insert(kernels[4].entry.find("st.global"), "frobnicate;\n  ");
  const KernelSet set(context, kernels);
  for (int i = 0; i < 2; ++i) EXPECT_THAT(error_of([&] { set["stores_4"]; }), HasSubstr("frobnicate"));
}

TEST(KernelModules, AreEvenAndTheSameOnEveryMachine) {
  const struct {
    const char* why;
    std::vector<ptx::Kernel> kernels;
    size_t n_modules;
  } rows[] = {
      {"a short list is one module", {stores(1, 10), stores(2, 10), stores(1, 10)}, 1},
      {"more lines than kernels to share them", {stores(1, 4000), stores(2, 4000)}, 2},
      {"about 1,500 lines a module", many_kernels(), 4},
      {"nothing", {}, 0},
  };
  for (const auto& row : rows) {
    const auto modules = split_into_modules(row.kernels);
    ASSERT_EQ(modules.size(), row.n_modules) << row.why;
    const auto again = split_into_modules(row.kernels);
    for (size_t i = 0; i < modules.size(); ++i) EXPECT_EQ(ptx::module_text(modules[i]), ptx::module_text(again[i]));
  }
  for (const auto& module : split_into_modules(many_kernels())) {
    const std::string text = ptx::module_text(module);
    EXPECT_NEAR(static_cast<double>(std::ranges::count(text, '\n')), 1300, 300);
  }
}

}  // namespace
}  // namespace warpchat
