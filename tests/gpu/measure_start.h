// From a program's start to its first token on a GPU, part by part.
#pragma once
#include <string>

namespace warpchat {

// device: a name as for --device; the process must not have started its driver. start: "first" or "second", the name of
// the rows. At the first start, the driver's compute cache is cold.
void measure_start(const std::string& device, const std::string& shape, const std::string& start);

}  // namespace warpchat
