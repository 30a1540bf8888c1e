// What passes between a program's start and its first token on a GPU, part by part.
#pragma once
#include <string>

namespace warpchat {

// device: as --device names it, of a process that has not started its driver yet. start: "first", "second", what the
// rows are called: the driver's cache of compiled kernels is cold at the first.
void measure_start(const std::string& device, const std::string& shape, const std::string& start);

}  // namespace warpchat
