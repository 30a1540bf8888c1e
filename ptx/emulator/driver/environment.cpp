#include "ptx/emulator/driver/environment.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace ptx::emulator::driver {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
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
  const std::string_view device = variable("CUDA_EMULATOR_DEVICE");
  return device.empty() ? Profile{} : profile_named(device);
}

LaunchOptions options_from_environment() {
  LaunchOptions options;
  options.checks = checks_named(variable("CUDA_EMULATOR_CHECKS"));
  const std::string_view seed = variable("CUDA_EMULATOR_SEED");
  if (seed.empty()) return options;
  options.seed = seed_in(seed);
  options.weak_memory = options.jitter = true;
  return options;
}

bool loads_drain_from_environment() {
  const std::string_view text = variable("CUDA_EMULATOR_LOADS_DRAIN");
  if (text != "" && text != "0" && text != "1")
    throw std::invalid_argument("CUDA_EMULATOR_LOADS_DRAIN is " + std::string(text) + ", expected 0 or 1");
  return text == "1";
}

}  // namespace ptx::emulator::driver
