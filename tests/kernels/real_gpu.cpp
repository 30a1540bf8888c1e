#include "tests/kernels/real_gpu.h"

#include <cstdlib>
#include <cstring>

#include "engine/driver/device_choice.h"

namespace warpchat {

std::unique_ptr<RealGpu> RealGpu::if_asked_for() {
  const char* name = std::getenv("WARPCHAT_TEST_DEVICE");
  if (name == nullptr || !std::string(name).starts_with("cuda")) return nullptr;
  const DeviceChoice choice = choose_device(name);
  return std::unique_ptr<RealGpu>(new RealGpu(Context::open(*choice.table, choice.gpu)));
}

void* RealGpu::allocate(uint64_t n_bytes) {
  buffers_.emplace_back(context_, n_bytes, "a test");
  return buffers_.back().bytes().data();
}

std::string RealGpu::launch(const ptx::Kernel& kernel, ptx::Dimensions grid, const std::vector<uint8_t>& parameters) {
  try {
    context_->make_current();  // on this thread, which may be a test's own
    const Module module(context_, {kernel});
    std::vector<Argument> arguments;
    for (const ptx::Parameter& parameter : kernel.parameters) {
      Argument argument;
      argument.is_address = parameter.pointer;
      const size_t n_bytes = parameter.pointer ? 8 : static_cast<size_t>(ptx::bytes_of(parameter.type));
      std::memcpy(&argument.bits, parameters.data() + parameter.offset, n_bytes);
      arguments.push_back(argument);
    }
    module.kernel(0).launch(stream_, arguments, grid);
    stream_.wait();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace warpchat
