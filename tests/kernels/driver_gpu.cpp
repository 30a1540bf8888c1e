#include "tests/kernels/driver_gpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "tests/support/test_device.h"

namespace warpchat {
namespace {

// Of the process: never unloaded, as the driver may be gone before.
const LoadedKernel& compiled(const ContextPointer& context, const ptx::Kernel& kernel) {
  using Key = std::tuple<std::string, uint64_t, uint32_t, bool>;  // all that a launch takes from the kernel
  static auto& modules = *new std::map<Key, std::unique_ptr<Module>>;
  std::unique_ptr<Module>& module =
      modules[{kernel.text, kernel.launch.threads.total(), kernel.dynamic_shared_bytes, kernel.launch.cooperative}];
  if (!module) module = std::make_unique<Module>(context, std::vector{kernel});
  return module->kernel(0);
}

}  // namespace

std::unique_ptr<DriverGpu> DriverGpu::if_asked_for() {
  if (std::getenv("WARPCHAT_TEST_DEVICE") == nullptr || !kept_test_device().has_table()) return nullptr;
  return std::unique_ptr<DriverGpu>(new DriverGpu(kept_test_device().context));
}

void* DriverGpu::allocate(uint64_t n_bytes) {
  if (slabs_.empty() || n_bytes > slabs_.back().bytes().size() - used_) {
    slabs_.emplace_back(context_, std::max(n_bytes, kSlabBytes), "a test");
    used_ = 0;
  }
  void* place = slabs_.back().bytes().data() + used_;
  used_ += std::min((n_bytes + kAlignment - 1) / kAlignment * kAlignment, slabs_.back().bytes().size() - used_);
  return place;
}

std::string DriverGpu::launch(const ptx::Kernel& kernel, ptx::Dimensions grid, const std::vector<uint8_t>& parameters) {
  try {
    context_->make_current();  // on this thread, which may be a test's own
    std::vector<Argument> arguments;
    for (const ptx::Parameter& parameter : kernel.parameters) {
      Argument argument;
      argument.is_address = parameter.pointer || parameter.type == ptx::Type::kU64;  // as one: may be null
      const size_t n_bytes = parameter.pointer ? 8 : static_cast<size_t>(ptx::bytes_of(parameter.type));
      std::memcpy(&argument.bits, parameters.data() + parameter.offset, n_bytes);
      arguments.push_back(argument);
    }
    compiled(context_, kernel).launch(stream_, arguments, grid);
    stream_.wait();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace warpchat
