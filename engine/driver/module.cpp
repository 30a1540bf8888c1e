// Compiling through the driver, and launching.
#include "engine/driver/module.h"

#include <cassert>

namespace warpchat {

using namespace ptx::cuda;

namespace {

// The options under which the driver's compiler leaves its complaints.
struct ErrorLog {
  std::string text = std::string(8192, '\0');
  std::array<CUjit_option, 2> options{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values{text.data(), reinterpret_cast<void*>(text.size())};
};

void check_compiled(const Context& context, CUresult code, std::string_view call, const ErrorLog& log) {
  if (code == CUDA_SUCCESS) return;
  const std::string said = log.text.c_str();
  context.check(code, call, "compiling the kernels" + (said.empty() ? "" : " (" + said + ")"));
}

CUmodule compile(const Context& context, const std::string& text) {
  ErrorLog log;
  CUmodule module = nullptr;
  const CUresult code = context.table().cuModuleLoadDataEx(&module, text.c_str(), log.options.size(),
                                                           log.options.data(), log.values.data());
  check_compiled(context, code, "cuModuleLoadDataEx", log);
  return module;
}

// Compiles without loading: the machine code for the context's device.
std::vector<char> compile_to_image(const Context& context, std::string text) {
  const DriverTable& table = context.table();
  ErrorLog log;
  CUlinkState created = nullptr;
  check_compiled(context, table.cuLinkCreate(log.options.size(), log.options.data(), log.values.data(), &created),
                 "cuLinkCreate", log);
  const std::unique_ptr<CUlinkState_st, decltype(table.cuLinkDestroy)> link(created, table.cuLinkDestroy);
  check_compiled(
      context,
      table.cuLinkAddData(link.get(), CU_JIT_INPUT_PTX, text.data(), text.size() + 1, "kernels", 0, nullptr, nullptr),
      "cuLinkAddData", log);
  void* image = nullptr;
  size_t n_bytes = 0;
  check_compiled(context, table.cuLinkComplete(link.get(), &image, &n_bytes), "cuLinkComplete", log);
  const char* bytes = static_cast<const char*>(image);
  return {bytes, bytes + n_bytes};
}

// Null where the driver does not take the image for what its name says.
CUmodule load_cached(const Context& context, const std::vector<char>& image) {
  CUmodule module = nullptr;
  const CUresult code = context.table().cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr);
  for (const CUresult unfit : {CUDA_ERROR_INVALID_IMAGE, CUDA_ERROR_NO_BINARY_FOR_GPU, CUDA_ERROR_INVALID_SOURCE,
                               CUDA_ERROR_INVALID_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION})
    if (code == unfit) return nullptr;
  context.check(code, "cuModuleLoadDataEx", "loading the kernels");
  return module;
}

CUmodule find_or_compile(const Context& context, const std::string& text, const ModuleCache& cache) {
  if (!cache.is_on()) return compile(context, text);
  const GpuDevice& device = context.device();
  int version = 0;
  context.check(context.table().cuDriverGetVersion(&version), "cuDriverGetVersion", "compiling the kernels");
  const ModuleKey key =
      module_key(text, static_cast<uint32_t>(10 * device.major + device.minor), version, device.is_emulated);
  if (const std::optional<std::vector<char>> cached = cache.find(key))
    if (CUmodule module = load_cached(context, *cached)) return module;
  const std::vector<char> image = compile_to_image(context, text);
  cache.store(key, image);
  CUmodule module = nullptr;
  context.check(context.table().cuModuleLoadDataEx(&module, image.data(), 0, nullptr, nullptr), "cuModuleLoadDataEx",
                "loading the kernels");
  return module;
}

}  // namespace

// The delegate holds the module, which is unloaded whatever fails from then on.
Module::Module(ContextPointer context, std::vector<ptx::Kernel> kernels, const ModuleCache& cache)
    : Module(context, find_or_compile(*context, ptx::module_text(kernels), cache)) {
  const DriverTable& table = context_->table();
  for (ptx::Kernel& kernel : kernels) {
    kernels_.push_back(std::unique_ptr<LoadedKernel>(new LoadedKernel(std::move(kernel))));
    LoadedKernel& loaded = *kernels_.back();
    const std::string& name = loaded.kernel_->name;
    context_->check(table.cuModuleGetFunction(&loaded.function_, module_, name.c_str()), "cuModuleGetFunction", name);
    if (loaded.kernel_->static_shared_bytes + loaded.kernel_->dynamic_shared_bytes <= ptx::kMaxStaticSharedBytes)
      continue;
    context_->check(table.cuFuncSetAttribute(loaded.function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                             static_cast<int>(loaded.kernel_->dynamic_shared_bytes)),
                    "cuFuncSetAttribute", name);
  }
}

Module::~Module() { context_->table().cuModuleUnload(module_); }

uint32_t LoadedKernel::resident_blocks(const Context& context) const {
  int per_sm = 0;
  context.check(
      context.table().cuOccupancyMaxActiveBlocksPerMultiprocessor(
          &per_sm, function_, static_cast<int>(kernel_->launch.threads.total()), kernel_->dynamic_shared_bytes),
      "cuOccupancyMaxActiveBlocksPerMultiprocessor", kernel_->name);
  return static_cast<uint32_t>(per_sm) * context.device().n_sms;
}

void LoadedKernel::launch(const Stream& stream, std::span<const Argument> arguments, ptx::Dimensions blocks) const {
  constexpr size_t kMostParameters = 24;
  assert(arguments.size() == kernel_->parameters.size() && arguments.size() <= kMostParameters);
  std::array<uint64_t, kMostParameters> values;
  std::array<void*, kMostParameters> pointers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    [[maybe_unused]] const ptx::Parameter& parameter = kernel_->parameters[i];
    assert(arguments[i].is_address == (parameter.pointer || parameter.type == ptx::Type::kU64));  // as one: may be null
    values[i] = arguments[i].bits;  // little-endian: a 32-bit parameter takes the lower half
    pointers[i] = &values[i];
  }
  const DriverTable& table = stream.context()->table();
  const ptx::Dimensions& threads = kernel_->launch.threads;
  const CUresult code =
      kernel_->launch.cooperative
          ? table.cuLaunchCooperativeKernel(function_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                                            kernel_->dynamic_shared_bytes, stream.handle(), pointers.data())
          : table.cuLaunchKernel(function_, blocks.x, blocks.y, blocks.z, threads.x, threads.y, threads.z,
                                 kernel_->dynamic_shared_bytes, stream.handle(), pointers.data(), nullptr);
  check(table, code, kernel_->launch.cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel", kernel_->name);
}

}  // namespace warpchat
