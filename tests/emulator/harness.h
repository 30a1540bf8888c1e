// Runs kernels in the emulator for tests: device buffers from vectors, parameters by value, faults as text.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "ptx/emulator/emulator.h"

namespace ptx::emulator {

class Device {
 public:
  explicit Device(Profile p = {}) : profile(p), memory(1ull << 32) {}

  template <class T>
  T* upload(const std::vector<T>& values) {
    T* p = reinterpret_cast<T*>(memory.allocate(values.size() * sizeof(T)));
    std::memcpy(p, values.data(), values.size() * sizeof(T));
    memory.mark_initialised(reinterpret_cast<uint64_t>(p), values.size() * sizeof(T));
    return p;
  }
  template <class T>
  T* zeros(size_t count) {
    return upload(std::vector<T>(count));
  }
  template <class T>
  std::vector<T> download(const T* p, size_t count) const {
    return std::vector<T>(p, p + count);
  }

  Profile profile;
  Memory memory;
};

// Packs parameters in order, each at its natural alignment.
template <class... T>
std::vector<uint8_t> pack_parameters(T... values) {
  std::vector<uint8_t> bytes;
  const auto add = [&](auto value) {
    bytes.resize((bytes.size() + sizeof value - 1) / sizeof value * sizeof value);
    const uint8_t* p = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), p, p + sizeof value);
  };
  (add(values), ...);
  return bytes;
}

// Returns "" or the fault's message. `threads` host threads run the blocks.
inline std::string run(Device& device, const Module& module, const char* kernel, Dim3 grid, Dim3 block,
                       std::vector<uint8_t> parameters, uint32_t shared = 0, LaunchOptions options = {},
                       uint32_t threads = 1) {
  const Code* code = module.find_function(kernel);
  if (!code) return std::string("no kernel ") + kernel;
  Launch launch({code, grid, block, shared, std::move(parameters), options}, module, device.profile, device.memory);
  return launch.run(threads) == LaunchState::kDone ? "" : launch.fault().message();
}

}  // namespace ptx::emulator
