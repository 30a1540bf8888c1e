// Kernel bodies of decoding, without their parameters. A body takes a spec, the addresses that the kernel's header
// documents as parameters, and the block to compute. A single-operation kernel calls its body once; the persistent
// decoder plays many blocks with the same bodies. Each family's *_body.h has its body, and its kernel with the body
// given.
#pragma once
#include <functional>
#include <optional>

#include "kernels/common/virtual_block.h"

namespace warpchat {

// Emits a kernel's work: the body itself, or a call of a device function that contains it.
template <class Addresses>
using BodyOf = std::function<void(ptx::Builder& b, const Addresses& at, const VirtualBlock& block)>;

// Number of columns in this launch, if the spec allows several.
using ColumnCount = std::optional<ptx::Reg<ptx::u32>>;

}  // namespace warpchat
