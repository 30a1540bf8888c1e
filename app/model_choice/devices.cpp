// Asks the CPU, the NVIDIA driver and the emulator for their devices.
#include "app/model_choice/devices.h"

#include <fstream>

#include "app/model_choice/model_loading.h"
#include "engine/cpu/cores.h"
#include "engine/cpu/simd_level.h"
#include "engine/driver/device_choice.h"
#include "engine/driver/emulator_library.h"

namespace warpchat {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "processor";
}

namespace {

DeviceLine line_of(const GpuDevice& gpu) {
  const std::string name = "cuda:" + std::to_string(gpu.index);
  try {
    const std::string target = "sm_" + std::to_string(gpu.target().sm);
    return {name,
            gpu.name + ", " + human_bytes(gpu.memory_bytes) + ", " + target + ", " + std::to_string(gpu.n_sms) +
                " processors",
            true};
  } catch (const Error& error) {
    return {name, std::string("not usable: ") + error.what(), false};
  }
}

void add_gpus(std::vector<DeviceLine>& lines) {
  try {
    for (const GpuDevice& gpu : list_gpus(libcuda_table())) lines.push_back(line_of(gpu));
  } catch (const Error& error) {
    lines.push_back({"cuda", std::string("not usable: ") + error.what(), false});
  }
}

}  // namespace

std::vector<DeviceLine> list_devices() {
  const uint32_t cores = fast_cores().n;
  std::vector<DeviceLine> lines{{"cpu",
                                 processor_name() + ", " + std::to_string(cores) +
                                     (cores == 1 ? " core, " : " cores, ") + usable_kernels().front()->shown,
                                 true}};
  add_gpus(lines);
  const std::string missing = why_no_emulator();
  lines.push_back({"emulator",
                   missing.empty()
                       ? "an emulated GPU on the CPU: slow, checks the kernels; emulator:sm_90 chooses an architecture"
                       : "not usable: " + missing,
                   missing.empty()});
  return lines;
}

std::string device_list() {
  std::string list;
  for (const DeviceLine& line : list_devices()) list += line.name + "\t" + line.text + "\n";
  return list;
}

}  // namespace warpchat
