// The AVX-VNNI kernels for machines that have their one instruction only as part of AVX-512.
#define WARPCHAT_DPBUSD "vpdpbusd"
#define WARPCHAT_KERNELS avxvnni_as_avx512_kernels
#define WARPCHAT_KERNELS_NAME "avxvnni_as_avx512"
#define WARPCHAT_KERNELS_SHOWN "AVX-VNNI, as AVX-512"
namespace warpchat {
struct CpuKernels;
const CpuKernels& avxvnni_as_avx512_kernels();
}  // namespace warpchat
#include "engine/cpu/kernels/table.h"
