// AVX-512 with byte dot products: servers since 2019, AMD since Zen 4.
#define WARPCHAT_KERNELS avx512_kernels
#define WARPCHAT_KERNELS_NAME "avx512"
#define WARPCHAT_KERNELS_SHOWN "AVX-512 VNNI"
#include "engine/cpu/kernels/table.h"
