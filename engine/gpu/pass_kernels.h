// The kernels of one kind of pass, ready to launch, each with its row in the profile.
#pragma once
#include <vector>

#include "engine/gpu/kernel_set.h"
#include "engine/gpu/kernel_texts.h"
#include "engine/profile.h"
#include "kernels/kernel_list.h"

namespace warpchat {

struct GpuStep {
  const LoadedKernel* kernel;
  uint32_t operation;  // of the profile
};

// A matrix product, which may take several launches.
struct ProductStep {
  GpuStep step;
  ProductSpec spec;
  uint32_t columns_at_once() const;                // most of a launch
  bool takes_columns() const;                      // as its last argument
  ptx::Dimensions blocks(uint32_t columns) const;  // of a launch
  uint64_t bytes(uint32_t columns) const;          // that a launch moves
};

struct LayerSteps {
  ProductStep q, k, v, output, gate_up, down;
};

// decoder_kernels, with an Error that names the way out for a model that they cannot compute.
std::vector<ptx::Kernel> generate_kernels(const DecoderSpecs& specs, ptx::Target target);

struct PassKernels {
  // Compiles them. kernels: the specs'. DriverError if the driver refuses them.
  PassKernels(ContextPointer context, DecoderSpecs specs, std::vector<ptx::Kernel> kernels, Profile& profile,
              KernelTexts& texts);

  DecoderSpecs specs;
  KernelSet kernels;
  GpuStep embedding, kv_scatter, attention;
  std::vector<LayerSteps> layers;
  ProductStep logits;
};

}  // namespace warpchat
