#include "kernels/persistent/persistent_tables.h"

#include <algorithm>
#include <span>

#include "kernels/matmul/product.h"

namespace warpchat {
namespace {

uint64_t matrix_bytes(const GemvSpec& spec) { return uint64_t{spec.rows} * packed_bytes_per_row(spec.weights, spec.k); }

uint32_t expert_stride(TensorType type, const GemvSpec& spec) {
  return static_cast<uint32_t>(spec.rows * packed_bytes_per_row(type, spec.k) / 16);
}

// A launch's product and its place in the table.
struct Placed {
  const KernelLaunch* launch;
  ProductRow* row;
  const GemvSpec& spec() const { return *product_of(*launch); }
  bool is_of_experts() const { return std::holds_alternative<ExpertProductSpec>(launch->spec); }
  uint32_t n() const {  // concurrent products of this kind
    return is_of_experts() ? std::get<ExpertProductSpec>(launch->spec).n_used : 1;
  }
};

class TableWriter {
 public:
  TableWriter(const LaunchList& list, const PassAddresses& at, uint32_t n_blocks, uint64_t bytes_ahead)
      : list_(list),
        at_(at),
        n_blocks_(n_blocks),
        ahead_of_block_(bytes_ahead / n_blocks),
        variants_(product_variants(list)) {}

  std::vector<LayerRow> write() const {
    std::vector<LayerRow> rows(list_.layers.size() + 1);
    const std::vector<PhaseSet> phases = phases_of_layers(list_);
    for (size_t i = 0; i < phases.size(); ++i) rows[i].phases = phases[i];
    for (const OperationLaunches& operation : list_.operations) {
      LayerRow& row = rows.at(operation.layer);
      for (PhaseKind phase :
           {PhaseKind::kQkv, PhaseKind::kOutput, PhaseKind::kGateUp, PhaseKind::kDown, PhaseKind::kRouter,
            PhaseKind::kExpertsGateUp, PhaseKind::kExpertsDown, PhaseKind::kLogits})
        set_products(row, operation, phase);
      for (const KernelLaunch& launch : operation.launches) set_operands(row, launch, operation.layer);
    }
    return rows;
  }

 private:
  // The products of a phase share the grid's blocks.
  void set_products(LayerRow& row, const OperationLaunches& operation, PhaseKind phase) const {
    std::vector<Placed> placed;
    for (const KernelLaunch& launch : operation.launches)
      if (launch.phase == phase && product_of(launch) != nullptr)
        placed.push_back({&launch, &row_of(row, launch, placed.size())});
    std::ranges::stable_partition(placed, &Placed::is_of_experts);  // before the shared expert's
    std::vector<ProductRow*> rows;
    std::vector<uint64_t> bytes;
    for (const Placed& p : placed) {
      *p.row = product(p, operation.layer);
      rows.push_back(p.row), bytes.push_back(p.n() * matrix_bytes(p.spec()));
    }
    if (rows.size() > 1) share_blocks(rows, bytes, n_blocks_);
    // Experts are known only after the router, so their first weights are not prefetched.
    for (const Placed& p : placed)
      if (phase != PhaseKind::kExpertsGateUp || !p.is_of_experts()) set_ahead(p);
  }

  static ProductRow& row_of(LayerRow& row, const KernelLaunch& launch, size_t nth) {
    const bool is_of_experts = std::holds_alternative<ExpertProductSpec>(launch.spec);
    switch (launch.phase) {
      case PhaseKind::kOutput:
        return row.output;
      case PhaseKind::kGateUp:
      case PhaseKind::kExpertsGateUp:
        return is_of_experts ? row.expert_gate_up : row.gate_up;
      case PhaseKind::kDown:
      case PhaseKind::kExpertsDown:
        return is_of_experts ? row.expert_down : row.down;
      case PhaseKind::kRouter:
        return nth == 0 ? row.router : row.shared_expert_gate;
      default:
        return row.first[nth];
    }
  }

  ProductRow product(const Placed& p, uint32_t layer) const {
    const auto address = [&](std::string_view name) {
      const Operand* operand = p.launch->find_argument(name);
      return operand != nullptr ? at_.of(*operand, layer) : 0;
    };
    const GemvSpec& spec = p.spec();
    ProductRow row{.weights = address("weights"),
                   .up = address("up"),
                   .gamma = address("gamma"),
                   .bias = address("bias"),
                   .y = address("y"),
                   .variant = variant_of(variants_[static_cast<size_t>(group_of(*p.launch))], spec),
                   .first_block = 0,
                   .n_blocks = n_blocks_,
                   .rows = spec.rows};
    if (!std::holds_alternative<ExpertProductSpec>(p.launch->spec)) return row;
    row.stride = expert_stride(spec.weights, spec);
    row.up_stride = expert_stride(spec.up.value_or(spec.weights), spec);
    return row;
  }

  // Prefetched bytes: each matrix divided equally over the row's blocks.
  void set_ahead(const Placed& p) const {
    const GemvSpec& spec = p.spec();
    const std::vector<ProductMatrix> matrices = matrices_of(spec);
    const auto part = [&](const ProductMatrix& matrix) {
      const uint64_t all = spec.rows * matrix.row_bytes / p.row->n_blocks;
      const uint64_t max = ahead_of_block_ / (p.n() * matrices.size());
      return static_cast<uint32_t>(std::min(all, max) / kAheadMultiple * kAheadMultiple);
    };
    p.row->ahead = part(matrices[0]);
    if (is_swiglu(spec.epilogue)) p.row->up_ahead = part(matrices.at(1));
  }

  // What the other launches of a layer read besides the activations.
  void set_operands(LayerRow& row, const KernelLaunch& launch, uint32_t layer) const {
    const auto set = [&](std::string_view name, auto& to) {
      const Operand* operand = launch.find_argument(name);
      if (operand != nullptr) to = static_cast<std::remove_cvref_t<decltype(to)>>(at_.of(*operand, layer));
    };
    switch (launch.phase) {
      case PhaseKind::kAttention:
        set("k_pages", row.k_pages), set("v_pages", row.v_pages), set("rope", row.rope);
        set("q_gamma", row.q_gamma), set("k_gamma", row.k_gamma);
        break;
      case PhaseKind::kConv:
        set("conv", row.conv), set("layer", row.place);
        break;
      case PhaseKind::kDelta:
        set("dt_bias", row.dt_bias), set("decay", row.decay), set("norm", row.delta_norm);
        break;
      default:
        break;
    }
  }

  const LaunchList& list_;
  const PassAddresses& at_;
  uint32_t n_blocks_;
  uint64_t ahead_of_block_;
  ProductVariants variants_;
};

}  // namespace

std::vector<LayerRow> layer_rows(const LaunchList& list, const PassAddresses& at, uint32_t n_blocks,
                                 uint64_t bytes_ahead) {
  return TableWriter(list, at, n_blocks, bytes_ahead).write();
}

}  // namespace warpchat
