// The decoder's steps on the CPU, in the order of its page. Each is one or two parallel loops over the pool.
#include "engine/cpu/cpu_steps.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "engine/cpu/memory_budget.h"
#include "engine/cpu/packed_matrix.h"
#include "engine/cpu/pages.h"
#include "engine/cpu/rope.h"
#include "engine/cpu/thread_pool.h"
#include "engine/profile.h"
#include "models/half.h"

namespace warpchat {
namespace {

struct Layer {
  PackedMatrix q, k, v, output, gate, up, down;
  std::vector<float> attn_norm, ffn_norm, q_bias, k_bias, v_bias, q_norm, k_norm;  // empty where the model has none
};

std::vector<float> floats_of(const TensorInfo* tensor) {
  std::vector<float> values(tensor == nullptr ? 0 : tensor->data.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), tensor->data.data(), tensor->data.size());
  return values;
}

float dot(const float* a, const float* b, uint32_t n) {
  float sums[16] = {};
  uint32_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (uint32_t j = 0; j < 16; ++j) sums[j] += a[i + j] * b[i + j];
  float sum = 0;
  for (; i < n; ++i) sum += a[i] * b[i];
  for (float s : sums) sum += s;
  return sum;
}

void rms_norm(const float* x, const float* gain, uint32_t n, float eps, float* out) {
  double squares = 0;
  for (uint32_t i = 0; i < n; ++i) squares += double{x[i]} * x[i];
  const float scale = static_cast<float>(1.0 / std::sqrt(squares / n + eps));
  for (uint32_t i = 0; i < n; ++i) out[i] = x[i] * scale * gain[i];
}

class CpuSteps final : public Steps {
 public:
  CpuSteps(const ModelConfig& config, const ModelTensors& tensors, const CpuOptions& options);

  uint32_t max_columns() const override { return max_columns_; }
  uint32_t max_positions() const override { return context_; }
  const PassState& buffers() const override { return state_; }
  Profile& profile() override { return profile_; }
  std::string description() const override {
    return "cpu: " + std::to_string(pool_.n_threads()) + (pool_.n_threads() == 1 ? " thread" : " threads");
  }

  void begin(std::span<const Token> tokens, uint32_t position) override;
  void embed(Buffer hidden) override;
  void norm_qkv(uint32_t layer, Buffer hidden, Buffer q, Buffer k, Buffer v) override;
  void rope_scatter(uint32_t layer, Buffer q, Buffer k, Buffer v) override;
  void attention(uint32_t layer, Buffer q, Buffer mixed) override;
  void output_residual(uint32_t layer, Buffer mixed, Buffer hidden) override;
  void norm_gate_up(uint32_t layer, Buffer hidden, Buffer inner) override;
  void down_residual(uint32_t layer, Buffer inner, Buffer hidden) override;
  void norm_logits(Buffer hidden, uint32_t first_column, Buffer logits) override;
  std::span<const float> read_logits(uint32_t column) override;

 private:
  void norm_columns(Buffer hidden, const std::vector<float>& gain, uint32_t first_column);
  template <class Done>
  void multiply(const PackedMatrix& matrix, const float* x, uint32_t columns, const Done& done);
  f16* cache(const Pages& pages, uint32_t layer, uint32_t kv_head, uint32_t position) const {
    return pages.as<f16>() +
           ((uint64_t{layer} * config_.n_kv_heads + kv_head) * context_ + position) * config_.head_dim;
  }
  uint64_t column_bytes(uint64_t values) const { return n_columns() * values * sizeof(float); }
  uint32_t n_columns() const { return static_cast<uint32_t>(tokens_.size()); }

  ModelConfig config_;
  uint32_t context_, max_columns_;
  ThreadPool pool_;
  RopeTable rope_;
  PackedMatrix embedding_, output_;
  std::vector<Layer> layers_;
  std::vector<float> output_norm_;
  Pages activations_, normed_, keys_, values_;
  std::vector<float> logits_;
  uint32_t first_logits_column_ = 0;
  PassState state_;
  std::vector<Token> tokens_;
  uint32_t position_ = 0;
  Profile profile_;
  uint32_t op_embed_, op_qkv_, op_rope_, op_attention_, op_output_, op_gate_up_, op_down_, op_logits_;
};

CpuSteps::CpuSteps(const ModelConfig& config, const ModelTensors& tensors, const CpuOptions& options)
    : config_(config),
      context_(options.context),
      max_columns_(options.max_columns),
      pool_(options.threads > 0 ? options.threads : physical_cores()),
      rope_(config),
      embedding_(*tensors.token_embd),
      output_(*tensors.output),
      output_norm_(floats_of(tensors.output_norm)) {
  for (const LayerTensors& t : tensors.layers)
    layers_.push_back({PackedMatrix(*t.attn_q), PackedMatrix(*t.attn_k), PackedMatrix(*t.attn_v),
                       PackedMatrix(*t.attn_output), PackedMatrix(*t.ffn_gate), PackedMatrix(*t.ffn_up),
                       PackedMatrix(*t.ffn_down), floats_of(t.attn_norm), floats_of(t.ffn_norm),
                       floats_of(t.attn_q_bias), floats_of(t.attn_k_bias), floats_of(t.attn_v_bias),
                       floats_of(t.attn_q_norm), floats_of(t.attn_k_norm)});
  const uint32_t q_width = config.n_heads * config.head_dim, kv_width = config.n_kv_heads * config.head_dim;
  const uint64_t cache_bytes = uint64_t{config.n_layers} * kv_width * context_ * sizeof(f16);
  keys_ = Pages(cache_bytes, "the keys of the KV cache");
  values_ = Pages(cache_bytes, "the values of the KV cache");
  const uint64_t widths = uint64_t{config.hidden} + 2 * q_width + 2 * kv_width + config.ffn;
  activations_ = Pages(max_columns_ * widths * sizeof(float), "activations");
  normed_ = Pages(uint64_t{max_columns_} * config.hidden * sizeof(float), "activations");
  float* next = activations_.as<float>();
  const auto take = [&](uint32_t width) {
    Buffer buffer{next, width};
    next += uint64_t{max_columns_} * width;
    return buffer;
  };
  state_ = {take(config.hidden), take(q_width),    take(kv_width),           take(kv_width),
            take(q_width),       take(config.ffn), {nullptr, config.n_vocab}};
  op_embed_ = profile_.operation("embed");
  op_qkv_ = profile_.operation("norm_qkv");
  op_rope_ = profile_.operation("rope_scatter");
  op_attention_ = profile_.operation("attention");
  op_output_ = profile_.operation("output_residual");
  op_gate_up_ = profile_.operation("norm_gate_up");
  op_down_ = profile_.operation("down_residual");
  op_logits_ = profile_.operation("norm_logits");
  if (options.progress) options.progress(1.0);
}

float* floats(Buffer buffer) { return static_cast<float*>(buffer.data); }

void CpuSteps::begin(std::span<const Token> tokens, uint32_t position) {
  assert(!tokens.empty() && tokens.size() <= max_columns_ && position + tokens.size() <= context_);
  tokens_.assign(tokens.begin(), tokens.end());
  position_ = position;
  rope_.prepare(pool_, position, n_columns());
}

void CpuSteps::embed(Buffer hidden) {
  OperationTimer timer(profile_, op_embed_, column_bytes(hidden.width));
  pool_.for_each(n_columns(), [&](uint32_t column) {
    embedding_.read_row(static_cast<uint32_t>(tokens_[column]), floats(hidden) + uint64_t{column} * hidden.width);
  });
}

void CpuSteps::norm_columns(Buffer hidden, const std::vector<float>& gain, uint32_t first_column) {
  pool_.for_each(n_columns() - first_column, [&](uint32_t column) {
    rms_norm(floats(hidden) + uint64_t{first_column + column} * hidden.width, gain.data(), hidden.width,
             config_.rms_eps, normed_.as<float>() + uint64_t{column} * hidden.width);
  });
}

// done(row, column, W[row, :] . x[column, :])
template <class Done>
void CpuSteps::multiply(const PackedMatrix& matrix, const float* x, uint32_t columns, const Done& done) {
  constexpr uint32_t kRowsPerTask = 16;
  pool_.for_each((matrix.rows() + kRowsPerTask - 1) / kRowsPerTask, [&](uint32_t task) {
    thread_local std::vector<float> weights;
    weights.resize(matrix.k());
    for (uint32_t row = task * kRowsPerTask; row < std::min(matrix.rows(), (task + 1) * kRowsPerTask); ++row) {
      matrix.read_row(row, weights.data());
      for (uint32_t column = 0; column < columns; ++column)
        done(row, column, dot(weights.data(), x + uint64_t{column} * matrix.k(), matrix.k()));
    }
  });
}

void CpuSteps::norm_qkv(uint32_t index, Buffer hidden, Buffer q, Buffer k, Buffer v) {
  const Layer& layer = layers_[index];
  OperationTimer timer(profile_, op_qkv_,
                       layer.q.n_bytes() + layer.k.n_bytes() + layer.v.n_bytes() +
                           column_bytes(hidden.width + q.width + k.width + v.width));
  norm_columns(hidden, layer.attn_norm, 0);
  const auto project = [&](const PackedMatrix& matrix, const std::vector<float>& bias, Buffer out) {
    multiply(matrix, normed_.as<float>(), n_columns(), [&](uint32_t row, uint32_t column, float sum) {
      floats(out)[uint64_t{column} * out.width + row] = bias.empty() ? sum : sum + bias[row];
    });
  };
  project(layer.q, layer.q_bias, q);
  project(layer.k, layer.k_bias, k);
  project(layer.v, layer.v_bias, v);
}

void CpuSteps::rope_scatter(uint32_t index, Buffer q, Buffer k, Buffer v) {
  const Layer& layer = layers_[index];
  OperationTimer timer(profile_, op_rope_, column_bytes(2 * q.width + 3 * k.width));
  const uint32_t head_dim = config_.head_dim;
  pool_.for_each(n_columns(), [&](uint32_t column) {
    const auto turn = [&](float* head, const std::vector<float>& gain) {
      if (!gain.empty()) rms_norm(head, gain.data(), head_dim, config_.rms_eps, head);
      rope_.rotate(column, head);
    };
    for (uint32_t h = 0; h < config_.n_heads; ++h)
      turn(floats(q) + uint64_t{column} * q.width + h * head_dim, layer.q_norm);
    for (uint32_t h = 0; h < config_.n_kv_heads; ++h) {
      float* key = floats(k) + uint64_t{column} * k.width + h * head_dim;
      const float* value = floats(v) + uint64_t{column} * v.width + h * head_dim;
      turn(key, layer.k_norm);
      f16 *key_slot = cache(keys_, index, h, position_ + column),
          *value_slot = cache(values_, index, h, position_ + column);
      for (uint32_t i = 0; i < head_dim; ++i) {
        key_slot[i] = to_f16(key[i]);
        value_slot[i] = to_f16(value[i]);
      }
    }
  });
}

void CpuSteps::attention(uint32_t index, Buffer q, Buffer mixed) {
  const uint32_t head_dim = config_.head_dim, group = config_.n_heads / config_.n_kv_heads;
  OperationTimer timer(
      profile_, op_attention_,
      column_bytes(2 * q.width) + uint64_t{position_ + n_columns()} * 4 * config_.n_kv_heads * head_dim);
  pool_.for_each(n_columns() * config_.n_heads, [&](uint32_t task) {
    const uint32_t column = task / config_.n_heads, head = task % config_.n_heads;
    const uint32_t length = position_ + column + 1;
    const float* query = floats(q) + uint64_t{column} * q.width + head * head_dim;
    float* out = floats(mixed) + uint64_t{column} * mixed.width + head * head_dim;
    thread_local std::vector<float> scores, row;
    scores.resize(length);
    row.resize(head_dim);
    const f16 *keys = cache(keys_, index, head / group, 0), *values = cache(values_, index, head / group, 0);
    float highest = -std::numeric_limits<float>::infinity();
    for (uint32_t t = 0; t < length; ++t) {
      for (uint32_t i = 0; i < head_dim; ++i) row[i] = to_float(keys[uint64_t{t} * head_dim + i]);
      scores[t] = dot(query, row.data(), head_dim) / std::sqrt(static_cast<float>(head_dim));
      highest = std::max(highest, scores[t]);
    }
    float sum = 0;
    for (float& score : scores) sum += score = std::exp(score - highest);
    std::fill_n(out, head_dim, 0.0f);
    for (uint32_t t = 0; t < length; ++t)
      for (uint32_t i = 0; i < head_dim; ++i) out[i] += scores[t] / sum * to_float(values[uint64_t{t} * head_dim + i]);
  });
}

void CpuSteps::output_residual(uint32_t index, Buffer mixed, Buffer hidden) {
  const PackedMatrix& matrix = layers_[index].output;
  OperationTimer timer(profile_, op_output_, matrix.n_bytes() + column_bytes(mixed.width + 2 * hidden.width));
  multiply(matrix, floats(mixed), n_columns(), [&](uint32_t row, uint32_t column, float sum) {
    floats(hidden)[uint64_t{column} * hidden.width + row] += sum;
  });
}

void CpuSteps::norm_gate_up(uint32_t index, Buffer hidden, Buffer inner) {
  const Layer& layer = layers_[index];
  OperationTimer timer(profile_, op_gate_up_,
                       layer.gate.n_bytes() + layer.up.n_bytes() + column_bytes(hidden.width + inner.width));
  norm_columns(hidden, layer.ffn_norm, 0);
  const auto at = [&](uint32_t row, uint32_t column) -> float& {
    return floats(inner)[uint64_t{column} * inner.width + row];
  };
  multiply(layer.gate, normed_.as<float>(), n_columns(),
           [&](uint32_t row, uint32_t column, float sum) { at(row, column) = sum / (1 + std::exp(-sum)); });
  multiply(layer.up, normed_.as<float>(), n_columns(),
           [&](uint32_t row, uint32_t column, float sum) { at(row, column) *= sum; });
}

void CpuSteps::down_residual(uint32_t index, Buffer inner, Buffer hidden) {
  const PackedMatrix& matrix = layers_[index].down;
  OperationTimer timer(profile_, op_down_, matrix.n_bytes() + column_bytes(inner.width + 2 * hidden.width));
  multiply(matrix, floats(inner), n_columns(), [&](uint32_t row, uint32_t column, float sum) {
    floats(hidden)[uint64_t{column} * hidden.width + row] += sum;
  });
}

void CpuSteps::norm_logits(Buffer hidden, uint32_t first_column, Buffer) {
  const uint32_t columns = n_columns() - first_column;
  OperationTimer timer(profile_, op_logits_,
                       output_.n_bytes() + uint64_t{columns} * (hidden.width + config_.n_vocab) * sizeof(float));
  norm_columns(hidden, output_norm_, first_column);
  first_logits_column_ = first_column;
  logits_.resize(uint64_t{columns} * config_.n_vocab);
  multiply(output_, normed_.as<float>(), columns,
           [&](uint32_t row, uint32_t column, float sum) { logits_[uint64_t{column} * config_.n_vocab + row] = sum; });
}

std::span<const float> CpuSteps::read_logits(uint32_t column) {
  assert(column >= first_logits_column_ && column < n_columns());
  return std::span(logits_).subspan(uint64_t{column - first_logits_column_} * config_.n_vocab, config_.n_vocab);
}

}  // namespace

uint64_t cpu_memory_needed(const ModelConfig& config, const ModelTensors& tensors, const CpuOptions& options) {
  return memory_budget(config, tensors, options.max_columns).total(options.context);
}

std::unique_ptr<Steps> make_cpu_steps(const ModelConfig& config, const ModelTensors& tensors,
                                      const CpuOptions& options) {
  assert(options.context > 0 && options.max_columns > 0);
  check_memory(memory_budget(config, tensors, options.max_columns), options.context, available_memory());
  return std::make_unique<CpuSteps>(config, tensors, options);
}

}  // namespace warpchat
