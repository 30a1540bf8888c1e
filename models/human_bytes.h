// Human-readable sizes.
#pragma once
#include <cstdint>
#include <string>

namespace warpchat {

std::string human_bytes(uint64_t bytes);  // "95 MB", "1.9 GB", powers of ten

}  // namespace warpchat
