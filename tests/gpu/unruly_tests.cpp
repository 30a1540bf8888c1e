// Misbehaving tests for tests/gpu/run_tests_test.sh: run_tests.sh must report each by name and continue after it.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "engine/driver/module.h"
#include "ptx/builder.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

TEST(Unruly, A_Passes) {}
TEST(Unruly, B_Hangs) { std::this_thread::sleep_for(std::chrono::hours(1)); }
TEST(Unruly, C_PassesBehindAHang) {}

TEST(Unruly, D_LosesTheDevice) {
  ptx::Builder b("wild_read", ptx::sm_75);
  ptx::Global<ptx::f32> x = b.global<ptx::f32>("x", 1);
  x.store(0, x.load(int64_t{1} << 40));
  const ContextPointer context = Context::open(*test_device().table, test_device().gpu);
  const Module module(context, {b.finish(ptx::Launch{1, 32})});
  const Stream stream(context);
  const DeviceMemory memory(context, 4, "x");
  module.kernel(0).launch(stream, {memory});
  EXPECT_THROW(stream.wait(), Error);
}

TEST(Unruly, E_UsesTheDevice) { Stream(Context::open(*test_device().table, test_device().gpu)).wait(); }
TEST(Unruly, F_Crashes) { std::abort(); }
TEST(Unruly, G_Fails) { EXPECT_EQ(1, 2); }
TEST(Unruly, H_IsSkipped) { GTEST_SKIP() << "nothing to do"; }
TEST(Unruly, GivesItsMemoryBackIsLeftOutByName) { ADD_FAILURE(); }

}  // namespace
}  // namespace warpchat
