#include "engine/cpu/cores.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "engine/cpu/control_groups.h"
#include "models/number_in.h"

namespace warpchat {
namespace {

constexpr uint32_t kSlowFactor = 2;  // a slow core's capacity is at most 1 / kSlowFactor of the largest

std::string first_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Parses "0-3,8,10-11"; empty for anything else.
std::set<uint32_t> numbers_in_list(std::string_view list) {
  std::set<uint32_t> numbers;
  while (!list.empty()) {
    const std::string_view part = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), part.size() + 1));
    const size_t dash = part.find('-');
    const std::optional<uint32_t> first = number_in<uint32_t>(part.substr(0, dash)),
                                  last = dash == part.npos ? first : number_in<uint32_t>(part.substr(dash + 1));
    if (!first || !last || *last >= CPU_SETSIZE) return {};
    for (uint32_t cpu = *first; cpu <= *last; ++cpu) numbers.insert(cpu);
  }
  return numbers;
}

std::filesystem::path folder_of(const std::filesystem::path& devices, uint32_t cpu) {
  return devices / "system/cpu" / ("cpu" + std::to_string(cpu));
}

// Intel exposes core types as event-counting devices, ARM a capacity of up to 1,024 per core.
std::vector<uint32_t> fast_of(std::span<const uint32_t> cpus, const std::filesystem::path& devices) {
  std::vector<uint32_t> fast;
  if (const std::set<uint32_t> performance = numbers_in_list(first_line(devices / "cpu_core/cpus"));
      !performance.empty()) {
    std::ranges::copy_if(cpus, std::back_inserter(fast), [&](uint32_t cpu) { return performance.contains(cpu); });
    return fast;
  }
  std::vector<uint32_t> capacities;
  for (const uint32_t cpu : cpus) {
    const std::optional<uint32_t> capacity = number_in<uint32_t>(first_line(folder_of(devices, cpu) / "cpu_capacity"));
    if (!capacity) return {};
    capacities.push_back(*capacity);
  }
  for (size_t i = 0; i < cpus.size(); ++i)
    if (uint64_t{capacities[i]} * kSlowFactor > *std::ranges::max_element(capacities)) fast.push_back(cpus[i]);
  return fast;
}

std::vector<uint32_t> usable_cpus() {
  std::vector<uint32_t> cpus;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (uint32_t cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  return cpus;
}

// Threads beyond a quota of processor time only wait: the system stops all of them once it is used up.
uint32_t within_quota(uint32_t n) {
  const double quota = processors_of_control_groups();
  return quota < n ? std::max(1u, static_cast<uint32_t>(quota)) : n;
}

}  // namespace

FastCores fast_cores(std::span<const uint32_t> usable_cpus, const std::filesystem::path& devices) {
  FastCores found;
  found.cpus = fast_of(usable_cpus, devices);  // empty if the process may use slow ones only
  if (found.cpus.size() == usable_cpus.size()) found.cpus.clear();
  std::set<std::string> cores;  // identified by the list of their hyper-threads
  const std::span<const uint32_t> counted = found.cpus.empty() ? usable_cpus : std::span<const uint32_t>(found.cpus);
  for (const uint32_t cpu : counted) {
    const std::string siblings = first_line(folder_of(devices, cpu) / "topology/thread_siblings_list");
    cores.insert(siblings.empty() ? std::to_string(cpu) : siblings);
  }
  found.n = std::max<uint32_t>(1, static_cast<uint32_t>(cores.size()));
  return found;
}

const FastCores& fast_cores() {
  static const FastCores cores = [] {
    const std::vector<uint32_t> usable = usable_cpus();
    if (usable.empty()) return FastCores{n_usable_cpus(), {}};
    FastCores found = fast_cores(usable, "/sys/devices");
    found.n = within_quota(found.n);
    return found;
  }();
  return cores;
}

uint32_t n_usable_cpus() {
  const size_t n = usable_cpus().size();
  return within_quota(n > 0 ? static_cast<uint32_t>(n) : std::max(1u, std::thread::hardware_concurrency()));
}

void stay_on(std::span<const uint32_t> cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const uint32_t cpu : cpus) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

}  // namespace warpchat
