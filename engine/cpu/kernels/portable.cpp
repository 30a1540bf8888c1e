// Any architecture: uses SSE2 on x86-64 and NEON on AArch64, which need no flags.
#define WARPCHAT_KERNELS portable_kernels
#define WARPCHAT_KERNELS_NAME "portable"
#define WARPCHAT_KERNELS_SHOWN "portable"
#include "engine/cpu/kernels/table.h"
