// A token's kernel bodies as device functions. The separate kernels and the persistent decoder call the same ones, so a
// module with both contains each once. A function takes VirtualBlock's arguments, then the addresses that its call()
// takes, in order.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/attention/attention_body.h"
#include "kernels/common/body_function.h"
#include "kernels/delta_net/delta_net_body.h"
#include "kernels/experts/experts_body.h"
#include "kernels/launch_list.h"
#include "kernels/matmul/embedding_body.h"
#include "kernels/matmul/gemv_body.h"
#include "kernels/persistent/grid_barrier.h"
#include "kernels/persistent/product_variants.h"
#include "kernels/persistent/stamps.h"

namespace warpchat {

class EmbeddingFunction : public BodyFunction {
 public:
  EmbeddingFunction(const EmbeddingSpec& spec, ptx::Target target);  // requires one column, as all specs here
  void call(const VirtualBlock& block, const EmbeddingAddresses& at) const;
};

class AttentionFunction : public BodyFunction {
 public:
  AttentionFunction(const AttentionSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const AttentionAddresses& at) const;
};

class ConvFunction : public BodyFunction {
 public:
  ConvFunction(const DeltaNetSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const ConvAddresses& at) const;
};

class DeltaFunction : public BodyFunction {
 public:
  DeltaFunction(const DeltaNetSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const DeltaAddresses& at) const;
};

class RouteFunction : public BodyFunction {
 public:
  RouteFunction(const RouteSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const RouteAddresses& at) const;
};

class ExpertSumFunction : public BodyFunction {
 public:
  ExpertSumFunction(const ExpertSumSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const ExpertSumAddresses& at) const;
};

struct ProductForm {
  bool takes_rows = false;   // the addresses include rows, which may be fewer than the variant's
  bool loads_ahead = false;  // see load_ahead()
  bool starts_phases =
      false;                // with loads_ahead: passes the grid barrier itself, between its first loads and its input
  bool has_stamps = false;  // with starts_phases: records the phase's beginning
};

// What such a function needs for it.
struct PhaseStart {
  bool waits;  // the block has arrived at a barrier that it has not passed
  GridBarrier::Words barrier;
  ptx::CallOperand phase;  // its index
  const StampAddresses* stamps;
};

// One function for several products that differ in weights and, with takes_rows, in rows.
class ProductFunction : public BodyFunction {
 public:
  // name: of the products; variants: as in ProductVariants.
  ProductFunction(const std::string& name, std::vector<GemvSpec> variants, ProductForm form, ptx::Target target);
  const std::vector<GemvSpec>& variants() const { return variants_; }
  uint32_t warps() const;  // per block
  bool starts_phases() const { return form_.starts_phases; }
  // which: index of the variant. Addresses that no variant uses and the product lacks may be missing. start: if the
  // function starts phases.
  void call(const VirtualBlock& block, const ptx::CallOperand& which, const GemvAddresses& at,
            const PhaseStart* start = nullptr) const;

 private:
  bool any(bool (*has)(GemvEpilogue)) const;  // of the variants' epilogues
  ptx::FunctionPointer write(const std::string& name, ptx::Target target) const;
  BeforeInput phase_start(ptx::Builder& b, const VirtualBlock& block) const;
  std::vector<GemvSpec> variants_;
  ProductForm form_;
};

// Everything that a token computes before sampling, for a list of PassKind::kDecode.
struct TokenFunctions {
  // form: of the products; takes_rows is decided here. loads_ahead is for kernels with one block per multiprocessor,
  // and products of experts start no phase.
  TokenFunctions(const LaunchList& list, ProductForm form, ptx::Target target);
  ptx::Kernel kernel(const KernelLaunch& launch,
                     ptx::Target target) const;  // a launch's kernel, which calls its function
  const ProductFunction& of(const KernelLaunch& launch) const {
    return products[static_cast<size_t>(group_of(launch))];
  }

  EmbeddingFunction embed;
  AttentionFunction attend;
  std::vector<ProductFunction> products;  // by ProductGroup
  std::optional<ConvFunction> conv;       // with delta-net layers
  std::optional<DeltaFunction> delta;
  std::optional<RouteFunction> route;  // with layers of experts
  std::optional<ExpertSumFunction> sum;
};

// Every kernel of the list that `is_wanted` by name, once; a token's kernels call these functions.
std::vector<ptx::Kernel> kernels_of(const LaunchList& list, ptx::Target target,
                                    const std::function<bool(const std::string&)>& is_wanted = {});

}  // namespace warpchat
