// Asked of the processor once, by features rather than by name.
#include "engine/cpu/simd_level.h"

#include "models/error.h"

namespace warpchat {

std::vector<const CpuKernels*> usable_kernels() {
  std::vector<const CpuKernels*> usable;
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
    usable.push_back(&avx512_kernels());
  if (avx2 && __builtin_cpu_supports("avxvnni")) usable.push_back(&avxvnni_kernels());
  if (avx2) usable.push_back(&avx2_kernels());
#endif
  usable.push_back(&portable_kernels());
  return usable;
}

const CpuKernels& choose_kernels(const std::string& name) {
  const std::vector<const CpuKernels*> usable = usable_kernels();
  if (name.empty()) return *usable.front();
  std::string names;
  for (const CpuKernels* kernels : usable) {
    if (kernels->name == name) return *kernels;
    names += names.empty() ? "" : ", ";
    names += kernels->name;
  }
  throw Error("this machine has no instruction set '" + name + "' (WARPCHAT_SIMD); it has: " + names);
}

}  // namespace warpchat
