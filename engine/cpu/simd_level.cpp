// Detects instruction sets once, by CPU features.
#include "engine/cpu/simd_level.h"

#include "models/error.h"
#include "models/text_format.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace warpchat {
namespace {

#if defined(__x86_64__)

// Features that some compilers' __builtin_cpu_supports does not know.
bool has_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c >> 29 & 1) != 0;
}
bool has_avxvnni() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a >> 4 & 1) != 0;
}
// A program must request tile registers from the system (Linux: Documentation/arch/x86/xstate).
bool get_amx() {
#if defined(__linux__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool present = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d >> 24 & 1) != 0 && (d >> 25 & 1) != 0;
  constexpr long kGetPermission = 0x1022, kRequestPermission = 0x1023, kTileData = 18;
  uint64_t permitted = 0;
  return present && syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0 &&
         syscall(SYS_arch_prctl, kGetPermission, &permitted) == 0 && (permitted >> kTileData & 1) != 0;
#else
  return false;
#endif
}

#endif

}  // namespace

CpuKernels with_wide(const CpuKernels& narrow, const WideKernels& wide, const char* name, const char* shown) {
  CpuKernels both = narrow;
  both.name = name;
  both.shown = shown;
  both.wide_columns = wide.columns;
  both.prepare_wide = wide.prepare;
  for (size_t i = 0; i < both.formats.size(); ++i) both.formats[i].multiply_wide = wide.multiply[i];
  return both;
}

std::vector<const CpuKernels*> usable_kernels() {
  std::vector<const CpuKernels*> usable;
#if defined(__x86_64__)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  const bool avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vnni");
  static const bool amx = avx512 && get_amx();
  if (amx) {
    static const CpuKernels kernels = with_wide(avx512_kernels(), amx_kernels(), "amx", "AMX and AVX-512 VNNI");
    usable.push_back(&kernels);
  }
  if (avx512) usable.push_back(&avx512_kernels());
  if (avx2 && has_avxvnni()) usable.push_back(&avxvnni_kernels());
  if (avx2) usable.push_back(&avx2_kernels());
#elif defined(__aarch64__)
  const bool dot = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
  if (dot && (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0) usable.push_back(&neon_i8mm_kernels());
  if (dot) usable.push_back(&neon_dot_kernels());
#endif
  usable.push_back(&portable_kernels());
  return usable;
}

const CpuKernels& choose_kernels(const std::string& name) {
  const std::vector<const CpuKernels*> usable = usable_kernels();
  if (name.empty()) return *usable.front();
  const auto named = std::ranges::find(usable, name, &CpuKernels::name);
  if (named != usable.end()) return **named;
  throw Error("this machine has no instruction set '" + name +
              "' (WARPCHAT_SIMD); it has: " + word_list(usable, ", ", &CpuKernels::name));
}

}  // namespace warpchat
