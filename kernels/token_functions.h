// The bodies of a token's kernels as device functions: the separate kernels and the persistent decoder call the same
// ones, and the module that holds both has each once.
// A function takes VirtualBlock's arguments and then the addresses that its call() takes, in their order.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "kernels/bodies.h"
#include "kernels/product_variants.h"
#include "kernels/sampling.h"

namespace warpchat {

class BodyFunction {
 public:
  uint32_t shared_bytes() const { return function_->shared_bytes; }  // of a block that plays it

 protected:
  explicit BodyFunction(ptx::FunctionPointer function) : function_(std::move(function)) {}
  ptx::FunctionPointer function_;
};

class EmbeddingFunction : public BodyFunction {
 public:
  EmbeddingFunction(const EmbeddingSpec& spec, ptx::Target target);  // of one column, as all specs here
  void call(const VirtualBlock& block, const EmbeddingAddresses& at) const;
};

class AttentionFunction : public BodyFunction {
 public:
  AttentionFunction(const AttentionSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const AttentionAddresses& at) const;
};

// By whole blocks, of any number of threads, for the column that is their y.
class SampleFunction : public BodyFunction {
 public:
  SampleFunction(const SampleSpec& spec, ptx::Target target);
  void call(const VirtualBlock& block, const SampleBuffers& buffers) const;
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

// One of several products, which differ in weights, and in rows if those of the addresses say so.
class ProductFunction : public BodyFunction {
 public:
  // name: of the products; variants: as ProductVariants has them. takes_rows: the addresses have rows, of which there
  // may be fewer than the variant's.
  ProductFunction(const std::string& name, std::vector<GemvSpec> variants, bool takes_rows, ptx::Target target);
  const std::vector<GemvSpec>& variants() const { return variants_; }
  uint32_t warps() const;  // of a block
  // which: of the variants. Addresses that no variant takes, and that the product has not, may be missing.
  void call(const VirtualBlock& block, const ptx::CallOperand& which, const GemvAddresses& at) const;

 private:
  bool any_has(GemvEpilogue epilogue) const;
  ptx::FunctionPointer write(const std::string& name, ptx::Target target) const;
  std::vector<GemvSpec> variants_;
  bool takes_rows_;
};

// All that a token of these specs, of PassKind::kToken, computes before its choice.
struct TokenFunctions {
  TokenFunctions(const DecoderSpecs& specs, ptx::Target target);
  TokenFunctions(const DecoderSpecs& specs, ProductVariants variants, ptx::Target target);  // those of the specs
  EmbeddingFunction embed;
  AttentionFunction attend;
  ProductFunction normed, output, gate_up, down;
  std::optional<ConvFunction> conv;  // where a layer is a delta net
  std::optional<DeltaFunction> delta;
  std::optional<RouteFunction> route;  // where a layer has experts
  std::optional<ExpertSumFunction> sum;
};

// The kernels of these specs, each once, that call the functions.
std::vector<ptx::Kernel> token_kernels(const DecoderSpecs& specs, const TokenFunctions& functions, ptx::Target target);

}  // namespace warpchat
