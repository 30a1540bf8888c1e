#include "ptx/emulator/driver/emulator_counters.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace ptx::emulator::driver {
namespace {

std::atomic<bool> counts = false;
std::mutex mutex;
std::vector<KernelCounters>& kept() {
  static std::vector<KernelCounters> list;
  return list;
}

}  // namespace

void count_launches(bool on) { counts = on; }
bool launches_are_counted() { return counts; }

std::vector<KernelCounters> take_counters() {
  std::lock_guard lock(mutex);
  return std::exchange(kept(), {});
}

void keep_counters(const std::string& kernel, const Counters& counters) {
  std::lock_guard lock(mutex);
  auto row = std::ranges::find(kept(), kernel, &KernelCounters::kernel);
  if (row == kept().end()) row = kept().insert(row, KernelCounters{kernel, 0, {}});
  ++row->launches;
  row->counters.add(counters);
}

}  // namespace ptx::emulator::driver
