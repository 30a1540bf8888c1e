#include "kernels/kernel_spec.h"

#include <limits>

#include "kernels/common/columns.h"
#include "kernels/common/overloaded.h"
#include "kernels/delta_net/conv_prompt.h"
#include "kernels/delta_net/delta_chunk.h"
#include "kernels/matmul/product.h"

namespace warpchat {

namespace {

struct DeltaKernel {
  std::string (*name)(const DeltaNetSpec&);
  ptx::Kernel (*generate)(const DeltaNetSpec&, ptx::Target);
};
const DeltaKernel& delta_kernel_of(const DeltaKernelSpec& spec) {
  static constexpr DeltaKernel kAll[] = {{name_of_conv, conv_step},          {name_of_step, delta_step},
                                         {name_of_conv_prompt, conv_prompt}, {name_of_prepare, delta_prepare},
                                         {name_of_scan, delta_scan},         {name_of_finish, delta_finish}};
  return kAll[static_cast<size_t>(spec.step)];
}

}  // namespace

std::string name_of(const KernelSpec& spec) {
  return std::visit(Overloaded{[](const DeltaKernelSpec& s) { return delta_kernel_of(s).name(s.net); },
                               []<class S>(const Conversion<S>& s) { return name_of(s.spec); },
                               [](const auto& s) { return name_of(s); }},
                    spec);
}

ptx::Kernel generate(const KernelSpec& spec, ptx::Target target) {
  return std::visit(Overloaded{[&](const EmbeddingSpec& s) { return embedding(s, target); },
                               [&](const F16Conversion& s) { return f16_activations(s.spec, target); },
                               [&](const IntConversion& s) { return int_activations(s.spec, target); },
                               [&](const GemvSpec& s) { return gemv(s, target); },
                               [&](const FusedGemv& s) { return fused_gemv(s, target); },
                               [&](const GemmSpec& s) { return gemm(s, target); },
                               [&](const FusedGemm& s) { return gemm(s.products[0], target); },
                               [&](const KvScatterSpec& s) { return kv_scatter(s, target); },
                               [&](const AttentionSpec& s) { return incremental_attention(s, target); },
                               [&](const FlashAttentionSpec& s) { return flash_attention(s, target); },
                               [&](const DeltaKernelSpec& s) { return delta_kernel_of(s).generate(s.net, target); },
                               [&](const RouteSpec& s) { return route(s, target); },
                               [&](const ExpertOrderSpec& s) { return expert_order(s, target); },
                               [&](const ExpertProductSpec& s) { return expert_product(s, target); },
                               [&](const ExpertSumSpec& s) { return expert_sum(s, target); }},
                    spec);
}

ptx::Dimensions blocks_of(const KernelSpec& spec, const ptx::Kernel& kernel, const LaunchColumns& c) {
  using Step = DeltaKernelSpec::Step;
  const ptx::Dimensions& own = kernel.launch.blocks;
  return std::visit(
      Overloaded{[&](const F16Conversion&) { return ptx::Dimensions(c.n); },
                 [&](const IntConversion&) { return ptx::Dimensions(int_activation_blocks(c.n)); },
                 [&](const GemvSpec& s) { return ptx::Dimensions(own.x, ceil_div(c.n, s.columns)); },
                 [&](const FusedGemv& s) { return ptx::Dimensions(own.x, ceil_div(c.n, s.products[0].columns)); },
                 [&](const GemmSpec& s) { return gemm_grid(s, c.n); },
                 [&](const FusedGemm& s) { return gemm_grid(s, c.n); },
                 [&](const AttentionSpec& s) { return attention_grid(s, c.longest); },
                 [&](const FlashAttentionSpec& s) { return flash_attention_grid(s, c.n); },
                 [&](const DeltaKernelSpec& s) {
                   if (s.step == Step::kPrepare) return delta_prepare_grid(s.net, c.n);
                   if (s.step == Step::kFinish) return delta_finish_grid(s.net, c.n);
                   return takes_chunks(s.net) ? own : ptx::Dimensions(own.x, c.n);
                 },
                 [&](const ExpertOrderSpec&) { return own; },
                 [&](const ExpertProductSpec& s) { return ptx::Dimensions(own.x, c.n * s.n_used); },
                 [&](const auto&) { return ptx::Dimensions(own.x, c.n); }},
      spec);
}

uint64_t bytes_of(const KernelSpec& spec, const ptx::Kernel& kernel, const LaunchColumns& c) {
  const auto part = [&](uint32_t max_columns) { return kernel.cost.bytes / max_columns * c.n; };
  return std::visit(
      Overloaded{[&](const F16Conversion& s) { return f16_activations_bytes(s.k, s.normalises, c.n); },
                 [&](const IntConversion& s) { return int_activations_bytes(s.k, s.normalises, c.n); },
                 [&](const GemvSpec& s) { return product_cost(s, matrices_of(s), c.n).bytes; },
                 [&](const FusedGemv& s) { return fused_gemv_bytes(s, c.n); },
                 [&](const GemmSpec& s) { return gemm_cost(s, c.n).bytes; },
                 [&](const FusedGemm& s) { return gemm_cost(s, c.n).bytes; },
                 [&](const AttentionSpec& s) { return attention_cost(s, c.n_keys).bytes; },
                 [&](const FlashAttentionSpec& s) { return flash_attention_cost(s, c.n, c.longest - c.n).bytes; },
                 [&](const DeltaKernelSpec& s) { return part(s.net.columns); },
                 [&](const auto& s) { return part(s.columns); }},
      spec);
}

uint32_t max_columns_of(const KernelSpec& spec) {
  constexpr uint32_t kAny = std::numeric_limits<uint32_t>::max();
  return std::visit(Overloaded{[](const GemvSpec& s) { return s.columns == 1 ? 1 : kAny; },
                               [](const AttentionSpec& s) { return s.columns; },
                               [](const ExpertProductSpec& s) { return s.columns; }, [](const auto&) { return kAny; }},
                    spec);
}

}  // namespace warpchat
