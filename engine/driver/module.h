// Kernels on a device: compilation by the driver, and launches with checked arguments.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/driver/context.h"
#include "ptx/kernel.h"

namespace warpchat {

// A kernel argument: a device address or a number, as 64 bits.
struct Argument {
  Argument() = default;
  Argument(const DeviceMemory& memory) : bits(memory.address()), is_address(true) {}
  Argument(uint32_t value) : bits(value) {}
  static Argument address(uint64_t address) {
    Argument argument;
    argument.bits = address;
    argument.is_address = true;
    return argument;
  }
  uint64_t bits = 0;
  bool is_address = false;
};

class Module;

// A launchable kernel: the generator's description and the driver's handle. Lives as long as its module.
class LoadedKernel {
 public:
  const ptx::Kernel& kernel() const { return *kernel_; }
  std::shared_ptr<const ptx::Kernel> shared() const { return kernel_; }  // outlives the module
  // Uses the generator's launch shape, or fewer blocks where the kernel allows it.
  void launch(const Stream& stream, std::initializer_list<Argument> arguments) const {
    launch(stream, {arguments.begin(), arguments.size()}, kernel_->launch.blocks);
  }
  void launch(const Stream& stream, std::span<const Argument> arguments, ptx::Dimensions blocks) const;
  // Maximum blocks that the device can hold at once, which limits cooperative launches.
  uint32_t resident_blocks(const Context& context) const;

 private:
  friend class Module;
  LoadedKernel(ptx::Kernel kernel) : kernel_(std::make_shared<const ptx::Kernel>(std::move(kernel))) {}
  std::shared_ptr<const ptx::Kernel> kernel_;
  ptx::cuda::CUfunction function_ = nullptr;
};

class Module {
 public:
  // Compiles all kernels as one module; the driver caches the machine code on disk. DriverError with the compiler's log
  // if it refuses the text.
  Module(ContextPointer context, std::vector<ptx::Kernel> kernels);
  Module(const Module&) = delete;
  ~Module();

  const LoadedKernel& kernel(size_t index) const { return *kernels_.at(index); }  // in the given order
  size_t size() const { return kernels_.size(); }

 private:
  Module(ContextPointer context, ptx::cuda::CUmodule module) : context_(std::move(context)), module_(module) {}
  ContextPointer context_;
  ptx::cuda::CUmodule module_;
  std::vector<std::unique_ptr<LoadedKernel>> kernels_;
};

}  // namespace warpchat
