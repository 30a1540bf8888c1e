// AMX int8 with AVX-512: Intel servers since 2023.
#define WARPCHAT_KERNELS amx_kernels
#define WARPCHAT_TILES "engine/cpu/kernels/tiles.h"
#include "engine/cpu/kernels/amx.h"
