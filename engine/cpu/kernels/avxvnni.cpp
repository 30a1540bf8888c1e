#define WARPCHAT_KERNELS avxvnni_kernels
#define WARPCHAT_KERNELS_NAME "avxvnni"
#define WARPCHAT_KERNELS_SHOWN "AVX-VNNI"
#include "engine/cpu/kernels/table.h"
