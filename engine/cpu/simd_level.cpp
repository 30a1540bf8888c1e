// Asked of the processor once, by features rather than by name.
#include "engine/cpu/simd_level.h"

#include "models/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace warpchat {
namespace {

#if defined(__x86_64__)

// Two features that not every compiler's __builtin_cpu_supports knows by name.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1) != 0;
}
bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}

#endif

}  // namespace

std::vector<const CpuKernels*> usable_kernels() {
  std::vector<const CpuKernels*> usable;
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni"))
    usable.push_back(&avx512_kernels());
  if (avx2 && has_avxvnni()) usable.push_back(&avxvnni_kernels());
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
