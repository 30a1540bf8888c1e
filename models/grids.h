// The grids of the IQ2 and IQ3 formats. An entry is the magnitudes of a group of weights, the first in the lowest bits:
// of IQ2 eight, two bits each, in 8, 25, 43; of IQ3 four, four bits each, of eight magnitudes.
#pragma once
#include <cstdint>

namespace warpchat {

extern const uint16_t kIQ2XXSGrid[256], kIQ2XSGrid[512], kIQ2SGrid[1024];
extern const uint16_t kIQ3XXSGrid[256], kIQ3SGrid[512];

}  // namespace warpchat
