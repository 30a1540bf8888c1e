#include "engine/gpu/pass_kernels.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "engine/gpu/gpu_steps.h"
#include "kernels/columns.h"
#include "kernels/conv_prompt.h"
#include "kernels/delta_chunk.h"
#include "kernels/product.h"

namespace warpchat {

namespace {

std::string name_of_routed(const ExpertProductSpec& assignments, const std::optional<GemmSpec>& grouped) {
  return grouped ? name_of(*grouped) : name_of(assignments);
}

}  // namespace

uint32_t ProductStep::columns_at_once() const {
  const auto* gemv = std::get_if<GemvSpec>(&spec);
  return gemv && gemv->columns == 1 ? 1 : std::numeric_limits<uint32_t>::max();
}

bool ProductStep::takes_columns() const { return columns_at_once() > 1; }

ptx::Dimensions ProductStep::blocks(uint32_t columns) const {
  if (const auto* gemm = std::get_if<GemmSpec>(&spec)) return gemm_grid(*gemm, columns);
  return {step.kernel->kernel().launch.blocks.x, ceil_div(columns, std::get<GemvSpec>(spec).columns)};
}

uint64_t ProductStep::bytes(uint32_t columns) const {
  if (const auto* gemm = std::get_if<GemmSpec>(&spec)) return gemm_cost(*gemm, columns).bytes;
  const GemvSpec& gemv = std::get<GemvSpec>(spec);
  return product_cost(gemv, matrices_of(gemv), columns).bytes;
}

PassKernels::PassKernels(ContextPointer context, DecoderSpecs specs, Profile& profile, KernelTexts& texts)
    : context_(std::move(context)), specs_(std::move(specs)), profile_(profile), texts_(texts) {
  layer_names_ = {name_of(specs_.embedding), name_of(specs_.attention)};
  for (const KvScatterSpec& spec : specs_.kv_scatters) layer_names_.insert(name_of(spec));
  if (specs_.f16_activations) layer_names_.insert(name_of(*specs_.f16_activations));
  if (specs_.int_activations) layer_names_.insert(name_of(*specs_.int_activations));
  const auto insert = [&](const auto& launch) { layer_names_.insert(name_of(launch)); };
  for_each_launch(specs_, insert, insert);
  const DeltaNetSpec& net = specs_.delta_net;
  if (takes_chunks(net))
    layer_names_.insert({name_of_conv_prompt(net), name_of_prepare(net), name_of_scan(net), name_of_finish(net)});
  else if (net.n_v_heads > 0)
    layer_names_.insert({name_of_conv(net), name_of_step(net)});
  for (const ExpertSpecs& e : specs_.experts) {
    layer_names_.insert({name_of(e.route), name_of_routed(e.gate_up, e.grouped_gate_up),
                         name_of_routed(e.down, e.grouped_down), name_of(e.sum)});
    if (e.has_order()) layer_names_.insert(name_of(e.order));
  }
}

void PassKernels::prepare() {
  if (!layer_kernels_)
    layer_kernels_.emplace(context_, generate([&](const std::string& name) { return layer_names_.contains(name); }));
}

void PassKernels::prepare_logits() {
  const std::string logits = name_of(specs_.logits);
  if (layer_names_.contains(logits)) return prepare();
  if (!logits_kernel_)
    logits_kernel_.emplace(context_, generate([&](const std::string& name) { return name == logits; }));
}

bool PassKernels::is_ready() const {
  return (!layer_kernels_ || layer_kernels_->is_ready()) && (!logits_kernel_ || logits_kernel_->is_ready());
}

std::vector<ptx::Kernel> PassKernels::generate(const std::function<bool(const std::string&)>& is_wanted) const {
  std::vector<ptx::Kernel> kernels;
  try {
    kernels = decoder_kernels(specs_, context_->device().target());
  } catch (const Error& error) {
    throw UnsupportedModel(std::string("the GPU kernels cannot compute this model: ") + error.what());
  }
  std::erase_if(kernels, [&](const ptx::Kernel& kernel) { return !is_wanted(kernel.name); });
  return kernels;
}

GpuStep PassKernels::step(const KernelSet& kernels, const std::string& name) {
  const LoadedKernel& kernel = kernels[name];
  texts_.add(kernel);
  return {&kernel, profile_.operation(name)};
}

const PassKernels::Steps& PassKernels::steps() {
  if (steps_) return *steps_;
  prepare();
  try {
    const KernelSet& kernels = *layer_kernels_;
    const auto product = [&](const ProductSpec& spec) {
      return is_present(spec) ? ProductStep{step(kernels, name_of(spec)), spec} : ProductStep{};
    };
    Steps steps{};
    steps.embedding = step(kernels, name_of(specs_.embedding));
    steps.attention = step(kernels, name_of(specs_.attention));
    if (specs_.f16_activations) steps.f16_activations = step(kernels, name_of(*specs_.f16_activations));
    if (specs_.int_activations) steps.int_activations = step(kernels, name_of(*specs_.int_activations));
    for (const KvScatterSpec& spec : specs_.kv_scatters) steps.kv_scatters.push_back(step(kernels, name_of(spec)));
    const auto add = [&](const auto& specs, auto& to, std::vector<FusedSteps>& all_fused) {
      const std::vector<const ProductSpec*> of_first = of_one_input(specs);
      FusedSteps& launches = all_fused.emplace_back();
      for (const FusedProducts& all : fuse(of_first)) launches.push_back({step(kernels, name_of(all)), all});
      to.push_back(map(specs, [&](const ProductSpec& spec) {
        const bool has_first = std::ranges::find(of_first, &spec) != of_first.end();
        return has_first && is_fused_into_any(launches, spec) ? ProductStep{{}, spec} : product(spec);
      }));
    };
    for (const LayerSpecs& layer : specs_.layers) add(layer, steps.layers, steps.fused_layers);
    for (const DeltaSpecs& delta : specs_.deltas) add(delta, steps.deltas, steps.fused_deltas);
    const DeltaNetSpec& net = specs_.delta_net;
    if (takes_chunks(net)) {
      steps.conv = step(kernels, name_of_conv_prompt(net));
      steps.delta_prepare = step(kernels, name_of_prepare(net));
      steps.delta_scan = step(kernels, name_of_scan(net));
      steps.delta_finish = step(kernels, name_of_finish(net));
    } else if (net.n_v_heads > 0) {
      steps.conv = step(kernels, name_of_conv(net));
      steps.delta = step(kernels, name_of_step(net));
    }
    for (const ExpertSpecs& e : specs_.experts)
      steps.experts.push_back({product(e.router), product(e.shared_gate_up), product(e.shared_down),
                               product(e.shared_expert_gate), step(kernels, name_of(e.route)),
                               e.has_order() ? step(kernels, name_of(e.order)) : GpuStep{},
                               step(kernels, name_of_routed(e.gate_up, e.grouped_gate_up)),
                               step(kernels, name_of_routed(e.down, e.grouped_down)), step(kernels, name_of(e.sum))});
    return steps_.emplace(std::move(steps));
  } catch (const Error&) {
    layer_kernels_.reset();
    throw;
  }
}

const ProductStep& PassKernels::logits() {
  if (logits_) return *logits_;
  const std::string name = name_of(specs_.logits);
  if (layer_names_.contains(name)) {
    steps();
    return logits_.emplace(ProductStep{step(*layer_kernels_, name), specs_.logits});
  }
  prepare_logits();
  try {
    return logits_.emplace(ProductStep{step(*logits_kernel_, name), specs_.logits});
  } catch (const Error&) {
    logits_kernel_.reset();
    throw;
  }
}

}  // namespace warpchat
