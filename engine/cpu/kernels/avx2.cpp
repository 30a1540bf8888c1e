#define WARPCHAT_KERNELS avx2_kernels
#define WARPCHAT_KERNELS_NAME "avx2"
#define WARPCHAT_KERNELS_SHOWN "AVX2"
#include "engine/cpu/kernels/table.h"
