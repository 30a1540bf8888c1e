#define WARPCHAT_KERNELS portable_kernels
#define WARPCHAT_KERNELS_NAME "portable"
#define WARPCHAT_KERNELS_SHOWN "portable"
#include "engine/cpu/kernels/table.h"
