// The second example of ptx/README.md, word for word: a test compares and runs it.
#pragma once
// clang-format off
#include "ptx/emulator/emulator.h"
namespace emu = ptx::emulator;

// y = w . x by the kernel above, on a machine without a GPU and with every check on.
std::vector<float> run_gemv(const std::vector<float>& w, const std::vector<float>& x) {
  const uint32_t k = x.size(), rows = w.size() / k;
  const Kernel kernel = gemv(rows, k, sm_90);
  emu::Profile device = emu::profile_named("sm_90,sms=4");
  emu::Memory memory(device.memory_bytes);
  emu::Module module(kernel.text, device, memory);  // throws LoadError: every problem with line and column
  const auto buffer = [&](const char* name, size_t n, const float* values) {
    const uint64_t address = memory.allocate(n * sizeof(float), name);  // an address of this process, too
    if (values != nullptr) std::memcpy(reinterpret_cast<void*>(address), values, n * sizeof(float));
    if (values != nullptr) memory.mark_initialised(address, n * sizeof(float));
    return address;
  };
  const uint64_t arguments[] = {buffer("w", w.size(), w.data()), buffer("x", k, x.data()), buffer("y", rows, nullptr)};
  std::vector<uint8_t> packed(sizeof arguments);
  std::memcpy(packed.data(), arguments, sizeof arguments);
  emu::LaunchOptions options{.checks = emu::Checks::all(), .alone = true, .count = true};
  emu::Launch launch({module.find_function(kernel.name), {kernel.launch.blocks.x}, {kernel.launch.threads.x},
                      kernel.dynamic_shared_bytes, packed, options}, module, device, memory);
  if (launch.run() == emu::LaunchState::kFaulted) throw std::runtime_error(launch.fault().message());
  const emu::Counters counted = launch.counters();
  std::printf("%lu instructions, %lu sectors read\n", counted.instructions, counted.loads.sectors);
  const float* y = reinterpret_cast<const float*>(arguments[2]);
  return {y, y + rows};
}
