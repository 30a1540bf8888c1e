// Detection of fast cores, on machines as Linux describes them.
#include "engine/cpu/cores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>

namespace warpchat {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Cores : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::path(testing::TempDir()) / "devices_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    devices_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(devices_); }
  void write(const std::filesystem::path& file, const std::string& line) const {
    std::filesystem::create_directories((devices_ / file).parent_path());
    std::ofstream(devices_ / file) << line << '\n';
  }
  void write_of(uint32_t cpu, const std::string& file, const std::string& line) const {
    write("system/cpu/cpu" + std::to_string(cpu) + "/" + file, line);
  }
  FastCores find(uint32_t n_cpus) const {
    std::vector<uint32_t> cpus(n_cpus);
    std::iota(cpus.begin(), cpus.end(), 0u);
    return fast_cores(cpus, devices_);
  }

  std::filesystem::path devices_;
};

TEST_F(Cores, AreAlikeWhereNothingIsTold) {
  EXPECT_EQ(find(4).n, 4u);
  EXPECT_THAT(find(4).cpus, IsEmpty());
  EXPECT_EQ(find(0).n, 1u);
}

TEST_F(Cores, CountHyperThreadsOnce) {
  for (uint32_t cpu = 0; cpu < 4; ++cpu) write_of(cpu, "topology/thread_siblings_list", cpu % 2 == 0 ? "0,2" : "1,3");
  EXPECT_EQ(find(4).n, 2u);
  EXPECT_THAT(find(4).cpus, IsEmpty());
}

// Two cores with two threads each, then four slow ones.
TEST_F(Cores, OfIntelAreTheOnesItNames) {
  write("cpu_core/cpus", "0-3");
  write("cpu_atom/cpus", "4-7");
  for (uint32_t cpu = 0; cpu < 4; ++cpu) write_of(cpu, "topology/thread_siblings_list", cpu < 2 ? "0-1" : "2-3");
  for (uint32_t cpu = 4; cpu < 8; ++cpu) write_of(cpu, "topology/thread_siblings_list", std::to_string(cpu));
  EXPECT_EQ(find(8).n, 2u);
  EXPECT_THAT(find(8).cpus, ElementsAre(0, 1, 2, 3));
  const std::vector<uint32_t> slow_ones = {5, 6, 7};
  EXPECT_EQ(fast_cores(slow_ones, devices_).n, 3u) << "a process that may use no other cores";
  EXPECT_THAT(fast_cores(slow_ones, devices_).cpus, IsEmpty());
}

TEST_F(Cores, OfArmAreThoseOfLargeCapacity) {
  const char* capacities[] = {"290", "290", "290", "880", "880", "1024"};
  for (uint32_t cpu = 0; cpu < 6; ++cpu) write_of(cpu, "cpu_capacity", capacities[cpu]);
  EXPECT_EQ(find(6).n, 3u);
  EXPECT_THAT(find(6).cpus, ElementsAre(3, 4, 5));
  write_of(5, "cpu_capacity", "much");
  EXPECT_EQ(find(6).n, 6u) << "text that is not a number is ignored";
}

TEST_F(Cores, OfAListThatIsNoneAreAlike) {
  for (const char* list : {"", "all", "0-", "3-x", "0-99999999999", "0-70000"}) {
    write("cpu_core/cpus", list);
    EXPECT_EQ(find(4).n, 4u) << list;
    EXPECT_THAT(find(4).cpus, IsEmpty()) << list;
  }
}

TEST(CoresOfThisMachine, HoldAThread) {
  EXPECT_GE(fast_cores().n, 1u);
  EXPECT_GE(n_usable_cpus(), fast_cores().n);
  std::thread([] {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    uint32_t last = 0;
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) last = cpu;
    stay_on(std::vector<uint32_t>{last});
    ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
    EXPECT_EQ(CPU_COUNT(&set), 1);
    EXPECT_TRUE(CPU_ISSET(last, &set));
  }).join();
}

}  // namespace
}  // namespace warpchat
