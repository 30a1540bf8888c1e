// Compilation through the driver, and launches.
#include "engine/driver/module.h"

#include "models/text_format.h"

namespace warpchat {

using namespace ptx::cuda;

namespace {

// Uses the driver's compiler, which caches machine code on disk (compute cache).
CUmodule compile(const Context& context, const std::string& text) {
  std::string log(8192, '\0');  // the compiler's messages
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  CUmodule module = nullptr;
  const CUresult code =
      context.load_call()->cuModuleLoadDataEx(&module, text.c_str(), options.size(), options.data(), values.data());
  if (code == CUDA_SUCCESS) return module;
  const std::string said = log.c_str();
  context.check(code, "cuModuleLoadDataEx", "compiling the kernels" + (said.empty() ? "" : " (" + said + ")"));
  return nullptr;
}

constexpr size_t kMaxParameters = 48;

void check_arguments(const ptx::Kernel& kernel, std::span<const Argument> arguments) {
  const std::vector<ptx::Parameter>& parameters = kernel.parameters;
  if (arguments.size() != parameters.size() || arguments.size() > kMaxParameters)
    throw_broken_bound("launching " + kernel.name + ": " + counted(arguments.size(), "argument") + " for " +
                       counted(parameters.size(), "parameter") + ", at most " + std::to_string(kMaxParameters));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool takes_address = parameters[i].pointer || parameters[i].type == ptx::Type::kU64;  // may be null
    if (arguments[i].is_address != takes_address)
      throw_broken_bound("launching " + kernel.name + ": parameter " + parameters[i].name + " is " +
                         (takes_address ? "an address" : "a number") + ", the argument is not");
  }
}

}  // namespace

// Delegates, so that the destructor unloads the module if the rest of the constructor throws.
Module::Module(ContextPointer context, std::vector<ptx::Kernel> kernels)
    : Module(context, compile(*context, ptx::module_text(kernels))) {
  for (ptx::Kernel& kernel : kernels) {
    kernels_.push_back(std::unique_ptr<LoadedKernel>(new LoadedKernel(std::move(kernel))));
    LoadedKernel& loaded = *kernels_.back();
    const std::string& name = loaded.kernel_->name;
    context_->check(context_->load_call()->cuModuleGetFunction(&loaded.function_, module_, name.c_str()),
                    "cuModuleGetFunction", name);
    if (loaded.kernel_->static_shared_bytes + loaded.kernel_->dynamic_shared_bytes <= ptx::kMaxStaticSharedBytes)
      continue;
    context_->check(
        context_->call()->cuFuncSetAttribute(loaded.function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(loaded.kernel_->dynamic_shared_bytes)),
        "cuFuncSetAttribute", name);
  }
}

Module::~Module() { context_->release(DeviceBound::kLoad, &DriverTable::cuModuleUnload, module_); }

uint32_t LoadedKernel::resident_blocks(const Context& context) const {
  int per_sm = 0;
  context.check(
      context.call()->cuOccupancyMaxActiveBlocksPerMultiprocessor(
          &per_sm, function_, static_cast<int>(kernel_->launch.threads.total()), kernel_->dynamic_shared_bytes),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor", kernel_->name);
  return static_cast<uint32_t>(per_sm) * context.device().n_sms;
}

void LoadedKernel::launch(const Stream& stream, std::span<const Argument> arguments, ptx::Dimensions blocks) const {
  check_arguments(*kernel_, arguments);
  std::array<uint64_t, kMaxParameters> values;
  std::array<void*, kMaxParameters> pointers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    values[i] = arguments[i].bits;  // little-endian: a 32-bit parameter reads the lower half
    pointers[i] = &values[i];
  }
  const Context& context = *stream.context();
  const DriverCall call = context.call();
  const ptx::Dimensions& threads = kernel_->launch.threads;
  const CUresult code =
      kernel_->launch.cooperative
          ? call->cuLaunchCooperativeKernel(function_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                                            kernel_->dynamic_shared_bytes, stream.handle(), pointers.data())
          : call->cuLaunchKernel(function_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                                 kernel_->dynamic_shared_bytes, stream.handle(), pointers.data(), nullptr);
  context.check(code, kernel_->launch.cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel", kernel_->name);
}

}  // namespace warpchat
