// AVX2, FMA and F16C: every x86-64 processor since about 2013 (Intel) and 2015 (AMD).
#define WARPCHAT_KERNELS avx2_kernels
#define WARPCHAT_KERNELS_NAME "avx2"
#define WARPCHAT_KERNELS_SHOWN "AVX2"
#include "engine/cpu/kernels/table.h"
