// Asks the CPU, the NVIDIA driver and the emulator who they are.
#include "app/devices.h"

#include <fstream>

#include "app/model_loading.h"
#include "engine/cpu/simd_level.h"
#include "engine/cpu/thread_pool.h"
#include "engine/driver/device_choice.h"

namespace warpchat {

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name"))
      if (const size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return "processor";
}

namespace {

std::string line(const std::string& name, const std::string& what) {
  return name + std::string(name.size() < 10 ? 10 - name.size() : 1, ' ') + what + "\n";
}

std::string gpu_lines() {
  try {
    std::string lines;
    for (const GpuDevice& gpu : list_gpus(libcuda_table()))
      lines += line("cuda:" + std::to_string(gpu.index), gpu.name + ", " + human_bytes(gpu.memory_bytes) + ", sm_" +
                                                             std::to_string(gpu.major * 10 + gpu.minor) + ", " +
                                                             std::to_string(gpu.n_sms) + " processors");
    return lines;
  } catch (const Error& error) {
    return line("cuda", std::string("not usable: ") + error.what());
  }
}

}  // namespace

std::string device_list() {
  const uint32_t cores = physical_cores();
  return line("cpu", processor_name() + ", " + std::to_string(cores) + (cores == 1 ? " core, " : " cores, ") +
                         usable_kernels().front()->shown) +
         gpu_lines() + line("emulator", "a GPU on the CPU: checks the kernels, and is slow; emulator:sm_90 names one");
}

void require_known_device(const std::string& name) {
  if (!is_device_name(name))
    throw UsageError("unknown device '" + name +
                     "'; use cpu, cuda, cuda:N or emulator[:sm_XX]; --list-devices lists them");
}

}  // namespace warpchat
