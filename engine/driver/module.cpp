// Compiling through the driver, and launching.
#include "engine/driver/module.h"

#include <cassert>

namespace warpchat {

using namespace ptx::cuda;

namespace {

CUmodule compile(const Context& context, const std::string& text) {
  std::string log(8192, '\0');
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult code =
      context.table().cuModuleLoadDataEx(&module, text.c_str(), options.size(), options.data(), values.data());
  if (code != CUDA_SUCCESS) {
    log.resize(log.find('\0'));
    context.check(code, "cuModuleLoadDataEx", "compiling the kernels" + (log.empty() ? "" : " (" + log + ")"));
  }
  return module;
}

}  // namespace

Module::Module(ContextPointer context, std::vector<ptx::Kernel> kernels) : context_(std::move(context)) {
  module_ = compile(*context_, ptx::module_text(kernels));
  const DriverTable& table = context_->table();
  for (ptx::Kernel& kernel : kernels) {
    kernels_.push_back(std::unique_ptr<LoadedKernel>(new LoadedKernel(std::move(kernel))));
    LoadedKernel& loaded = *kernels_.back();
    const std::string& name = loaded.kernel_.name;
    context_->check(table.cuModuleGetFunction(&loaded.function_, module_, name.c_str()), "cuModuleGetFunction", name);
    if (loaded.kernel_.static_shared_bytes + loaded.kernel_.dynamic_shared_bytes <= ptx::kMaxStaticSharedBytes)
      continue;
    context_->check(table.cuFuncSetAttribute(loaded.function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(loaded.kernel_.dynamic_shared_bytes)),
                    "cuFuncSetAttribute", name);
  }
}

Module::~Module() {
  if (module_ != nullptr) context_->table().cuModuleUnload(module_);
}

void LoadedKernel::launch(const Stream& stream, std::span<const Argument> arguments, ptx::Dimensions blocks) const {
  constexpr size_t kMostParameters = 24;
  assert(arguments.size() == kernel_.parameters.size() && arguments.size() <= kMostParameters);
  std::array<uint64_t, kMostParameters> values;
  std::array<void*, kMostParameters> pointers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    assert(arguments[i].is_address == kernel_.parameters[i].pointer);
    values[i] = arguments[i].bits;  // little-endian: a 32-bit parameter takes the lower half
    pointers[i] = &values[i];
  }
  const DriverTable& table = stream.context()->table();
  const ptx::Dimensions& threads = kernel_.launch.threads;
  const CUresult code =
      kernel_.launch.cooperative
          ? table.cuLaunchCooperativeKernel(function_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                                            kernel_.dynamic_shared_bytes, stream.handle(), pointers.data())
          : table.cuLaunchKernel(function_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                                 kernel_.dynamic_shared_bytes, stream.handle(), pointers.data(), nullptr);
  check(table, code, kernel_.launch.cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel", kernel_.name);
}

}  // namespace warpchat
