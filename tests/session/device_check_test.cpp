// The check of a device on the emulator, and what is remembered of it. tests/app has faulty devices for it.
#include "engine/session/device_check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/gpu/device_record.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/session/check_model.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

TEST(DeviceCheck, PassesInEveryMode) {
  const DeviceCheck check = check_device(test_device());
  ASSERT_EQ(check.rows.size(), 4u);
  for (const DeviceCheck::Row& row : check.rows) {
    EXPECT_EQ(row.fault, "") << row.mode;
    const bool is_to_the_bit = row.mode == "graph" || row.mode == "persistent";
    EXPECT_EQ(row.difference.value() == 0, is_to_the_bit) << row.mode;
  }
  EXPECT_EQ(check.fault(), "");
}

// What a GPU's first start compiles besides the model's own kernels.
TEST(DeviceCheck, CompilesAtMost25500Lines) {
  const CheckModel model(1);
  const std::unique_ptr<Steps> steps = make_gpu_steps(
      model.config(), model.tensors(),
      {.device = test_device(), .sizes = {.context = 64, .batch = 32}, .launch = LaunchMode::kStream, .drafts = false});
  steps->set_launch_mode(LaunchMode::kPersistent);
  std::set<std::string> texts;
  for (const KernelText& kernel : steps->kernels()) texts.insert(*kernel.ptx);
  ptrdiff_t lines = 0;
  for (const std::string& text : texts) lines += std::ranges::count(text, '\n');
  EXPECT_GT(lines, 5000);
  EXPECT_LE(lines, 25500);
}

TEST(DeviceRecord, KeepsWhatIsKnownOfEachDevice) {
  const std::string folder = testing::TempDir() + "/device_record_test", path = folder + "/deeper/devices.json";
  std::filesystem::remove_all(folder);
  const GpuDevice first{.name = "first"}, second{.name = "second"};
  const DeviceRecord record(path, first), other(path, second);
  EXPECT_FALSE(record.read().check);
  EXPECT_TRUE(record.write({.check = "", .failed_modes = {}}));
  record.add_failed_mode(LaunchMode::kGraph, "it hung");
  EXPECT_EQ(record.read().check, "");
  EXPECT_EQ(record.read().failed_modes, (std::map<LaunchMode, std::string>{{LaunchMode::kGraph, "it hung"}}));
  EXPECT_FALSE(other.read().check);
  EXPECT_TRUE(record.write({.check = "wrong", .failed_modes = {}}));
  EXPECT_TRUE(record.read().failed_modes.empty());
  for (const char* text : {"", "no JSON", "[]", "{\"a\": 1}"}) {
    std::ofstream(path) << text;
    EXPECT_FALSE(record.read().check) << text;
  }
  EXPECT_TRUE(record.write({.check = "", .failed_modes = {}}));
  EXPECT_EQ(record.read().check, "");
  EXPECT_FALSE(DeviceRecord("", first).read().check);
  EXPECT_FALSE(DeviceRecord("/dev/null/devices.json", first).write({}));
}

}  // namespace
}  // namespace warpchat
