#include "engine/gpu/pass_kernels.h"

#include <limits>
#include <utility>

namespace warpchat {

std::vector<ptx::Kernel> generate_kernels(const DecoderSpecs& specs, ptx::Target target) {
  try {
    return decoder_kernels(specs, target);
  } catch (const Error& error) {
    throw Error(std::string("the GPU kernels cannot compute this model: ") + error.what() + "; use --device cpu");
  }
}

uint32_t ProductStep::columns_at_once() const {
  const auto* gemv = std::get_if<GemvSpec>(&spec);
  return gemv ? gemv->columns : std::numeric_limits<uint32_t>::max();
}

bool ProductStep::takes_columns() const { return columns_at_once() > 1; }

ptx::Dimensions ProductStep::blocks(uint32_t columns) const {
  const auto* gemm = std::get_if<GemmSpec>(&spec);
  return gemm ? gemm_grid(*gemm, columns) : step.kernel->kernel().launch.blocks;
}

uint64_t ProductStep::bytes(uint32_t columns) const {
  const auto* gemm = std::get_if<GemmSpec>(&spec);
  return gemm ? gemm_cost(*gemm, columns).bytes : step.kernel->kernel().cost.bytes;
}

PassKernels::PassKernels(ContextPointer context, DecoderSpecs given, std::vector<ptx::Kernel> list, Profile& profile,
                         KernelTexts& texts)
    : specs(std::move(given)), kernels(std::move(context), std::move(list)) {
  const auto step = [&](const std::string& name) {
    texts.add(kernels[name]);
    return GpuStep{&kernels[name], profile.operation(name)};
  };
  const auto product = [&](const ProductSpec& spec) { return ProductStep{step(name_of(spec)), spec}; };
  embedding = step(name_of(specs.embedding));
  kv_scatter = step(name_of(specs.kv_scatter));
  attention = step(name_of(specs.attention));
  for (const LayerSpecs& layer : specs.layers)
    layers.push_back({product(layer.q), product(layer.k), product(layer.v), product(layer.output),
                      product(layer.gate_up), product(layer.down)});
  logits = product(specs.logits);
}

}  // namespace warpchat
