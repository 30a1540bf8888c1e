// Kernels of one kind of pass, each with its profile row. They are compiled on demand, those of the layers together and
// the logits kernel separately.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/gpu/kernel_set.h"
#include "engine/gpu/kernel_texts.h"
#include "engine/profile.h"
#include "kernels/kernel_list.h"

namespace warpchat {

struct GpuStep {
  const LoadedKernel* kernel = nullptr;
  uint32_t operation = 0;  // profile row
};

// A matrix product, possibly with one launch per column.
struct ProductStep {
  GpuStep step;
  ProductSpec spec;
  uint32_t columns_at_once() const;                // maximum per launch
  bool takes_columns() const;                      // its last argument is the number of columns
  ptx::Dimensions blocks(uint32_t columns) const;  // per launch
  uint64_t bytes(uint32_t columns) const;          // moved by a launch
};

// Products of one input, fused into one launch.
struct FusedStep {
  GpuStep step;
  FusedProducts spec;
};
using FusedSteps = std::vector<FusedStep>;
inline bool is_fused_into(const FusedStep& all, const ProductSpec& product) { return is_fused_into(all.spec, product); }

using LayerSteps = LayerProducts<ProductStep>;
struct ExpertSteps {  // for a layer of experts
  ProductStep router, shared_gate_up, shared_down, shared_expert_gate;
  GpuStep route, order, gate_up, down, sum;  // order: if the specs contain it
};

class PassKernels {
 public:
  // Compiles nothing. profile, texts: must outlive this.
  PassKernels(ContextPointer context, DecoderSpecs specs, Profile& profile, KernelTexts& texts);

  // Start compiling on other threads, unless started already. UnsupportedModel.
  void prepare();
  void prepare_logits();
  bool is_ready() const;  // all compilations started so far are done

  // All steps but the logits; waits for compilation. DriverError if the driver refuses a kernel; a later call compiles
  // again.
  struct Steps {
    GpuStep embedding, attention;
    GpuStep f16_activations, int_activations;  // if the specs contain them
    std::vector<GpuStep> kv_scatters;       // one per spec
    std::vector<LayerSteps> layers;
    std::vector<ExpertSteps> experts;
    std::vector<DeltaMatrices<ProductStep>> deltas;
    std::vector<FusedSteps> fused_layers, fused_deltas;           // fused products of each layer's first input
    GpuStep conv;                                                 // for hybrids
    GpuStep delta;                                                // for hybrids' decode passes
    GpuStep delta_prepare, delta_scan, delta_finish;              // for hybrids' prefill passes
  };
  const Steps& steps();
  const ProductStep& logits();  // same for the logits

  const DecoderSpecs& specs() const { return specs_; }

 private:
  std::vector<ptx::Kernel> generate(const std::function<bool(const std::string&)>& is_wanted) const;
  GpuStep step(const KernelSet& kernels, const std::string& name);

  ContextPointer context_;
  DecoderSpecs specs_;
  Profile& profile_;
  KernelTexts& texts_;
  std::set<std::string> layer_names_;  // kernel names; may include the logits kernel
  std::optional<KernelSet> layer_kernels_, logits_kernel_;
  std::optional<Steps> steps_;
  std::optional<ProductStep> logits_;
};

}  // namespace warpchat
