// Finds values and control flow that all threads of a block, or of a warp, share. Thread and lane indices, mutable
// memory and atomics' results differ by thread; parameters, block indices and constants do not. Results of shared
// values are shared; variables assigned in divergent code are not.
#pragma once
#include <vector>

#include "ptx/flow_graph.h"
#include "ptx/function.h"

namespace ptx {

struct Uniformity {
  std::vector<Sharing> registers;
  std::vector<int> register_cause;  // instruction that made it differ, such as a read of %tid; -1
  std::vector<Sharing> control;     // per block: which threads enter it together
  std::vector<int> control_cause;   // per block: the branch or return that caused divergence; -1
};
Uniformity find_uniformity(const Body& body, const FlowGraph& graph);

}  // namespace ptx
