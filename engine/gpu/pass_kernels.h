// The kernels of one kind of pass, each with its row in the profile: compiled when they are asked for, those of the
// layers together, that of the logits by itself.
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
  uint32_t operation = 0;  // of the profile
};

// A matrix product, which may take a launch for each column.
struct ProductStep {
  GpuStep step;
  ProductSpec spec;
  uint32_t columns_at_once() const;                // most of a launch
  bool takes_columns() const;                      // as its last argument
  ptx::Dimensions blocks(uint32_t columns) const;  // of a launch
  uint64_t bytes(uint32_t columns) const;          // that a launch moves
};

// Products of one input in one launch.
struct TogetherStep {
  GpuStep step;
  ProductsTogether spec;
};
using TogetherSteps = std::vector<TogetherStep>;
inline bool is_part_of(const TogetherStep& all, const ProductSpec& product) { return is_part_of(all.spec, product); }

using LayerSteps = LayerProducts<ProductStep>;
struct ExpertSteps {  // of a layer of experts
  ProductStep router, shared_gate_up, shared_down, shared_switch;
  GpuStep route, order, gate_up, down, sum;  // order: where the specs have it
};

class PassKernels {
 public:
  // Compiles nothing. profile, texts: outlive this.
  PassKernels(ContextPointer context, DecoderSpecs specs, Profile& profile, KernelTexts& texts);

  // Begin to compile, on threads of their own, unless it has begun. UnsupportedModel.
  void prepare();
  void prepare_logits();
  bool is_ready() const;  // all that has begun to compile is compiled

  // The steps of all but the logits, once they are compiled. DriverError if the driver refuses them; asked for again,
  // they are compiled again.
  struct Steps {
    GpuStep embedding, attention;
    GpuStep half_columns, integer_columns;  // where the specs have them
    std::vector<GpuStep> kv_scatters;       // as the specs have them
    std::vector<LayerSteps> layers;
    std::vector<ExpertSteps> experts;
    std::vector<DeltaMatrices<ProductStep>> deltas;
    std::vector<TogetherSteps> layers_together, deltas_together;  // of the first input of each
    GpuStep conv;                                                 // of hybrids
    GpuStep delta;                                                // of their tokens
    GpuStep delta_prepare, delta_scan, delta_finish;              // of their prompts
  };
  const Steps& steps();
  const ProductStep& logits();  // likewise

  const DecoderSpecs& specs() const { return specs_; }

 private:
  std::vector<ptx::Kernel> generate(const std::function<bool(const std::string&)>& is_wanted) const;
  GpuStep step(const KernelSet& kernels, const std::string& name);

  ContextPointer context_;
  DecoderSpecs specs_;
  Profile& profile_;
  KernelTexts& texts_;
  std::set<std::string> layer_names_;  // of kernels; the logits' may be among them
  std::optional<KernelSet> layer_kernels_, logits_kernel_;
  std::optional<Steps> steps_;
  std::optional<ProductStep> logits_;
};

}  // namespace warpchat
