// NEON with dot products of bytes: most AArch64 processors since 2018, all of Armv8.4.
#define WARPCHAT_KERNELS neon_dot_kernels
#define WARPCHAT_KERNELS_NAME "neon_dot"
#define WARPCHAT_KERNELS_SHOWN "NEON DotProd"
#include "engine/cpu/kernels/table.h"
