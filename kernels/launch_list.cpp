// The launches of each kind of operation. Products that read the same input are planned together: conversions of the
// input first, then products that share a launch, then the others.
#include "kernels/launch_list.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kernels/delta_net/delta_chunk.h"
#include "kernels/product_plan.h"
#include "models/kernel_type.h"

namespace warpchat {

namespace {

using Kind = Operand::Kind;
using Arguments = std::vector<NamedOperand>;

constexpr uint32_t kMaxAssignments = 65535;  // per launch

// The formats of a layer's weights; none where the model has no such weight.
using WeightFormats = PerWeight<std::optional<TensorType>>;

std::vector<WeightFormats> weight_formats(const DecoderFormats& formats) {
  const auto optional = [](bool is_there) { return is_there ? std::optional(TensorType::kF32) : std::nullopt; };
  std::vector<WeightFormats> all;
  for (const LayerFormats& f : formats.layers)
    all.push_back(by_weight<std::optional<TensorType>>(f.matrices, f.delta, f.experts, map(f.has, optional),
                                                       DeltaVectors<TensorType>{}));
  WeightFormats& outside = all.emplace_back();
  outside[Weight::kTokenEmbd] = formats.token_embd, outside[Weight::kLogits] = formats.output;
  outside[Weight::kLogitsNorm] = TensorType::kF32, outside[Weight::kLogitsBias] = optional(formats.has_output_bias);
  return all;
}

// The products that an operation multiplies one input with; of experts, the shared one's.
std::vector<MatrixProduct> products_of(const Operation& operation) {
  if (const auto* products = std::get_if<Products>(&operation.what)) return products->products;
  if (const auto* route = std::get_if<Routing>(&operation.what)) return route->scores.products;
  if (const auto* experts = std::get_if<Experts>(&operation.what); experts && experts->shared_gate_up)
    return {*experts->shared_gate_up, *experts->shared_down};
  return {};
}

PhaseKind phase_of(const Operation& operation, const MatrixProduct& product, const Products& products) {
  if (product.output == Buffer::kLogits) return PhaseKind::kLogits;
  if (std::holds_alternative<Routing>(operation.what)) return PhaseKind::kRouter;
  if (product.up != Weight::kNone) return PhaseKind::kGateUp;
  if (!product.adds) return PhaseKind::kQkv;
  return products.input == Buffer::kInner ? PhaseKind::kDown : PhaseKind::kOutput;
}

class ListMaker {
 public:
  ListMaker(const Network& network, const ModelConfig& config, const DecoderFormats& formats, const PassShape& shape)
      : network_(network), config_(config), shape_(shape), formats_(weight_formats(formats)) {}

  LaunchList make() {
    plan_attention();
    for (const Operation& operation : network_) plan_products(operation);
    share_kernels();
    for (const Operation& operation : network_) plan_experts(operation);
    find_conversions();
    list_.shape = shape_, list_.attention = attention_, list_.layers = config_.layers;
    for (const Operation& operation : network_) {
      operation_ = &operation;
      list_.operations.push_back({operation.layer, {}});
      std::visit([this](const auto& what) { add(what); }, operation.what);
    }
    return std::move(list_);
  }

 private:
  struct PlannedExperts {  // gemms replace the others when a pass has many columns and gemm supports the matrix
    ExpertProductSpec gate_up, down;
    std::optional<GemmSpec> grouped_gate_up, grouped_down;
  };

  bool is_prompt() const { return shape_.kind == PassKind::kPrefill; }
  std::optional<TensorType> format(Weight weight, uint32_t layer) const { return formats_.at(layer)[weight]; }
  bool has(Weight weight, uint32_t layer) const { return weight != Weight::kNone && format(weight, layer); }
  uint32_t width(Buffer buffer) const { return shape_of(buffer, config_).width; }

  void plan_attention() {
    // An architecture has QK norm in every attention layer or in none.
    const bool qk_norm = std::ranges::any_of(formats_, [](const auto& f) { return f[Weight::kQNorm].has_value(); });
    attention_ = decoder_attention(config_, shape_);
    auto* tokens = is_prompt() ? nullptr : &std::get<AttentionSpec>(attention_);
    std::vector<KvScatterSpec>& scatters = tokens ? tokens->scatters : scatters_;
    for (const Rope& rope : config_.ropes)
      scatters.push_back({config_.n_heads, config_.n_kv_heads, config_.head_dim, config_.rope_dims,
                          config_.rope_pairing, shape_.context, tokens ? tokens->columns : shape_.columns, is_prompt(),
                          qk_norm, qk_norm ? config_.rms_eps : 0, rope.magnitude, rope.frequencies, shape_.cache.k,
                          shape_.cache.v});
  }

  GemvSpec gemv_of(const MatrixProduct& product, Buffer input, Weight norm, uint32_t layer) const {
    const bool has_bias = has(product.bias, layer) || has(product.up_bias, layer);
    GemvSpec spec{format(product.weights, layer).value_or(TensorType::kF32), width(product.output), width(input)};
    spec.prologue = norm == Weight::kNone ? GemvPrologue::kNone : GemvPrologue::kRmsNorm;
    spec.eps = config_.rms_eps;
    spec.epilogue = has_bias ? GemvEpilogue::kBias : GemvEpilogue::kStore;
    if (product.adds) spec.epilogue = has_bias ? GemvEpilogue::kBiasResidual : GemvEpilogue::kResidual;
    if (product.up == Weight::kNone) return spec;
    spec.epilogue = has_bias ? GemvEpilogue::kBiasSwiglu : GemvEpilogue::kSwiglu;
    spec.up = format(product.up, layer);
    return spec;
  }

  // Whether tensor cores would round weights that must stay exact, or a block of a batch's GEMM would run alone because
  // there are so few rows, for longer than gemv takes.
  bool needs_gemv(Weight weight) const {
    if (weight == Weight::kRouter || weight == Weight::kSharedExpertGate) return true;
    return (weight == Weight::kAlpha || weight == Weight::kBeta) && !is_prompt();
  }

  void plan_products(const Operation& operation) {
    std::vector<ProductSpec>& specs = products_.emplace_back();
    const auto* experts = std::get_if<Experts>(&operation.what);
    const auto* route = std::get_if<Routing>(&operation.what);
    const auto* products = route != nullptr ? &route->scores : std::get_if<Products>(&operation.what);
    for (const MatrixProduct& product : products_of(operation)) {
      const bool is_first = experts && product.weights == Weight::kSharedGate;
      const Buffer input = products ? products->input : is_first ? experts->input : Buffer::kSharedInner;
      const Weight norm = products ? products->norm : is_first ? experts->norm : Weight::kNone;
      const GemvSpec gemv = gemv_of(product, input, norm, operation.layer);
      specs.push_back(needs_gemv(product.weights) ? gemv_for_columns(gemv, shape_.columns)
                                                  : product_for(gemv, shape_.kind, shape_.columns));
    }
    if (products && !route) share_split_k(specs);
  }

  // One kernel for all single-matrix products in as many formats as registers allow, so that products of one input can
  // share a launch; the logits use it, too, if they differ only in format.
  void share_kernels() {
    std::vector<ProductSpec*> products, of_deltas;  // a kernel has their formats in this order
    ProductSpec* logits = nullptr;
    for (const Operation& operation : network_) {
      const std::vector<MatrixProduct> all = products_of(operation);
      for (size_t i = 0; i < all.size(); ++i) {
        ProductSpec* spec = &products_[operation.index][i];
        const bool is_of_delta = all[i].weights >= Weight::kQkv && all[i].weights <= Weight::kBeta;
        all[i].output == Buffer::kLogits ? void(logits = spec) : (is_of_delta ? of_deltas : products).push_back(spec);
      }
    }
    products.insert(products.end(), of_deltas.begin(), of_deltas.end());
    join_formats(products, logits);
    auto* incremental = std::get_if<AttentionSpec>(&attention_);
    if (shape_.kind == PassKind::kBatch && can_write_f16(*incremental))
      incremental->writes_f16 = std::ranges::all_of(network_, [this](const Operation& operation) {
        const auto* own = std::get_if<Products>(&operation.what);
        return !own || own->input != Buffer::kMixed || accepts_f16(products_[operation.index][0]);
      });
  }

  void plan_experts(const Operation& operation) {
    const auto* o = std::get_if<Experts>(&operation.what);
    if (o == nullptr) return;
    const ExpertsConfig& e = config_.experts;
    const uint32_t at_once = std::min(shape_.columns, std::max(1u, kMaxAssignments / e.n_used));
    const GemvSpec gate_up = gemv_of(o->gate_up, o->input, o->norm, operation.layer),
                   down = gemv_of(o->down, o->gate_up.output, Weight::kNone, operation.layer);
    PlannedExperts& all = experts_[operation.index];
    all = {{gate_up, e.n_used, /*by_column=*/true, at_once}, {down, e.n_used, /*by_column=*/false, at_once}, {}, {}};
    const auto grouped = [&](const ExpertProductSpec& assignments) -> std::optional<GemmSpec> {
      const ProductSpec of_many = product_for(assignments.product, shape_.kind, shape_.columns);
      if (!accepts_f16(of_many)) return {};
      GemmSpec gemm = std::get<GemmSpec>(of_many);
      gemm.columns_per_block = decoder_expert_order(e, shape_.columns).tile;
      gemm.warps = gemm.split_k = 0;
      gemm.experts = e.n;
      gemm.assignments_per_input = assignments.by_column ? e.n_used : 1;
      return gemm;
    };
    all.grouped_gate_up = grouped(all.gate_up), all.grouped_down = grouped(all.down);
  }

  void find_conversions() {
    f16_activations_.eps = config_.rms_eps;
    const auto add = [this](const GemmSpec& gemm) { f16_activations_.has_quads &= gemm.k % 4 == 0; };
    for (const std::vector<ProductSpec>& specs : products_)
      for (const ProductSpec& spec : specs)
        if (accepts_f16(spec)) add(std::get<GemmSpec>(spec));
    for (const auto& [index, experts] : experts_)
      for (const std::optional<GemmSpec>* gemm : {&experts.grouped_gate_up, &experts.grouped_down})
        if (*gemm) add(**gemm);
  }

  KernelLaunch& add_launch(PhaseKind phase, KernelSpec spec, Arguments arguments) {
    std::vector<KernelLaunch>& launches = list_.operations.back().launches;
    return launches.emplace_back(KernelLaunch{phase, std::move(spec), std::move(arguments)});
  }

  static void append(Arguments& to, const Arguments& more) { to.insert(to.end(), more.begin(), more.end()); }

  void add(const Embedding& o) {
    add_launch(
        PhaseKind::kEmbed,
        EmbeddingSpec{*format(Weight::kTokenEmbd, config_.n_layers), config_.n_vocab, config_.hidden, shape_.columns},
        {{"weights", Weight::kTokenEmbd},
         {"tokens", Buffer::kTokens},
         {"out", written(o.output)},
         {"error", updated(Buffer::kError)}});
  }

  void add(const Products& o) {
    add_products(o.products, products_[operation_->index], o,
                 [&](const MatrixProduct& product) { return phase_of(*operation_, product, o); });
  }

  void add(const Routing& o) {
    const ExpertsConfig& e = config_.experts;
    add(o.scores);
    // The persistent decoder's blocks route for themselves in this phase.
    add_launch(PhaseKind::kExpertsGateUp, RouteSpec{e.n, e.n_used, e.normalises, e.scale, shape_.columns},
               {{"scores", o.scores.products[0].output},
                {"experts", written(Buffer::kExperts)},
                {"weights", written(Buffer::kExpertWeights)}});
  }

  // Flash attention and a prompt's scatter share the work that incremental attention does alone for tokens.
  void add(const Attention& o) {
    const uint32_t rope = config_.layers[operation_->layer].rope;
    const auto* tokens = std::get_if<AttentionSpec>(&attention_);
    Arguments scatter = {{"q", o.q}, {"k", o.k}, {"v", o.v}};
    const Arguments norms = {{"q_gamma", Weight::kQNorm}, {"k_gamma", Weight::kKNorm}};
    if (has(Weight::kQNorm, operation_->layer)) append(scatter, norms);
    Arguments attend = {{"q", o.q}};
    const Arguments pages = {{"k_pages", updated(Buffer::kKeys)},
                             {"v_pages", updated(Buffer::kValues)},
                             {"page_tables", Buffer::kPageTables}};
    const NamedOperand n_pages = {"n_pages", Operand::of(Kind::kPages)}, error = {"error", updated(Buffer::kError)};
    if (!scatters_.empty()) {
      scatter[0].value = updated(o.q);  // rotated in place
      append(scatter, {{"positions", Buffer::kPositions}});
      append(scatter, pages), append(scatter, {n_pages, error});
      add_launch(PhaseKind::kAttention, scatters_[rope], scatter);
      append(attend, {{"k_pages", Buffer::kKeys}, {"v_pages", Buffer::kValues}, {"page_tables", Buffer::kPageTables}});
    } else {
      attend = scatter;
      append(attend, pages), append(attend, {n_pages});
      if (tokens->scatters.size() > 1) append(attend, {{"rope", Operand::of_number(rope)}});
    }
    append(attend, {{tokens ? "lengths" : "positions", Buffer::kPositions}, {"out", written(o.output)}});
    if (input_has_f16(o.output)) {
      attend.back().value.kind = Kind::kHalves;
      append(attend, {{"out_factors", written(o.output)}});
      attend.back().value.kind = Kind::kFactors;
    }
    if (o.gate) append(attend, {{"gate", *o.gate}});
    if (tokens) append(attend, {{"scratch", updated(Buffer::kAttentionScratch)}});
    append(attend, {error});
    std::visit([&](const auto& spec) { add_launch(PhaseKind::kAttention, spec, attend); }, attention_);
  }

  void add_delta(PhaseKind phase, DeltaKernelSpec::Step step, const Arguments& arguments) {
    DeltaKernelSpec spec{step, {config_.delta_net, config_.rms_eps, shape_.columns, is_prompt()}};
    add_launch(phase, spec, arguments).in_turn = shape_.kind == PassKind::kVerify;
  }
  Operand place_of_state() const { return Operand::of_number(slots_[operation_->layer]); }

  void add(const Convolution& o) {
    using Step = DeltaKernelSpec::Step;
    add_delta(PhaseKind::kConv, is_prompt() ? Step::kConvPrompt : Step::kConv,
              {{"qkv", updated(o.qkv)},
               {"conv", Weight::kConv},
               {"states", updated(Buffer::kStates)},
               {"positions", Buffer::kPositions},
               {"layer", place_of_state()}});
  }

  void add(const Recurrence& o) {
    using Step = DeltaKernelSpec::Step;
    const Arguments qkv = {{"qkv", o.qkv}}, gate = {{"z", o.z}}, norm = {{"norm", Weight::kDeltaNorm}},
                    state = {{"states", updated(Buffer::kStates)},
                             {"positions", Buffer::kPositions},
                             {"layer", place_of_state()}},
                    factors = {{"alpha", o.alpha},
                               {"beta", o.beta},
                               {"dt_bias", Weight::kDtBias},
                               {"decay", Weight::kDecay}},
                    out = {{"out", written(o.output)}}, scratch = {{"scratch", updated(Buffer::kDeltaChunks)}};
    const auto add_step = [&](Step step, std::initializer_list<const Arguments*> parts) {
      Arguments all;
      for (const Arguments* part : parts) append(all, *part);
      add_delta(PhaseKind::kDelta, step, all);
    };
    if (!is_prompt()) return add_step(Step::kDelta, {&qkv, &gate, &factors, &norm, &state, &out});
    add_step(Step::kPrepare, {&qkv, &factors, &scratch});
    add_step(Step::kScan, {&qkv, &state, &scratch, &out});
    add_step(Step::kFinish, {&gate, &norm, &out});
  }

  void add(const WantedColumns&) {}

  // The shared expert comes first, because the next conversion overwrites its input.
  void add(const Experts& o) {
    const ExpertsConfig& e = config_.experts;
    const PlannedExperts& specs = experts_.at(operation_->index);
    const std::vector<ProductSpec>& shared = products_[operation_->index];
    if (specs.grouped_gate_up || specs.grouped_down)
      add_launch(PhaseKind::kExpertsGateUp, decoder_expert_order(e, shape_.columns),
                 {{"experts", Buffer::kExperts},
                  {"order", written(Buffer::kExpertOrder)},
                  {"tiles", written(Buffer::kExpertTiles)}});
    const Products first{o.input, o.norm, {}}, second{o.gate_up.output, Weight::kNone, {}};
    if (o.shared_gate_up)
      add_products({*o.shared_gate_up}, {shared[0]}, first, [](const auto&) { return PhaseKind::kExpertsGateUp; });
    const bool is_converted = !shared.empty() && accepts_f16(shared[0]);
    add_assignments(PhaseKind::kExpertsGateUp, o.gate_up, specs.gate_up, specs.grouped_gate_up, first, is_converted);
    add_assignments(PhaseKind::kExpertsDown, o.down, specs.down, specs.grouped_down, second, false);
    if (o.shared_down)
      add_products({*o.shared_down}, {shared[1]}, {o.shared_gate_up->output, Weight::kNone, {}},
                   [](const auto&) { return PhaseKind::kExpertsDown; });
    Arguments sum = {{"outputs", o.down.output}, {"weights", Buffer::kExpertWeights}, {"y", updated(o.output)}};
    if (o.shared_down) append(sum, {{"shared", o.shared_down->output}, {"switches", Buffer::kSharedExpertGate}});
    add_launch(PhaseKind::kExpertsSum,
               ExpertSumSpec{config_.hidden, e.n_used, o.shared_down.has_value(), shape_.columns}, sum);
  }

  void convert_to_f16(PhaseKind phase, const Products& of, uint32_t per_column = 1) {
    const F16Conversion spec{f16_activations_, width(of.input), of.norm != Weight::kNone};
    add_launch(phase, spec, conversion_arguments(of, "halves", Buffer::kHalves, Buffer::kHalfFactors)).per_column =
        per_column;
  }
  Arguments conversion_arguments(const Products& of, const char* name, Buffer to, Buffer factors) const {
    return {{"x", of.input},
            {"gamma", of.norm},
            {name, written(to)},
            {"factors", written(factors)},
            {"k", Operand::of_number(width(of.input))}};
  }

  void add_assignments(PhaseKind phase, const MatrixProduct& product, const ExpertProductSpec& spec,
                       const std::optional<GemmSpec>& grouped, const Products& of, bool is_converted) {
    if (grouped && !is_converted) convert_to_f16(phase, of, spec.by_column ? 1 : spec.n_used);
    Arguments arguments =
        grouped ? product_arguments(product, of, *grouped) : product_arguments(product, of, spec.product);
    if (grouped) {
      append(arguments, {{"order", Buffer::kExpertOrder}, {"tiles", Buffer::kExpertTiles}});
      add_launch(phase, *grouped, arguments).per_column = spec.n_used;
    } else {
      append(arguments, {{"experts", Buffer::kExperts}});
      add_launch(phase, spec, arguments);
    }
  }

  static Arguments matrix_arguments(const MatrixProduct& product) {
    Arguments all = {{"weights", product.weights}};
    if (product.up != Weight::kNone) append(all, {{"up", product.up}});
    return all;
  }
  Arguments input_arguments(const Products& of, const ProductSpec& spec) const {
    if (accepts_int(spec)) return {{"integers", Buffer::kIntegers}, {"factors", Buffer::kIntegerFactors}};
    if (accepts_f16(spec) && !input_has_f16(of.input))
      return {{"halves", Buffer::kHalves}, {"factors", Buffer::kHalfFactors}};
    Arguments all = {{"x", of.input}};
    if (accepts_f16(spec)) {
      all = {{"halves", of.input}, {"factors", of.input}};
      all[0].value.kind = Kind::kHalves, all[1].value.kind = Kind::kFactors;
    } else if (of.norm != Weight::kNone) {
      append(all, {{"gamma", of.norm}});
    }
    return all;
  }
  Arguments output_arguments(const MatrixProduct& product, const ProductSpec& spec) const {
    Arguments all = {{"y", product.adds ? updated(product.output) : written(product.output)}};
    const auto* gemm = std::get_if<GemmSpec>(&spec);
    // The pairs of two biases have the first one's name.
    const bool has_bias = has(product.bias, operation_->layer) || has(product.up_bias, operation_->layer);
    const NamedOperand bias = {"bias", has_bias ? Operand(product.bias) : Operand()};
    if (gemm != nullptr && has_addends(*gemm))
      append(all, {bias, {"residual", product.adds ? Operand(product.output) : Operand()}});
    else if (has_bias)
      append(all, {bias});
    if (gemm != nullptr) append(all, {{"rows", Operand::of_number(gemm->rows)}, {"k", Operand::of_number(gemm->k)}});
    return all;
  }

  // The arguments of a product alone in its launch.
  Arguments product_arguments(const MatrixProduct& product, const Products& of, const ProductSpec& spec) const {
    Arguments all = matrix_arguments(product);
    append(all, input_arguments(of, spec)), append(all, output_arguments(product, spec));
    return all;
  }

  bool input_has_f16(Buffer input) const {
    const auto* attention = std::get_if<AttentionSpec>(&attention_);
    return input == Buffer::kMixed && attention != nullptr && attention->writes_f16;
  }

  // Products that share a launch: the parameters of each have its number. A gemm has room for kMaxGemmProducts.
  Arguments fused_arguments(const std::vector<MatrixProduct>& products, const Products& of,
                            const std::vector<ProductSpec>& specs) const {
    const auto* gemm = std::get_if<GemmSpec>(&specs[0]);
    const size_t n = gemm != nullptr ? kMaxGemmProducts : specs.size();
    Arguments all = input_arguments(of, specs[0]);
    for (size_t i = 0; i < n; ++i) {
      const bool is_there = i < specs.size();
      Arguments own = {{"weights", {}}, {"bias", {}}, {"y", {}}};
      if (gemm != nullptr) append(own, {{"residual", {}}, {"rows", Operand::of_number(0)}});
      if (is_there) {
        own = matrix_arguments(products[i]);
        append(own, output_arguments(products[i], specs[i]));
        if (gemm == nullptr && own.back().name != "bias") append(own, {{"bias", {}}});
        if (gemm != nullptr) own.pop_back();  // k, which they share
      }
      if (gemm != nullptr && gemm->formats.size() > 1)
        append(own, {{"format", Operand::of_number(is_there ? format_number(std::get<GemmSpec>(specs[i])) : 0)}});
      for (const auto& [name, value] : own) all.push_back({name + "_" + std::to_string(i), value});
    }
    if (gemm == nullptr) return all;
    append(all, {{"k", Operand::of_number(gemm->k)}});
    if (gemm->split_k > 1) append(all, {{"scratch", updated(Buffer::kBatchScratch)}});
    return all;
  }

  // Products of one input.
  template <class PhaseOf>
  void add_products(const std::vector<MatrixProduct>& products, const std::vector<ProductSpec>& specs,
                    const Products& of, const PhaseOf& phase) {
    const PhaseKind first = phase(products[0]);
    if (std::ranges::any_of(specs, accepts_f16) && !input_has_f16(of.input)) convert_to_f16(first, of);
    if (std::ranges::any_of(specs, accepts_int)) {
      const IntConversion spec{{config_.rms_eps}, width(of.input), of.norm != Weight::kNone};
      add_launch(first, spec, conversion_arguments(of, "integers", Buffer::kIntegers, Buffer::kIntegerFactors));
    }
    std::vector<bool> is_added(specs.size(), false);
    for (const FusedLaunch& fused : fuse(specs)) {
      std::vector<MatrixProduct> own;
      std::vector<ProductSpec> own_specs;
      for (const size_t i : fused.products) {
        own.push_back(products[i]), own_specs.push_back(specs[i]);
        is_added[i] = true;
      }
      add_launch(first, fused.spec, fused_arguments(own, of, own_specs));
    }
    for (size_t i = 0; i < specs.size(); ++i) {
      if (is_added[i]) continue;
      const auto* gemm = std::get_if<GemmSpec>(&specs[i]);
      Arguments arguments;
      if (gemm != nullptr && !gemm->formats.empty()) {
        arguments = fused_arguments({products[i]}, of, {specs[i]});
      } else {
        arguments = product_arguments(products[i], of, specs[i]);
        if (gemm != nullptr && gemm->split_k > 1) append(arguments, {{"scratch", updated(Buffer::kBatchScratch)}});
      }
      std::visit([&](const auto& spec) { add_launch(phase(products[i]), spec, arguments); }, specs[i]);
    }
  }

  const Network& network_;
  const ModelConfig& config_;
  const PassShape& shape_;
  const std::vector<WeightFormats> formats_;
  const std::vector<uint32_t> slots_ = config_.cache_slot_of_layer();
  DecoderAttentionSpec attention_;
  std::vector<KvScatterSpec> scatters_;             // for prompts; otherwise attention includes them
  std::vector<std::vector<ProductSpec>> products_;  // of products_of(operation)
  std::map<uint32_t, PlannedExperts> experts_;      // by operation
  F16ActivationsSpec f16_activations_;
  const Operation* operation_ = nullptr;
  LaunchList list_;
};

}  // namespace

const Operand* KernelLaunch::find_argument(std::string_view name) const {
  const auto found = std::ranges::find(arguments, name, &NamedOperand::name);
  return found == arguments.end() ? nullptr : &found->value;
}

std::vector<Operand> operands_of(const KernelLaunch& launch, const ptx::Kernel& kernel) {
  std::vector<Operand> operands;
  size_t n_named = 0;
  for (const ptx::Parameter& parameter : kernel.parameters) {
    const bool is_columns = parameter.name == "n_columns" || parameter.name == "n_queries";
    const Operand columns = Operand::of(Kind::kColumns);
    const Operand* operand = is_columns ? &columns : launch.find_argument(parameter.name);
    if (operand == nullptr) throw Error(kernel.name + " gets no argument " + parameter.name);
    const bool is_address = parameter.pointer || parameter.type == ptx::Type::kU64;
    if (is_address != operand->is_address())
      throw Error(kernel.name + " gets no " + (is_address ? "address " : "number ") + parameter.name);
    operands.push_back(*operand);
    n_named += is_columns ? 0 : 1;
  }
  for (const NamedOperand& argument : launch.arguments)
    if (n_named != launch.arguments.size() &&
        std::ranges::find(kernel.parameters, argument.name, &ptx::Parameter::name) == kernel.parameters.end())
      throw Error(kernel.name + " has no parameter " + argument.name);
  return operands;
}

uint64_t PassAddresses::of(const Operand& operand, uint32_t layer) const {
  switch (operand.kind) {
    case Operand::Kind::kAbsent:
    case Operand::Kind::kColumns:
      return 0;
    case Operand::Kind::kNumber:
      return operand.number;
    case Operand::Kind::kPages:
      return n_pages;
    case Operand::Kind::kWeight:
      return weights.at(layer)[operand.weight];
    case Operand::Kind::kBuffer:
    case Operand::Kind::kHalves:
    case Operand::Kind::kFactors:
      break;
  }
  if (operand.buffer == Buffer::kKeys) return keys.at(layer);
  if (operand.buffer == Buffer::kValues) return values.at(layer);
  return (*this)[operand.buffer];
}

LaunchList launch_list(const Network& network, const ModelConfig& config, const DecoderFormats& formats,
                       const PassShape& shape) {
  return ListMaker(network, config, formats, shape).make();
}

DecoderFormats formats_of(const ModelTensors& tensors) {
  const auto type_of = [](const TensorInfo* matrix) { return matrix ? kernel_type(matrix->type) : TensorType::kF32; };
  DecoderFormats formats{type_of(tensors.token_embd), type_of(tensors.output), {}, tensors.output_bias != nullptr};
  for (const LayerTensors& t : tensors.layers)
    formats.layers.push_back({map(t.matrices, type_of),
                              map(t.vectors, [](const TensorInfo* vector) { return vector != nullptr; }),
                              map(t.experts, type_of), map(t.delta_matrices, type_of)});
  return formats;
}

PassKind kind_of_tokens(uint32_t n_sequences) {
  return n_sequences == 1 ? PassKind::kDecode : n_sequences <= kFewSequences ? PassKind::kSmallBatch : PassKind::kBatch;
}

DecoderAttentionSpec decoder_attention(const ModelConfig& c, const PassShape& shape) {
  const bool flash_takes_heads = c.head_dim >= 64 && c.head_dim % 16 == 0;
  const KvTypes cache = shape.cache;
  if (shape.kind == PassKind::kPrefill && flash_takes_heads)
    return FlashAttentionSpec{c.n_heads, c.n_kv_heads, c.head_dim, shape.context,    true,
                              0,         cache.k,      cache.v,    c.gated_attention};
  // It writes the keys that the next column of a draft reads.
  const uint32_t columns = shape.kind == PassKind::kVerify ? 1 : shape.columns;
  AttentionSpec spec{c.n_heads, c.n_kv_heads, c.head_dim, shape.context, columns};
  spec.lengths_are_positions = true;
  spec.k_type = cache.k, spec.v_type = cache.v;
  spec.gated = c.gated_attention;
  if (shape.kind == PassKind::kBatch) spec.pages_per_block = pages_per_block(spec);
  if (shape.kind != PassKind::kPrefill) return spec;
  spec.columns = kGemvColumns;
  spec.one_sequence = true;
  return spec;
}

// Tiles hold twice an expert's average number of assignments: few experts then need a second tile, and few columns of a
// block are empty.
ExpertOrderSpec decoder_expert_order(const ExpertsConfig& e, uint32_t columns) {
  const uint64_t twice_average = (2 * uint64_t{columns} * e.n_used + e.n - 1) / e.n;
  const uint64_t tile = std::min<uint64_t>(kMaxGemmColumns, (twice_average + 7) / 8 * 8);
  return {e.n, e.n_used, static_cast<uint32_t>(tile), columns};
}

}  // namespace warpchat
