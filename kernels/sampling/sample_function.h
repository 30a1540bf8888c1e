#pragma once
#include "kernels/common/body_function.h"
#include "kernels/sampling/sampling.h"

namespace warpchat {

// Called by whole blocks of any size; their y is the column.
class SampleFunction : public BodyFunction {
 public:
  SampleFunction(const SampleSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const SampleBuffers& buffers) const;
};

}  // namespace warpchat
