// Refuses weights that would turn every logit into NaN.
#pragma once
#include "models/gguf_reader.h"

namespace warpchat {

// Throws Error naming file and tensor if a block's scale, or a weight of F32, F16 or BF16, is not finite. Reads every
// tensor once, on all cores.
void check_scales(const GgufFile& file);

}  // namespace warpchat
