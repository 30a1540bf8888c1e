// The CPU is the only device of this build.
#include "app/devices.h"

#include <fstream>

#include "app/model_lookup.h"
#include "engine/cpu/simd_level.h"
#include "engine/cpu/thread_pool.h"

namespace warpchat {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "processor";
}

std::string device_list() {
  const uint32_t cores = physical_cores();
  return "cpu  " + processor_name() + ", " + std::to_string(cores) + (cores == 1 ? " core, " : " cores, ") +
         usable_kernels().front()->shown + "\n";
}

void require_known_device(const std::string& name) {
  if (name.empty() || name == "cpu") return;
  if (name == "cuda" || name == "emulator")
    throw Error("--device " + name + " is not available: this build has no GPU path yet; use --device cpu");
  throw UsageError("unknown device '" + name + "'; --list-devices lists them");
}

}  // namespace warpchat
