// Rejects weights that would turn every logit into NaN.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "models/gguf_reader.h"

namespace warpchat {

// Throws Error with file and tensor if a block's scale, or a weight of F32, F16 or BF16, is not finite.
void check_scales(const TensorInfo& tensor, std::span<const std::byte> blocks);

// Checks all tensors, or those for which `concerns` is true. Reads each once, on all cores.
void check_scales(const GgufFile& file, const std::function<bool(const TensorInfo&)>& concerns = {});

}  // namespace warpchat
