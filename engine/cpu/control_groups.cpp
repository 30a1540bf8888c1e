// /proc/self/cgroup names the process's group in each hierarchy. Within a container that path may be the host's, so
// folders that are not there are passed over; the mounted folder itself is then the container's group.
#include "engine/cpu/control_groups.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "engine/cpu/status_field.h"
#include "models/number_in.h"

namespace warpchat {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kNoLimit = UINT64_MAX;
constexpr uint64_t kAsGoodAsNone = uint64_t{1} << 60;  // version 1 has a number for "no limit"

// A whole number at a word's place in a file; kNoLimit for "max", for -1, and if there is none.
uint64_t read_number(const fs::path& path, size_t word = 0) {
  std::ifstream file(path);
  std::string text;
  for (size_t i = 0; i <= word; ++i)
    if (!(file >> text)) return kNoLimit;
  const uint64_t value = number_in<uint64_t>(text).value_or(kNoLimit);
  return value >= kAsGoodAsNone ? kNoLimit : value;
}

bool has_word(const std::string& list, const std::string& word) {  // in "cpu,cpuacct"
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

// The folders of this process's group and of those around it, in the hierarchy mounted at one of these places.
// controller: of version 1; empty: version 2.
std::vector<fs::path> groups(const fs::path& root, const std::string& controller,
                             const std::vector<std::string>& mounts) {
  fs::path own;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // "4:cpu,cpuacct:/path", "0::/path"
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? controllers.empty() : has_word(controllers, controller))
      own = fs::path(line.substr(second + 1)).relative_path();
  }
  std::vector<fs::path> found;
  std::error_code error;
  for (const std::string& mount : mounts) {
    const fs::path top = root / "sys/fs/cgroup" / mount;
    if (!fs::is_directory(top, error)) continue;
    found.push_back(top);
    for (fs::path group = own; !group.empty(); group = group.parent_path())
      if (fs::is_directory(top / group, error)) found.push_back(top / group);
  }
  return found;
}

std::vector<fs::path> unified_groups(const fs::path& root) { return groups(root, "", {"", "unified"}); }

// cached: memory that the system takes back when it is needed.
uint64_t left(uint64_t limit, uint64_t used, uint64_t cached) {
  if (limit == kNoLimit || used == kNoLimit) return kNoLimit;
  const uint64_t held = used - std::min(used, cached);
  return limit - std::min(limit, held);
}

double processors(uint64_t quota, uint64_t period) {
  if (quota == kNoLimit || period == kNoLimit || period == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(quota) / static_cast<double>(period);
}

}  // namespace

uint64_t memory_left_in_control_groups(const fs::path& root) {
  uint64_t least = kNoLimit;
  for (const fs::path& group : unified_groups(root))
    least = std::min(least, left(read_number(group / "memory.max"), read_number(group / "memory.current"),
                                 read_field(group / "memory.stat", "file ").value_or(0)));
  for (const fs::path& group : groups(root, "memory", {"memory"}))
    least =
        std::min(least, left(read_number(group / "memory.limit_in_bytes"), read_number(group / "memory.usage_in_bytes"),
                             read_field(group / "memory.stat", "total_cache ").value_or(0)));
  return least;
}

double processors_of_control_groups(const fs::path& root) {
  double least = std::numeric_limits<double>::infinity();
  for (const fs::path& group : unified_groups(root))
    least = std::min(least, processors(read_number(group / "cpu.max"), read_number(group / "cpu.max", 1)));
  for (const fs::path& group : groups(root, "cpu", {"cpu", "cpu,cpuacct"}))
    least =
        std::min(least, processors(read_number(group / "cpu.cfs_quota_us"), read_number(group / "cpu.cfs_period_us")));
  return least;
}

}  // namespace warpchat
