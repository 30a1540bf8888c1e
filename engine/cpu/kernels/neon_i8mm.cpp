// NEON with products of matrices of bytes: servers since 2020, all of Armv8.6.
#define WARPCHAT_KERNELS neon_i8mm_kernels
#define WARPCHAT_KERNELS_NAME "neon_i8mm"
#define WARPCHAT_KERNELS_SHOWN "NEON I8MM"
#include "engine/cpu/kernels/table.h"
