#include "ptx/emulator/driver/environment.h"

#include <charconv>
#include <cstdlib>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ptx::emulator::driver {
namespace {

std::mutex overrides_mutex;
std::map<std::string, std::string>& overrides() {  // by variable, from set_option()
  static std::map<std::string, std::string> values;
  return values;
}

std::string variable(const std::string& name) {
  {
    const std::lock_guard lock(overrides_mutex);
    if (const auto found = overrides().find(name); found != overrides().end()) return found->second;
  }
  const char* value = std::getenv(name.c_str());
  return value ? value : "";
}

uint64_t seed_in(std::string_view text) {
  uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc{} && end == text.data() + text.size() && seed > 0) return seed;
  throw std::invalid_argument("CUDA_EMULATOR_SEED is " + std::string(text) + ", expected a number from 1");
}

}  // namespace

Profile profile_from_environment() {
  const std::string device = variable("CUDA_EMULATOR_DEVICE");
  return device.empty() ? Profile{} : profile_named(device);
}

LaunchOptions options_from_environment() {
  LaunchOptions options;
  options.checks = checks_named(variable("CUDA_EMULATOR_CHECKS"));
  const std::string seed = variable("CUDA_EMULATOR_SEED");
  if (seed.empty()) return options;
  options.seed = seed_in(seed);
  options.weak_memory = options.jitter = true;
  return options;
}

bool loads_drain_from_environment() {
  const std::string text = variable("CUDA_EMULATOR_LOADS_DRAIN");
  if (text != "" && text != "0" && text != "1")
    throw std::invalid_argument("CUDA_EMULATOR_LOADS_DRAIN is " + text + ", expected 0 or 1");
  return text == "1";
}

void set_option(const std::string& name, const std::string& value) {
  if (name != "CHECKS" && name != "SEED" && name != "LOADS_DRAIN")
    throw std::invalid_argument("the emulator has no option " + name + "; it has CHECKS, SEED and LOADS_DRAIN");
  const std::string variable_name = "CUDA_EMULATOR_" + name;
  {
    const std::lock_guard lock(overrides_mutex);
    overrides()[variable_name] = value;
  }
  try {
    options_from_environment();
    loads_drain_from_environment();
  } catch (...) {
    const std::lock_guard lock(overrides_mutex);
    overrides().erase(variable_name);
    throw;
  }
}

}  // namespace ptx::emulator::driver
