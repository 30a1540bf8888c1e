// Refuses weights that would turn every logit into NaN.
#pragma once
#include <cstddef>
#include <functional>
#include <span>

#include "models/gguf_reader.h"

namespace warpchat {

// Throws Error naming file and tensor if the scale of one of the tensor's blocks, or a weight of F32, F16 or BF16, is
// not finite.
void check_scales(const TensorInfo& tensor, std::span<const std::byte> blocks);

// The same of every tensor that `concerns` holds of, or of all. Reads each once, on all cores.
void check_scales(const GgufFile& file, const std::function<bool(const TensorInfo&)>& concerns = {});

}  // namespace warpchat
