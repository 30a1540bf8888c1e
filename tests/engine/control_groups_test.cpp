// Limits of control groups, as Linux's files describe them.
#include "engine/cpu/control_groups.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cmath>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace warpchat {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNone = UINT64_MAX;
const double kInfinite = std::numeric_limits<double>::infinity();

struct GroupCase {
  const char* name;
  const char* own;                                         // /proc/self/cgroup
  std::vector<std::pair<std::string, std::string>> files;  // below /sys/fs/cgroup
  uint64_t memory;
  double processors;
};

const GroupCase kCases[] = {
    {"no_groups", "", {}, kNone, kInfinite},
    {"version_2_without_limits",
     "0::/\n",
     {{"memory.max", "max"}, {"memory.current", "5"}, {"cpu.max", "max 100000"}},
     kNone,
     kInfinite},
    {"version_2_in_a_namespace",
     "0::/\n",
     {{"memory.max", "1000"},
      {"memory.current", "700"},
      {"memory.stat", "anon 500\nfile 150\nkernel 50"},
      {"cpu.max", "150000 100000"}},
     450,
     1.5},
    {"version_2_nested_the_outer_is_tighter",
     "0::/user.slice/app.scope\n",
     {{"user.slice/memory.max", "1000"},
      {"user.slice/memory.current", "900"},
      {"user.slice/cpu.max", "50000 100000"},
      {"user.slice/app.scope/memory.max", "5000"},
      {"user.slice/app.scope/memory.current", "100"},
      {"user.slice/app.scope/cpu.max", "400000 100000"}},
     100,
     0.5},
    {"version_2_nested_the_inner_is_tighter",
     "0::/user.slice/app.scope\n",
     {{"user.slice/memory.max", "max"},
      {"user.slice/memory.current", "900"},
      {"user.slice/app.scope/memory.max", "500"},
      {"user.slice/app.scope/memory.current", "100"},
      {"user.slice/app.scope/cpu.max", "200000 100000"}},
     400,
     2},
    {"version_1",
     "5:cpu,cpuacct:/box\n4:memory:/box\n1:name=systemd:/box\n",
     {{"memory/memory.limit_in_bytes", "9223372036854771712"},
      {"memory/memory.usage_in_bytes", "100"},
      {"memory/box/memory.limit_in_bytes", "1000"},
      {"memory/box/memory.usage_in_bytes", "600"},
      {"memory/box/memory.stat", "cache 1\ntotal_cache 200"},
      {"cpu,cpuacct/cpu.cfs_quota_us", "-1"},
      {"cpu,cpuacct/cpu.cfs_period_us", "100000"},
      {"cpu,cpuacct/box/cpu.cfs_quota_us", "250000"},
      {"cpu,cpuacct/box/cpu.cfs_period_us", "100000"}},
     600,
     2.5},
    {"version_1_in_a_container_whose_path_is_the_host_s",
     "4:memory:/docker/0123\n3:cpu:/docker/0123\n",
     {{"memory/memory.limit_in_bytes", "1000"},
      {"memory/memory.usage_in_bytes", "200"},
      {"cpu/cpu.cfs_quota_us", "100000"},
      {"cpu/cpu.cfs_period_us", "100000"}},
     800,
     1},
    {"used_beyond_its_limit", "0::/\n", {{"memory.max", "1000"}, {"memory.current", "1200"}}, 0, kInfinite},
    {"unreadable_numbers", "0::/\n", {{"memory.max", "much"}, {"cpu.max", "x y"}}, kNone, kInfinite},
};

TEST(ControlGroups, EveryLevelOfEitherVersionCounts) {
  for (const GroupCase& c : kCases) {
    SCOPED_TRACE(c.name);
    std::string root = testing::TempDir() + "groups_XXXXXX";
    ASSERT_NE(mkdtemp(root.data()), nullptr);
    const auto write = [&](const fs::path& path, const std::string& text) {
      fs::create_directories(path.parent_path());
      std::ofstream(path) << text << '\n';
    };
    write(fs::path(root) / "proc/self/cgroup", c.own);
    for (const auto& [name, text] : c.files) write(fs::path(root) / "sys/fs/cgroup" / name, text);
    EXPECT_EQ(memory_left_in_control_groups(root), c.memory);
    EXPECT_EQ(processors_of_control_groups(root), c.processors);
    fs::remove_all(root);
  }
}

}  // namespace
}  // namespace warpchat
