// Grids of the IQ2 and IQ3 formats. An entry contains the magnitudes of a group, the first in the lowest bits. IQ2:
// eight of two bits each, for 8, 25, 43. IQ3: four of four bits each, for eight magnitudes.
#pragma once
#include <cstdint>

namespace warpchat {

extern const uint16_t kIQ2XXSGrid[256], kIQ2XSGrid[512], kIQ2SGrid[1024];
extern const uint16_t kIQ3XXSGrid[256], kIQ3SGrid[512];

}  // namespace warpchat
