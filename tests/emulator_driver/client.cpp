// A program that knows libcuda.so.1 by name alone: it opens the library, looks its functions up, and runs one job.
//   client uninitialised        calls before cuInit
//   client init                 cuInit, then the device's name and number of processors
//   client fork                 cuInit, then calls in a forked child
//   client launch KERNEL N      runs KERNEL of the text on stdin over N threads with a buffer of N words, prints its
//   sum
// Prints one line per fact and the names of results, ends with 0 if it could ask at all.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "ptx/driver_types.h"

namespace {
using namespace ptx::cuda;

template <class Function>
Function* look_up(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "client: no %s\n", name);
    std::exit(3);
  }
  return reinterpret_cast<Function*>(found);
}

struct Api {
  explicit Api(void* l) : library(l) {}
  template <class... Arguments>
  CUresult operator()(const char* name, Arguments... arguments) {
    return look_up<CUresult(Arguments...)>(library, name)(arguments...);
  }
  // Calls and prints the result; ends the program if it fails.
  template <class... Arguments>
  void need(const char* name, Arguments... arguments) {
    const CUresult result = (*this)(name, arguments...);
    if (result == CUDA_SUCCESS) return;
    std::printf("%s: %s\n", name, name_of(result));
    std::exit(0);
  }
  const char* name_of(CUresult result) {
    const char* name = "?";
    (*this)("cuGetErrorName", result, &name);
    return name;
  }
  void* library;
};

void ask_too_early(Api& api) {
  int count = 0;
  CUdeviceptr p = 0;
  CUcontext context = nullptr;
  std::printf("cuDeviceGetCount: %s\n", api.name_of(api("cuDeviceGetCount", &count)));
  std::printf("cuCtxCreate: %s\n", api.name_of(api("cuCtxCreate_v2", &context, 0u, CUdevice{0})));
  std::printf("cuMemAlloc: %s\n", api.name_of(api("cuMemAlloc_v2", &p, size_t{4})));
  std::printf("cuDriverGetVersion: %s\n", api.name_of(api("cuDriverGetVersion", &count)));
}

void describe(Api& api) {
  api.need("cuInit", 0u);
  char name[64] = {};
  int processors = 0;
  api.need("cuDeviceGetName", name, int{sizeof name}, CUdevice{0});
  api.need("cuDeviceGetAttribute", &processors, CUdevice_attribute{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
           CUdevice{0});
  std::printf("%s with %d processors\n", name, processors);
}

void call_in_child(Api& api) {
  CUcontext context = nullptr;
  CUdeviceptr p = 0;
  api.need("cuInit", 0u);
  api.need("cuCtxCreate_v2", &context, 0u, CUdevice{0});
  api.need("cuMemAlloc_v2", &p, size_t{4});
  api.need("cuMemsetD32Async", p, 0u, size_t{1}, CUstream{});
  api.need("cuCtxSynchronize");  // the context's thread has started and allocates nothing now
  std::fflush(stdout);
  const pid_t child = fork();
  int count = 0, status = 0;
  std::printf("%s: cuInit %s, cuDeviceGetCount %s, cuCtxSynchronize %s\n", child == 0 ? "child" : "parent",
              api.name_of(api("cuInit", 0u)), api.name_of(api("cuDeviceGetCount", &count)),
              api.name_of(api("cuCtxSynchronize")));
  if (child == 0) {  // without exit handlers: a sanitizer's would wait for locks of the parent's threads
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, &status, 0);
}

void launch(Api& api, const char* kernel, unsigned n) {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), {});
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUdeviceptr p = 0;
  std::vector<uint32_t> words(n, 1);
  api.need("cuInit", 0u);
  api.need("cuCtxCreate_v2", &context, 0u, CUdevice{0});
  api.need("cuModuleLoadData", &module, static_cast<const void*>(text.c_str()));
  api.need("cuModuleGetFunction", &function, module, kernel);
  api.need("cuMemAlloc_v2", &p, sizeof(uint32_t) * n);
  if (std::getenv("CLIENT_LEAVES_MEMORY") == nullptr)
    api.need("cuMemcpyHtoD_v2", p, static_cast<const void*>(words.data()), sizeof(uint32_t) * n);
  void* params[] = {&p, nullptr};
  api.need("cuLaunchKernel", function, 1u, 1u, 1u, n, 1u, 1u, 0u, CUstream{}, static_cast<void**>(params),
           static_cast<void**>(nullptr));
  api.need("cuCtxSynchronize");
  api.need("cuMemcpyDtoH_v2", static_cast<void*>(words.data()), p, sizeof(uint32_t) * n);
  std::printf("sum %u\n", std::accumulate(words.begin(), words.end(), 0u));
}

}  // namespace

int main(int argc, char** argv) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "client: %s\n", dlerror());
    return 2;
  }
  Api api(library);
  const std::string job = argc > 1 ? argv[1] : "";
  if (job == "uninitialised") ask_too_early(api);
  if (job == "init") describe(api);
  if (job == "fork") call_in_child(api);
  if (job == "launch" && argc == 4) launch(api, argv[2], static_cast<unsigned>(std::atoi(argv[3])));
  return dlclose(library);
}
