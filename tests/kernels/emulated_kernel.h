// Runs a kernel of the builder in the emulator: every check on by default, poison around every buffer. With
// WARPCHAT_TEST_DEVICE it runs on that device through its driver instead, whatever options are given.
//   GuardedDevice device(sm_75);
//   float* y = device.poisoned<float>(rows);
//   EXPECT_EQ(device.run(gemv(spec, sm_75), device.upload(weights), device.upload(x), y), "");
//   expect_close(device.download(y, rows), reference, 1e-3);
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ptx/emulator/emulator.h"
#include "ptx/kernel.h"
#include "tests/kernels/driver_gpu.h"

namespace warpchat {

inline constexpr ptx::emulator::LaunchOptions kAllChecks{.checks = {true, true, true, true, true, true}};

// All checks, late stores, and approximations and schedules that vary with `seed` (> 0).
inline ptx::emulator::LaunchOptions shaken(uint64_t seed) {
  ptx::emulator::LaunchOptions options = kAllChecks;
  options.seed = seed;
  options.weak_memory = options.jitter = true;
  return options;
}

// Like shaken, without varied approximations: for results that must be equal to the bit.
inline ptx::emulator::LaunchOptions reordered(uint64_t seed) {
  ptx::emulator::LaunchOptions options = shaken(seed);
  options.jitter = false;
  return options;
}

class GuardedDevice {
 public:
  explicit GuardedDevice(ptx::Target target) : memory_(uint64_t{8} << 30) {
    profile_.target = static_cast<uint32_t>(target.sm);
    profile_.shared_bytes_per_block_optin = ptx::limits(target).shared_bytes;
  }

  // A buffer with these values, which a kernel may change.
  template <class T>
  T* upload(const std::vector<T>& values) {
    T* p = allocate<T>(values.size());
    std::copy(values.begin(), values.end(), p);
    mark_initialised(p, values.size() * sizeof(T));
    return p;
  }
  // A buffer of NaNs that counts as never written.
  template <class T>
  T* poisoned(size_t n) {
    return allocate<T>(n);
  }
  template <class T>
  T* zeros(size_t n) {
    return upload(std::vector<T>(n));
  }
  template <class T>
  std::vector<T> download(const T* p, size_t n) const {
    return std::vector<T>(p, p + n);
  }

  // Arguments in the kernel's parameter order: pointers, or numbers of the parameter's size. Returns "" or what went
  // wrong: a fault first, then overwritten poison.
  template <class... A>
  std::string run(const ptx::Kernel& kernel, A... arguments) {
    return run_as(kAllChecks, kernel, kernel.launch.blocks, arguments...);
  }
  template <class... A>
  std::string run_as(ptx::emulator::LaunchOptions options, const ptx::Kernel& kernel, ptx::Dimensions grid,
                     A... arguments) {
    std::vector<uint8_t> bytes;
    (append(bytes, arguments), ...);
    if (sizeof...(A) != kernel.parameters.size() || bytes.size() != kernel.parameter_bytes) {
      return kernel.name + " takes " + std::to_string(kernel.parameters.size()) + " parameters in " +
             std::to_string(kernel.parameter_bytes) + " bytes, given " + std::to_string(sizeof...(A)) + " in " +
             std::to_string(bytes.size());
    }
    return launch(kernel, grid, std::move(bytes), options);
  }

  // Like run_as, for a list of pointers followed by 32-bit numbers.
  std::string run_listed(ptx::emulator::LaunchOptions options, const ptx::Kernel& kernel,
                         const std::vector<uint64_t>& pointers, const std::vector<uint32_t>& numbers) {
    std::vector<uint8_t> bytes;
    for (uint64_t pointer : pointers) append(bytes, pointer);
    for (uint32_t number : numbers) append(bytes, number);
    if (bytes.size() != kernel.parameter_bytes) return kernel.name + " takes other parameters";
    return launch(kernel, kernel.launch.blocks, std::move(bytes), options);
  }

  // Like run_as, for the values of all parameters, which are addresses or 32-bit numbers.
  std::string run_values(ptx::emulator::LaunchOptions options, const ptx::Kernel& kernel, ptx::Dimensions grid,
                         const std::vector<uint64_t>& values) {
    std::vector<uint8_t> bytes(kernel.parameter_bytes);
    for (size_t i = 0; i < values.size(); ++i)
      std::memcpy(bytes.data() + kernel.parameters.at(i).offset, &values[i],
                  static_cast<size_t>(ptx::info(kernel.parameters[i].type).bytes) == 4 && !kernel.parameters[i].pointer
                      ? 4
                      : 8);
    return launch(kernel, grid, std::move(bytes), options);
  }

  // Counters of the last run with options.count.
  const ptx::emulator::Counters& counters() const { return counters_; }
  // True on the emulator's machine, which alone has counters, checks and seeds.
  bool is_emulated() const { return gpu_ == nullptr; }
  void mark_initialised(const void* p, size_t n_bytes) {
    if (is_emulated()) memory_.mark_initialised(reinterpret_cast<uint64_t>(p), n_bytes);
  }
  // A buffer as the device returns it, without poison in it or around it.
  uint8_t* plain(size_t n_bytes) {
    void* p = is_emulated() ? reinterpret_cast<void*>(memory_.allocate(n_bytes)) : gpu_->allocate(n_bytes);
    if (p == nullptr) throw std::bad_alloc();
    return static_cast<uint8_t*>(p);
  }

 private:
  static constexpr size_t kZoneBytes = 4096;
  static constexpr uint8_t kPoison = 0xff;  // NaN in every float format

  uint8_t* raw(size_t n_bytes) {
    uint8_t* p = plain(std::max<size_t>(n_bytes, 1));
    std::memset(p, kPoison, n_bytes);
    return p;
  }
  template <class T>
  T* allocate(size_t n) {
    zones_.push_back(raw(kZoneBytes));
    T* p = reinterpret_cast<T*>(raw(n * sizeof(T)));
    zones_.push_back(raw(kZoneBytes));
    return p;
  }

  template <class A>
  static void append(std::vector<uint8_t>& bytes, A argument) {
    bytes.resize((bytes.size() + sizeof argument - 1) / sizeof argument * sizeof argument);
    const auto* p = reinterpret_cast<const uint8_t*>(&argument);
    bytes.insert(bytes.end(), p, p + sizeof argument);
  }

  std::string launch(const ptx::Kernel& kernel, ptx::Dimensions grid, std::vector<uint8_t> bytes,
                     const ptx::emulator::LaunchOptions& options) {
    std::string fault =
        is_emulated() ? emulate(kernel, grid, std::move(bytes), options) : gpu_->launch(kernel, grid, bytes);
    if (!fault.empty()) return fault;
    for (const uint8_t* zone : zones_) {
      const uint8_t* end = zone + kZoneBytes;
      const uint8_t* changed = std::find_if(zone, end, [](uint8_t byte) { return byte != kPoison; });
      if (changed != end) return kernel.name + " wrote to the poison beside a buffer";
    }
    return "";
  }

  std::string emulate(const ptx::Kernel& kernel, ptx::Dimensions grid, std::vector<uint8_t> bytes,
                      ptx::emulator::LaunchOptions options) {
    using namespace ptx::emulator;
    options.cooperative = kernel.launch.cooperative;
    const ptx::Dimensions& block = kernel.launch.threads;
    try {
      const ptx::emulator::Module module(kernel.text, profile_, memory_);
      Launch launch({module.find_function(kernel.name),
                     {grid.x, grid.y, grid.z},
                     {block.x, block.y, block.z},
                     kernel.dynamic_shared_bytes,
                     std::move(bytes),
                     options},
                    module, profile_, memory_);
      if (launch.run() != LaunchState::kDone) return launch.fault().message();
      counters_ = launch.counters();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  std::unique_ptr<DriverGpu> gpu_ = DriverGpu::if_asked_for();
  ptx::emulator::Profile profile_;
  ptx::emulator::Memory memory_;
  std::vector<const uint8_t*> zones_;
  ptx::emulator::Counters counters_;
};

// |got - reference| / |reference|; NaN if anything is NaN.
inline double relative_error(std::span<const float> got, std::span<const double> reference) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < reference.size(); ++i) {
    error += (got[i] - reference[i]) * (got[i] - reference[i]);
    norm += reference[i] * reference[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

// Expects the error to be at most `tolerance` of the norm of the reference (absolute where that is 0).
inline void expect_close(std::span<const float> got, std::span<const double> reference, double tolerance) {
  ASSERT_EQ(got.size(), reference.size());
  const double error = relative_error(got, reference);
  if (error <= tolerance) return;
  size_t worst = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    const double here = std::abs(got[i] - reference[i]);
    if (!(here <= std::abs(got[worst] - reference[worst]))) worst = i;
  }
  std::string beside;
  for (size_t i = worst < 2 ? 0 : worst - 2; i < std::min(worst + 3, got.size()); ++i) {
    beside += " [" + std::to_string(i) + "] " + std::to_string(got[i]) + " for " + std::to_string(reference[i]);
  }
  ADD_FAILURE() << "error " << error << " of the norm, allowed " << tolerance << "; worst at " << worst << " of "
                << got.size() << ":" << beside;
}

}  // namespace warpchat
