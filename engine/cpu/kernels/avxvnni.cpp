// AVX2 with byte dot products: Intel processors since 2021 that have no AVX-512.
#define WARPCHAT_KERNELS avxvnni_kernels
#define WARPCHAT_KERNELS_NAME "avxvnni"
#define WARPCHAT_KERNELS_SHOWN "AVX-VNNI"
#include "engine/cpu/kernels/table.h"
