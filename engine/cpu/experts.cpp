// Assignments are sorted by expert, so that each expert's weights are read once for all of its columns. A column adds
// expert outputs in order of expert number, so its bits depend on no other column.
#include "engine/cpu/experts.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>

#include "engine/cpu/thread_pool.h"
#include "engine/memory_budget.h"

namespace warpchat {
namespace {

constexpr float kMinSum = 0x1p-14f;  // lower bound of the routing weights' sum when they are normalised

// At least the number for one column, and the number of experts.
uint32_t max_assignments(const ModelConfig& config, uint32_t max_columns) {
  return std::max(max_columns, config.experts.n_used);
}

}  // namespace

uint64_t ExpertRunner::bytes_needed(const ModelConfig& config, uint32_t max_columns) {
  if (config.experts.n == 0) return 0;
  return saturating_product(
      {sizeof(float),
       saturating_sum({saturating_product({max_columns, uint64_t{config.hidden} + config.experts.shared_ffn}),
                       saturating_product(
                           {max_assignments(config, max_columns), uint64_t{config.hidden} + config.experts.ffn})})});
}

ExpertRunner::ExpertRunner(ThreadPool& pool, const CpuKernels& kernels, ProductRunner& products,
                           const FileMappings& mappings, Arena& arena, const ModelConfig& config, uint32_t max_columns)
    : pool_(pool),
      kernels_(kernels),
      products_(products),
      mappings_(mappings),
      arena_(arena),
      config_(config.experts),
      max_assignments_(config_.n > 0 ? max_assignments(config, max_columns) : 0),
      sums_(config_.n > 0 ? uint64_t{max_columns} * config.hidden * sizeof(float) : 0, "activations"),
      shared_inner_(uint64_t{max_columns} * config_.shared_ffn * sizeof(float), "activations"),
      inner_(uint64_t{max_assignments_} * config_.ffn * sizeof(float), "activations"),
      outputs_(uint64_t{max_assignments_} * config.hidden * sizeof(float), "activations") {}

LayerExperts ExpertRunner::load(const ExpertMatrices<const TensorInfo*>& tensors) {
  LayerExperts layer{tensors, {}};
  for_each(
      [&](std::vector<PackedMatrix>& matrices, const TensorInfo* tensor, bool is_of_each) {
        if (tensor == nullptr) return;
        if (is_of_each) {
          matrices.resize(config_.n);
        } else {
          matrices.emplace_back(pool_, kernels_, *tensor, mappings_, arena_);
        }
      },
      layer.packed, tensors, kIsPerExpert);
  return layer;
}

void ExpertRunner::choose(const float* scores, uint32_t columns) {
  assignments_.resize(uint64_t{columns} * config_.n_used);
  std::vector<uint32_t> best(config_.n);
  for (uint32_t column = 0; column < columns; ++column) {
    const float* score = scores + uint64_t{column} * config_.n;
    std::iota(best.begin(), best.end(), 0u);
    std::partial_sort(best.begin(), best.begin() + config_.n_used, best.end(),
                      [&](uint32_t a, uint32_t b) { return score[a] > score[b] || (score[a] == score[b] && a < b); });
    float sum_of_all = 0, sum_of_used = 0;
    for (uint32_t e = 0; e < config_.n; ++e) sum_of_all += std::exp(score[e] - score[best[0]]);
    Use* assignments = assignments_.data() + uint64_t{column} * config_.n_used;
    for (uint32_t i = 0; i < config_.n_used; ++i) {
      assignments[i] = {best[i], column, std::exp(score[best[i]] - score[best[0]]) / sum_of_all};
      sum_of_used += assignments[i].weight;
    }
    const float divisor = config_.normalises ? std::max(sum_of_used, kMinSum) : 1;
    for (uint32_t i = 0; i < config_.n_used; ++i) assignments[i].weight *= config_.scale / divisor;
  }
  std::ranges::sort(assignments_, {}, [](const Use& use) { return std::pair(use.expert, use.column); });
}

const PackedMatrix& ExpertRunner::packed(std::vector<PackedMatrix>& experts, const TensorInfo& tensor, uint32_t index) {
  PackedMatrix& matrix = experts[index];
  if (matrix.rows() == 0) matrix = PackedMatrix(pool_, kernels_, expert_of(tensor, index), mappings_, arena_);
  return matrix;
}

// sums_ = its output, gated by the sigmoid of a dot product with the normalised input
uint64_t ExpertRunner::run_shared(const LayerExperts& layer, const ProductInput& input,
                                  const std::vector<float>& shared_expert_gate) {
  const PackedMatrix &gate = layer.packed.shared_gate[0], &up = layer.packed.shared_up[0],
                     &down = layer.packed.shared_down[0];
  float *sums = sums_.as<float>(), *inner = shared_inner_.as<float>();
  const Product swiglu{&up, inner, Epilogue::kStore, nullptr, &gate}, output{&down, sums};
  products_.run(input, {&swiglu, 1});
  products_.run({inner, input.columns, config_.shared_ffn}, {&output, 1});
  pool_.for_each(input.columns, [&](uint32_t column) {
    const float* x = input.x + uint64_t{column} * input.k;
    double squares = 0, dot = 0;
    for (uint32_t i = 0; i < input.k; ++i) {
      squares += double{x[i]} * x[i];
      dot += double{x[i]} * input.gain[i] * shared_expert_gate[i];
    }
    const double rms = std::sqrt(squares / input.k + input.eps);
    const auto share = static_cast<float>(1 / (1 + std::exp(-dot / rms)));
    for (uint32_t i = 0; i < input.k; ++i) sums[uint64_t{column} * input.k + i] *= share;
  });
  return gate.n_bytes() + up.n_bytes() + down.n_bytes();
}

uint64_t ExpertRunner::run(LayerExperts& layer, const ProductInput& input, const std::vector<float>& shared_expert_gate,
                           float* hidden) {
  const uint32_t width = input.k;
  float *sums = sums_.as<float>(), *inner = inner_.as<float>(), *outputs = outputs_.as<float>();
  std::vector<ProductGroup> gated, down;
  std::vector<uint32_t> columns;
  uint64_t n_bytes = 0;
  if (config_.shared_ffn > 0) {
    n_bytes = run_shared(layer, input, shared_expert_gate);
  } else {
    std::fill_n(sums, uint64_t{input.columns} * width, 0.0f);
  }
  for (uint32_t i = 0; i < assignments_.size(); ++i) {
    const Use& use = assignments_[i];
    columns.push_back(use.column);
    if (i > 0 && use.expert == assignments_[i - 1].expert) {
      ++gated.back().end, ++down.back().end;
      continue;
    }
    const PackedMatrix& up = packed(layer.packed.up, *layer.tensors.up, use.expert);
    gated.push_back({&up, &packed(layer.packed.gate, *layer.tensors.gate, use.expert), i, i + 1});
    down.push_back({&packed(layer.packed.down, *layer.tensors.down, use.expert), nullptr, i, i + 1});
    n_bytes += up.n_bytes() + gated.back().gate->n_bytes() + down.back().matrix->n_bytes();
  }
  for (size_t first = 0, end; first < gated.size(); first = end) {
    // as many groups as the buffers can hold
    end = first + products_.fitting(std::span(gated).subspan(first));
    while (end > first + 1 && gated[end - 1].end - gated[first].first > max_assignments_) --end;
    const auto part = [&](const std::vector<ProductGroup>& groups) {
      return std::span(groups).subspan(first, end - first);
    };
    const uint32_t begin = gated[first].first, n = gated[end - 1].end - begin;
    products_.run_groups(input, columns.data() + begin, part(gated), inner);
    products_.run_groups({inner, n, gated[first].matrix->rows()}, nullptr, part(down), outputs);
    const auto add = [&](uint32_t first_value, uint32_t end_value) {
      for (uint32_t i = 0; i < n; ++i) {
        const Use& use = assignments_[begin + i];
        float* sum = sums + uint64_t{use.column} * width;
        const float* output = outputs + uint64_t{i} * width;
        for (uint32_t j = first_value; j < end_value; ++j) sum[j] += use.weight * output[j];
      }
    };
    const uint32_t n_parts = n > 64 ? pool_.n_threads() : 1;
    pool_.for_each(n_parts, [&](uint32_t p) {
      add(static_cast<uint32_t>(uint64_t{width} * p / n_parts),
          static_cast<uint32_t>(uint64_t{width} * (p + 1) / n_parts));
    });
  }
  pool_.for_each(input.columns, [&](uint32_t column) {
    for (uint64_t i = uint64_t{column} * width; i < uint64_t{column + 1} * width; ++i) hidden[i] += sums[i];
  });
  return n_bytes;
}

}  // namespace warpchat
