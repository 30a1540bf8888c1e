// The bandwidth that decoding on the CPU is held against.
#include "engine/cpu/read_bandwidth.h"

#include <gtest/gtest.h>

#include "engine/cpu/pages.h"
#include "engine/cpu/thread_pool.h"

namespace warpchat {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(ReadBandwidth, IsNotToldOfMemoryThatIsTooSmall) {
  ThreadPool pool(2);
  const Pages pages(32 * kMiB, "test");
  EXPECT_EQ(read_bandwidth(pool, {}), 0);
  EXPECT_EQ(read_bandwidth(pool, {pages.as<uint8_t>(), 32 * kMiB - 1}), 0);
}

TEST(ReadBandwidth, IsThatOfAMachine) {
  ThreadPool pool(2);
  const Pages pages(40 * kMiB, "test");
  const double bandwidth = read_bandwidth(pool, {pages.as<uint8_t>(), pages.n_bytes()});
  EXPECT_GT(bandwidth, 1e6) << "a megabyte a second";
  EXPECT_LT(bandwidth, 1e14);
}

}  // namespace
}  // namespace warpchat
