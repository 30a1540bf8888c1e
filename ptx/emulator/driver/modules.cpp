// Modules and libraries from PTX text; here they are the same. Writes the logs that JIT options request.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "ptx/emulator/driver/driver.h"

namespace ptx::emulator::driver {

namespace {

CUresult load(Driver& d, Context& context, const char* image, const JitOptions& options, Module** out) {
  if (std::strlen(image) < 4) return CUDA_ERROR_INVALID_IMAGE;
  const Image read = read_image(image);
  if (read.inputs.empty()) {
    options.error.refuse("the emulator runs PTX text; this image is machine code for a GPU");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  auto module = std::make_unique<Module>();
  try {
    module->loaded = d.device->load(read.inputs);
  } catch (const InvalidPtx& problem) {
    options.error.refuse(problem.log);
    return problem.unsupported_version ? CUDA_ERROR_UNSUPPORTED_PTX_VERSION : CUDA_ERROR_INVALID_PTX;
  }
  options.info.write("");
  options.error.write("");
  module->context = &context;
  for (const LoadedFunction* loaded : module->loaded->functions()) {
    auto function = std::make_unique<Function>();
    function->module = module.get();
    function->loaded = loaded;
    function->n_registers = std::min({loaded->traits().n_registers, options.max_registers, read.max_registers});
    module->functions.push_back(std::move(function));
  }
  *out = d.modules.add(std::move(module));
  return CUDA_SUCCESS;
}

CUresult load_image(void** out, const void* image, unsigned count, const CUjit_option* options, void** values) {
  return in_drained_context([&](Driver& d, Context& context, auto&) -> CUresult {
    if (out == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (count > 0 && (options == nullptr || values == nullptr)) return CUDA_ERROR_INVALID_VALUE;
    Module* module = nullptr;
    const CUresult result = load(d, context, static_cast<const char*>(image), {count, options, values}, &module);
    if (result == CUDA_SUCCESS) *out = module;
    return result;
  });
}

CUresult load_file(void** out, const char* path, unsigned count, const CUjit_option* options, void** values) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return load_image(out, text.c_str(), count, options, values);
}

template <class Body>
auto of_module(const void* handle, Body body) {
  return [handle, body](Driver& d, Context&, std::unique_lock<std::mutex>& lock) -> CUresult {
    Module* module = d.modules.find(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return body(d, *module, lock);
  };
}

template <class Body>
CUresult with_module(const void* handle, Body body) {
  return in_context(of_module(handle, body));
}

// A lazily loading driver loads a function's code here.
CUresult get_function(void** out, const void* handle, const char* name) {
  return in_drained_context(of_module(handle, [&](Driver&, Module& module, auto&) -> CUresult {
    if (out == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& function : module.functions)
      if (function->loaded->traits().name == name) {
        *out = function.get();
        return CUDA_SUCCESS;
      }
    return CUDA_ERROR_NOT_FOUND;
  }));
}

CUresult get_global(CUdeviceptr* address, size_t* bytes, const void* handle, const char* name) {
  return with_module(handle, [&](Driver&, Module& module, auto&) -> CUresult {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (const auto& variable : module.loaded->globals())
      if (variable.name == name) {
        if (address != nullptr) *address = variable.address;
        if (bytes != nullptr) *bytes = variable.bytes;
        return CUDA_SUCCESS;
      }
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult count_functions(unsigned* count, const void* handle) {
  return with_module(handle, [&](Driver&, Module& module, auto&) -> CUresult {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(module.functions.size());
    return CUDA_SUCCESS;
  });
}

template <class Handle>
CUresult enumerate(Handle* out, unsigned count, const void* handle) {
  return with_module(handle, [&](Driver&, Module& module, auto&) -> CUresult {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < module.functions.size() && i < count; ++i)
      out[i] = reinterpret_cast<Handle>(module.functions[i].get());
    return CUDA_SUCCESS;
  });
}

CUresult unload(const void* handle) {
  return in_drained_context(of_module(handle, [&](Driver& d, Module& module, auto& lock) -> CUresult {
    const CUresult result = synchronise(d, lock, *module.context);
    d.modules.extract(handle);
    return result;
  }));
}

void* out_of(auto* handle) { return static_cast<void*>(handle); }

}  // namespace
}  // namespace ptx::emulator::driver

namespace ptx::cuda {
using namespace ptx::emulator::driver;
extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return load_image(static_cast<void**>(out_of(module)), image, 0, nullptr, nullptr);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned count, CUjit_option* options, void** values) {
  return load_image(static_cast<void**>(out_of(module)), image, count, options, values);
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) { return cuModuleLoadData(module, image); }

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_file(static_cast<void**>(out_of(module)), path, 0, nullptr, nullptr);
}

CUresult cuModuleUnload(CUmodule module) { return unload(module); }

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *mode = 1;  // eager
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return get_function(static_cast<void**>(out_of(function)), module, name);
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule module) { return count_functions(count, module); }

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule module) {
  return enumerate(functions, count, module);
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module, const char* name) {
  return get_global(address, bytes, module, name);
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* options, void** values, unsigned count,
                           CUlibraryOption*, void**, unsigned) {
  return load_image(static_cast<void**>(out_of(library)), code, count, options, values);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options, void** values,
                               unsigned count, CUlibraryOption*, void**, unsigned) {
  return load_file(static_cast<void**>(out_of(library)), path, count, options, values);
}

CUresult cuLibraryUnload(CUlibrary library) { return unload(library); }

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return get_function(static_cast<void**>(out_of(kernel)), library, name);
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary library) { return count_functions(count, library); }

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return enumerate(kernels, count, library);
}

CUresult cuLibraryGetModule(CUmodule* module, CUlibrary library) {
  return with_module(library, [&](Driver&, Module& found, auto&) -> CUresult {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = reinterpret_cast<CUmodule>(&found);
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library, const char* name) {
  return get_global(address, bytes, library, name);
}

}  // extern "C"
}  // namespace ptx::cuda
