#include "tests/kernels/driver_gpu.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <tuple>

#include "tests/support/test_device.h"

namespace warpchat {
namespace {

// Kept for the whole process and never unloaded: at exit the driver may be gone already.
const LoadedKernel& compiled(const ContextPointer& context, const ptx::Kernel& kernel) {
  using Key = std::tuple<std::string, uint64_t, uint32_t, bool>;  // everything that a launch reads from the kernel
  static auto& modules = *new std::map<Key, std::unique_ptr<Module>>;
  std::unique_ptr<Module>& module =
      modules[{kernel.text, kernel.launch.threads.total(), kernel.dynamic_shared_bytes, kernel.launch.cooperative}];
  if (!module) module = std::make_unique<Module>(context, std::vector{kernel});
  return module->kernel(0);
}

}  // namespace

std::unique_ptr<DriverGpu> DriverGpu::if_asked_for() {
  if (std::getenv("WARPCHAT_TEST_DEVICE") == nullptr || !kept_test_device().has_table()) return nullptr;
  const char* memory = std::getenv("WARPCHAT_TEST_MEMORY");
  const std::string name = memory != nullptr ? memory : "mapped";
  if (name != "mapped" && name != "device") throw Error("WARPCHAT_TEST_MEMORY is mapped or device, found " + name);
  return std::unique_ptr<DriverGpu>(new DriverGpu(kept_test_device().context, name == "device"));
}

void* DriverGpu::allocate(uint64_t n_bytes) {
  const uint64_t rounded = (n_bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (slabs_.empty() || rounded > slabs_.back().host.bytes().size() - slabs_.back().n_used) {
    const uint64_t size = std::max(rounded, kSlabBytes);
    Slab& slab = slabs_.emplace_back(Slab{HostMemory(context_, size, "a test"), {}});
    if (has_device_memory_) slab.device = DeviceMemory(context_, size, "a test");
  }
  Slab& slab = slabs_.back();
  void* place = slab.host.bytes().data() + slab.n_used;
  slab.n_used += rounded;
  return place;
}

uint64_t DriverGpu::device_address(uint64_t address) const {
  for (const Slab& slab : slabs_) {
    const uint64_t offset = address - reinterpret_cast<uint64_t>(slab.host.bytes().data());
    if (slab.device.n_bytes() > 0 && offset < slab.n_used) return slab.device.address() + offset;
  }
  return address;
}

// A word that holds a buffer's address (as in a page table) becomes its device address. The way back is not translated:
// unless the kernel changed them, the test still has its own words.
void DriverGpu::copy_in() const {
  for (const Slab& slab : slabs_) {
    if (slab.device.n_bytes() == 0) continue;
    std::vector<uint64_t> words(slab.n_used / 8);
    std::memcpy(words.data(), slab.host.bytes().data(), slab.n_used);
    for (uint64_t& word : words) word = device_address(word);
    stream_.upload(slab.device.address(), std::as_bytes(std::span(words)));
    stream_.wait();
  }
}

void DriverGpu::copy_out() const {
  for (const Slab& slab : slabs_) {
    if (slab.device.n_bytes() == 0) continue;
    std::vector<uint64_t> words(slab.n_used / 8);
    stream_.download(std::as_writable_bytes(std::span(words)), slab.device.address());
    stream_.wait();
    auto* host = reinterpret_cast<uint64_t*>(slab.host.bytes().data());
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] != device_address(host[i])) host[i] = words[i];
  }
}

std::string DriverGpu::launch(const ptx::Kernel& kernel, ptx::Dimensions grid, const std::vector<uint8_t>& parameters) {
  try {
    context_->make_current();  // for this thread, which a test may have started
    std::vector<Argument> arguments;
    for (const ptx::Parameter& parameter : kernel.parameters) {
      Argument argument;
      argument.is_address = parameter.pointer || parameter.type == ptx::Type::kU64;  // pass as an address: may be null
      const size_t n_bytes = parameter.pointer ? 8 : static_cast<size_t>(ptx::bytes_of(parameter.type));
      std::memcpy(&argument.bits, parameters.data() + parameter.offset, n_bytes);
      if (argument.is_address) argument.bits = device_address(argument.bits);
      arguments.push_back(argument);
    }
    copy_in();
    compiled(context_, kernel).launch(stream_, arguments, grid);
    stream_.wait();
    copy_out();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace warpchat
