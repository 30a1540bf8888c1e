#include "kernels/persistent/token_functions.h"

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/common/overloaded.h"
#include "models/error.h"

namespace warpchat {

using namespace ptx;

EmbeddingFunction::EmbeddingFunction(const EmbeddingSpec& spec, Target target)
    : BodyFunction(function_of(name_of(spec) + "_body", target, [&](Builder& b, const VirtualBlock& block) {
        const EmbeddingAddresses at{address<u8>(b, "weights"),
                                    address<u32>(b, "tokens", 4),
                                    address<f32>(b, "out"),
                                    address<u32>(b, "error", 4),
                                    {}};
        b.inlined([&] { embedding_body(b, spec, at, block); });
      })) {}

void EmbeddingFunction::call(const VirtualBlock& block, const EmbeddingAddresses& at) const {
  block.call(function_, {at.weights, at.tokens, at.out, at.error});
}

AttentionFunction::AttentionFunction(const AttentionSpec& spec, Target target)
    : BodyFunction(function_of(name_of(spec) + "_body", target, [&](Builder& b, const VirtualBlock& block) {
        Global<f32> q = address<f32>(b, "q"), k = address<f32>(b, "k"), v = address<f32>(b, "v");
        std::vector<Global<f32>> gamma;
        if (spec.scatters.at(0).qk_norm)
          for (const char* name : {"q_gamma", "k_gamma"}) gamma.push_back(address<f32>(b, name));
        Global<u8> k_pages = address<u8>(b, "k_pages"), v_pages = address<u8>(b, "v_pages");
        Global<u32> table = address<u32>(b, "page_table", 4);
        ProjectionAddresses projections{k, v, gamma, b.argument<u32>("n_pages", Sharing::kWarp), {}, {}};
        if (spec.scatters.size() > 1) projections.rope.emplace(b.argument<u32>("rope", Sharing::kWarp));
        projections.rotated.emplace(b.argument<u32>("turned", Sharing::kWarp));
        Reg<u32> length = b.argument<u32>("length", Sharing::kWarp);
        Global<f32> out = address<f32>(b, "out");
        std::optional<Global<f32>> gate;
        if (spec.gated) gate.emplace(address<f32>(b, "gate"));
        Global<u8> scratch = address<u8>(b, "scratch");
        Global<u32> error = address<u32>(b, "error", 4);
        const AttentionAddresses at{q, k_pages, v_pages, table, length, out, scratch, error, gate, projections};
        b.inlined([&] { attention_body(b, spec, at, block); });
      })) {}

void AttentionFunction::call(const VirtualBlock& block, const AttentionAddresses& at) const {
  const ProjectionAddresses& p = at.projections.value();
  std::vector<CallOperand> all = {at.q, p.k, p.v};
  all.insert(all.end(), p.gamma.begin(), p.gamma.end());
  all.insert(all.end(), {at.k_pages, at.v_pages, at.page_table, p.n_pages});
  if (p.rope) all.push_back(*p.rope);
  all.push_back(p.rotated ? CallOperand(*p.rotated) : CallOperand(kNoneRotated));
  all.insert(all.end(), {at.length, std::get<Global<f32>>(at.out)});
  if (at.gate) all.push_back(*at.gate);
  all.insert(all.end(), {at.scratch, at.error});
  block.call(function_, all);
}

namespace {

StateAddresses state_arguments(Builder& b) {
  Global<u64> states = address<u64>(b, "states", 8);
  Global<u32> positions = address<u32>(b, "positions", 4);
  return {states, positions, b.argument<u32>("layer", Sharing::kWarp)};
}

}  // namespace

ConvFunction::ConvFunction(const DeltaNetSpec& spec, Target target)
    : BodyFunction(function_of(name_of_conv(spec) + "_body", target, [&](Builder& b, const VirtualBlock& block) {
        Global<f32> qkv = address<f32>(b, "qkv"), conv = address<f32>(b, "conv");
        const ConvAddresses at{qkv, conv, state_arguments(b), {}};
        b.inlined([&] { conv_body(b, spec, at, block); });
      })) {}

void ConvFunction::call(const VirtualBlock& block, const ConvAddresses& at) const {
  block.call(function_, {at.qkv, at.conv, at.state.states, at.state.positions, at.state.layer});
}

DeltaFunction::DeltaFunction(const DeltaNetSpec& spec, Target target)
    : BodyFunction(function_of(name_of_step(spec) + "_body", target, [&](Builder& b, const VirtualBlock& block) {
        Global<f32> qkv = address<f32>(b, "qkv"), z = address<f32>(b, "z");
        Global<f32> alpha = address<f32>(b, "alpha"), beta = address<f32>(b, "beta");
        Global<f32> dt_bias = address<f32>(b, "dt_bias"), decay = address<f32>(b, "decay");
        Global<f32> norm = address<f32>(b, "norm");
        const StateAddresses state = state_arguments(b);
        const DeltaAddresses at{qkv, z, alpha, beta, dt_bias, decay, norm, state, address<f32>(b, "out"), {}};
        b.inlined([&] { delta_body(b, spec, at, block); });
      })) {}

void DeltaFunction::call(const VirtualBlock& block, const DeltaAddresses& at) const {
  block.call(function_, {at.qkv, at.z, at.alpha, at.beta, at.dt_bias, at.decay, at.norm, at.state.states,
                         at.state.positions, at.state.layer, at.out});
}

RouteFunction::RouteFunction(const RouteSpec& spec, Target target)
    : BodyFunction(function_of(name_of(spec) + "_body", target, [&](Builder& b, const VirtualBlock& block) {
        const RouteAddresses at{
            address<f32>(b, "scores"), address<u32>(b, "experts", 4), address<f32>(b, "weights", 4), {}};
        b.inlined([&] { route_body(b, spec, at, block); });
      })) {}

void RouteFunction::call(const VirtualBlock& block, const RouteAddresses& at) const {
  block.call(function_, {at.scores, at.experts, at.weights});
}

ExpertSumFunction::ExpertSumFunction(const ExpertSumSpec& spec, Target target)
    : BodyFunction(function_of(name_of(spec) + "_body", target, [&](Builder& b, const VirtualBlock& block) {
        Global<f32> outputs = address<f32>(b, "outputs"), weights = address<f32>(b, "weights", 4);
        std::optional<Global<f32>> shared, switches;
        if (spec.has_shared) shared.emplace(address<f32>(b, "shared")), switches.emplace(address<f32>(b, "switches"));
        const ExpertSumAddresses at{outputs, weights, shared, switches, address<f32>(b, "y"), {}};
        b.inlined([&] { expert_sum_body(b, spec, at, block); });
      })) {}

void ExpertSumFunction::call(const VirtualBlock& block, const ExpertSumAddresses& at) const {
  std::vector<CallOperand> all = {at.outputs, at.weights};
  if (at.shared) all.insert(all.end(), {*at.shared, *at.switches});
  all.push_back(at.y);
  block.call(function_, all);
}

ProductFunction::ProductFunction(const std::string& name, std::vector<GemvSpec> variants, ProductForm form,
                                 Target target)
    : BodyFunction(nullptr), variants_(std::move(variants)), form_(form) {
  function_ = write(name, target);
}

uint32_t ProductFunction::warps() const { return plan_of(variants_[0]).warps; }

bool ProductFunction::any(bool (*has)(GemvEpilogue)) const {
  return std::ranges::any_of(variants_, has, &GemvSpec::epilogue);
}

FunctionPointer ProductFunction::write(const std::string& name, Target target) const {
  std::vector<GemvPlan> plans;
  for (const GemvSpec& spec : variants_) {
    plans.push_back(plan_of(spec));
    if (form_.loads_ahead) load_ahead(plans.back());
  }
  std::string full_name = name + (form_.loads_ahead ? "_ahead" : "") + (form_.starts_phases ? "_waits" : "");
  for (const GemvSpec& spec : variants_) full_name += "_" + name_of(spec);
  return function_of(full_name, target, [&](Builder& b, const VirtualBlock& block) {
    Reg<u32> which = b.argument<u32>("variant", Sharing::kWarp);
    std::optional<Reg<u32>> rows;
    if (form_.takes_rows) rows.emplace(b.argument<u32>("rows", Sharing::kWarp));
    std::vector<Global<u8>> matrices = {address<u8>(b, "weights")};
    if (any(is_swiglu)) matrices.push_back(address<u8>(b, "up"));
    Global<f32> x = address<f32>(b, "x");
    std::optional<Global<f32>> gamma, bias;
    if (plans[0].normalises()) gamma.emplace(address<f32>(b, "gamma"));
    if (any(adds_bias)) bias.emplace(address<f32>(b, "bias"));
    Global<f32> y = address<f32>(b, "y");
    std::optional<Pred> has_bias;
    if (any([](GemvEpilogue e) { return e == GemvEpilogue::kBias; })) has_bias.emplace(b.address(*bias) != 0);
    BeforeInput start;
    if (form_.starts_phases) start = phase_start(b, block);
    b.inlined([&] { gemv_body(b, plans, which, {matrices, x, gamma, bias, y, {}, rows, has_bias}, block, start); });
  });
}

// Declares the arguments of a PhaseStart.
BeforeInput ProductFunction::phase_start(Builder& b, const VirtualBlock& block) const {
  Reg<u32> waits = b.argument<u32>("waits", Sharing::kWarp);
  const Global<u64> arrivals = address<u64>(b, "arrivals", 8);
  const Shared<u64> open_at = b.shared_pointer<u64>(b.argument<u32>("open_at", Sharing::kWarp), 8);
  Reg<u32> phase = b.argument<u32>("phase", Sharing::kWarp);
  std::optional<StampAddresses> stamps;
  if (form_.has_stamps) stamps.emplace(StampAddresses::arguments(b));
  return [&b, block, waits, arrivals, open_at, phase, stamps] {
    b.if_(waits != 0, [&] {
      GridBarrier::pass(b, block, {arrivals, open_at});
      if (stamps) write_stamp(b, block, *stamps, phase);
    });
  };
}

void ProductFunction::call(const VirtualBlock& block, const CallOperand& which, const GemvAddresses& at,
                           const PhaseStart* start) const {
  std::vector<CallOperand> all = {which};
  if (form_.takes_rows) all.push_back(at.rows.value());
  all.push_back(at.matrices.at(0));
  if (any(is_swiglu)) all.push_back(at.matrices.at(1));
  all.push_back(at.x);
  if (variants_[0].prologue == GemvPrologue::kRmsNorm) all.push_back(at.gamma.value());
  if (any(adds_bias)) all.push_back(at.bias ? CallOperand(*at.bias) : CallOperand::null());
  all.push_back(at.y);
  if (form_.starts_phases) {
    all.insert(all.end(), {start->waits ? 1u : 0u, start->barrier.counter, start->barrier.open_at, start->phase});
    if (form_.has_stamps)
      all.insert(all.end(), {start->stamps->stamps, start->stamps->n_blocks, start->stamps->n_slots});
  }
  block.call(function_, all);
}

TokenFunctions::TokenFunctions(const LaunchList& list, ProductForm form, Target target)
    : embed(*list.first<EmbeddingSpec>(), target), attend(list.token_attention(), target) {
  constexpr const char* kNames[kProductGroups] = {"normed", "output", "gate_up", "down"};
  const auto* routing = list.first<RouteSpec>();
  ProductVariants variants = product_variants(list);
  for (size_t group = 0; group < kProductGroups; ++group) {
    const bool is_of_experts = routing != nullptr && group >= static_cast<size_t>(ProductGroup::kGateUp);
    ProductForm own = form;
    own.takes_rows = group == static_cast<size_t>(ProductGroup::kNormed) || is_of_experts;
    own.starts_phases = form.starts_phases && !is_of_experts;
    products.emplace_back(kNames[group], std::move(variants[group]), own, target);
  }
  if (const auto* net = list.first<DeltaKernelSpec>()) {
    conv.emplace(net->net, target);
    delta.emplace(net->net, target);
  }
  if (routing == nullptr) return;
  route.emplace(*routing, target);
  sum.emplace(*list.first<ExpertSumSpec>(), target);
}

namespace {

// The variant is a constant at the call.
BodyOf<GemvAddresses> call_of(const GemvSpec& spec, const ProductFunction& function) {
  return [&](Builder& b, const GemvAddresses& at, const VirtualBlock& block) {
    GemvAddresses all = at;
    all.rows.emplace(b.var("rows", spec.rows));
    function.call(block, variant_of(function.variants(), spec), all);
  };
}

}  // namespace

Kernel TokenFunctions::kernel(const KernelLaunch& launch, Target target) const {
  const auto call = [](const auto& function) {
    return [&function](Builder&, const auto& at, const VirtualBlock& block) { function.call(block, at); };
  };
  using Step = DeltaKernelSpec::Step;
  return std::visit(
      Overloaded{
          [&](const EmbeddingSpec& s) { return embedding_kernel(s, target, call(embed)); },
          [&](const AttentionSpec& s) { return attention_kernel(s, target, call(attend)); },
          [&](const GemvSpec& s) { return gemv_kernel(s, target, call_of(s, of(launch))); },
          [&](const ExpertProductSpec& s) { return expert_product_kernel(s, target, call_of(s.product, of(launch))); },
          [&](const DeltaKernelSpec& s) {
            return s.step == Step::kConv ? conv_kernel(s.net, target, call(*conv))
                                         : delta_kernel(s.net, target, call(*delta));
          },
          [&](const RouteSpec& s) { return route_kernel(s, target, call(*route)); },
          [&](const ExpertSumSpec& s) { return expert_sum_kernel(s, target, call(*sum)); },
          [&](const auto&) -> Kernel { throw Error("a token has no kernel " + name_of(launch.spec)); }},
      launch.spec);
}

std::vector<Kernel> kernels_of(const LaunchList& list, Target target,
                               const std::function<bool(const std::string&)>& is_wanted) {
  std::optional<TokenFunctions> functions;
  if (list.shape.kind == PassKind::kDecode) functions.emplace(list, ProductForm{}, target);
  std::vector<Kernel> kernels;
  std::set<std::string> names;
  for_each_launch(list, [&](const KernelLaunch& launch, uint32_t) {
    const std::string name = name_of(launch.spec);
    if ((is_wanted && !is_wanted(name)) || !names.insert(name).second) return;
    kernels.push_back(functions ? functions->kernel(launch, target) : generate(launch.spec, target));
  });
  return kernels;
}

}  // namespace warpchat
