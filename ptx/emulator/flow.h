// The control flow of decoded code.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/emulator/code.h"

namespace ptx::emulator {

void find_blocks(Code& code);                                        // from instructions and jump tables
std::vector<std::vector<uint32_t>> successors_of(const Code& code);  // by block, in text order
void order_blocks(Code& code, const std::vector<std::vector<uint32_t>>& successors);  // BasicBlock::order
void find_forks(Code& code, const std::vector<std::vector<uint32_t>>& successors);    // requires spellings

}  // namespace ptx::emulator
