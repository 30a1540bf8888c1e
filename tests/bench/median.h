#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace warpchat {

inline double median(std::vector<double> values) {  // the upper one of two; values must not be empty
  std::ranges::nth_element(values, values.begin() + static_cast<ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

}  // namespace warpchat
