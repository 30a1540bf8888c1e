// The AMX products, compiled for any machine with AVX-512.
#define WARPCHAT_KERNELS emulated_amx_kernels
#define WARPCHAT_TILES "tests/engine/emulated_tiles.h"
namespace warpchat {
struct WideKernels;
const WideKernels& emulated_amx_kernels();
}  // namespace warpchat
#include "engine/cpu/kernels/amx.h"
