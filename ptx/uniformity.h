// Which values and which control flow all threads of a block, or of a warp, share. Thread and lane numbers, memory
// that may change and results of atomics differ by thread; parameters, block numbers and constants do not; what is
// computed from shared values is shared; variables assigned where threads have parted differ.
#pragma once
#include <vector>

#include "ptx/flow_graph.h"
#include "ptx/function.h"

namespace ptx {

struct Uniformity {
  std::vector<Sharing> registers;
  std::vector<int> register_cause;  // instruction that made it differ: reads of %tid and the like; -1
  std::vector<Sharing> control;     // of each block: by whom it is entered together
  std::vector<int> control_cause;   // of each block: the branch or return that parted the threads; -1
};
Uniformity find_uniformity(const Body& body, const FlowGraph& graph);

}  // namespace ptx
