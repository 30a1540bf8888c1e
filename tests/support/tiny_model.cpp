// Weights are drawn so that every step matters: residual stream, attention scores and gates stay of order one.
#include "tests/support/tiny_model.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <span>

#include "tests/support/gguf/quantise.h"

namespace warpchat {
namespace {

class ModelKeys {
 public:
  ModelKeys(GgufWriter& writer, const TinyModelSpec& spec) : writer_(writer), spec_(spec) {}

  void add() {
    writer_.add_string("general.architecture", spec_.architecture);
    writer_.add_string("general.name", spec_.name.empty() ? "tiny " + spec_.architecture : spec_.name);
    writer_.add_uint32(key("block_count"), spec_.n_layers + spec_.n_unused_blocks);
    writer_.add_uint32(key("context_length"), spec_.context_length);
    writer_.add_uint32(key("embedding_length"), spec_.hidden);
    if (spec_.experts.n == 0) writer_.add_uint32(key("feed_forward_length"), spec_.ffn);
    writer_.add_uint32(key("attention.head_count"), spec_.n_heads);
    writer_.add_uint32(key("attention.head_count_kv"), spec_.n_kv_heads);
    writer_.add_float32(key("attention.layer_norm_rms_epsilon"), spec_.rms_eps);
    writer_.add_float32(key("rope.freq_base"), spec_.rope_base);
    if (spec_.head_dim) {
      writer_.add_uint32(key("attention.key_length"), spec_.head_dim);
      writer_.add_uint32(key("attention.value_length"), spec_.head_dim);
    }
    if (spec_.experts.n > 0) add_experts();
    if (spec_.delta_net.n_v_heads > 0) add_delta_net();
    if (spec_.n_unused_blocks > 0) writer_.add_uint32(key("nextn_predict_layers"), spec_.n_unused_blocks);
    if (spec_.rope_dims) writer_.add_uint32(key("rope.dimension_count"), spec_.rope_dims);
    add_rope_scaling(spec_.rope_scaling);
  }

 private:
  std::string key(const char* name) const { return spec_.architecture + "." + name; }

  void add_experts() {
    writer_.add_uint32(key("expert_count"), spec_.experts.n);
    writer_.add_uint32(key("expert_used_count"), spec_.experts.n_used);
    writer_.add_uint32(key("expert_feed_forward_length"), spec_.experts.ffn);
    if (spec_.experts.shared_ffn > 0)
      writer_.add_uint32(key("expert_shared_feed_forward_length"), spec_.experts.shared_ffn);
  }

  void add_delta_net() {
    writer_.add_uint32(key("ssm.conv_kernel"), spec_.delta_net.conv_kernel);
    writer_.add_uint32(key("ssm.state_size"), spec_.delta_net.head_dim);
    writer_.add_uint32(key("ssm.group_count"), spec_.delta_net.n_k_heads);
    writer_.add_uint32(key("ssm.time_step_rank"), spec_.delta_net.n_v_heads);
    writer_.add_uint32(key("ssm.inner_size"), spec_.delta_net.inner());
    writer_.add_uint32(key("full_attention_interval"), spec_.full_attention_interval);
  }

  void add_rope_scaling(const RopeScaling& scaling) {
    if (scaling.kind != RopeScaling::Kind::kLinear && scaling.kind != RopeScaling::Kind::kYarn) return;
    const bool yarn = scaling.kind == RopeScaling::Kind::kYarn;
    writer_.add_string(key("rope.scaling.type"), yarn ? "yarn" : "linear");
    writer_.add_float32(key("rope.scaling.factor"), static_cast<float>(scaling.factor));
    if (!yarn) return;
    writer_.add_uint32(key("rope.scaling.original_context_length"), scaling.original_context);
    writer_.add_float32(key("rope.scaling.attn_factor"), static_cast<float>(scaling.attention_factor));
    writer_.add_float32(key("rope.scaling.yarn_beta_fast"), static_cast<float>(scaling.beta_fast));
    writer_.add_float32(key("rope.scaling.yarn_beta_slow"), static_cast<float>(scaling.beta_slow));
    writer_.add_float32(key("rope.scaling.yarn_ext_factor"), static_cast<float>(scaling.extrapolation));
  }

  GgufWriter& writer_;
  const TinyModelSpec& spec_;
};

class Builder {
 public:
  Builder(const TinyModelSpec& spec, uint32_t seed) : spec_(spec), random_(seed) {}

  GgufWriter build() {
    add_model_keys(writer_, spec_);
    const uint32_t n_vocab = spec_.n_vocab ? spec_.n_vocab : vocabulary_size(spec_.vocabulary);
    add_vocabulary(writer_, spec_.vocabulary, n_vocab);
    add_embedding(n_vocab);
    for (uint32_t layer = 0; layer < spec_.n_layers; ++layer) add_layer(layer);
    for (uint32_t i = 0; i < spec_.n_unused_blocks; ++i)
      vector("blk." + std::to_string(spec_.n_layers + i) + ".nextn.enorm.weight", spec_.hidden, 1, 0.2f);
    add_output_norm();
    if (!spec_.tied_output) {
      // A stored column cannot be smaller than its format's step: times the outlier it would outweigh the rest.
      matrix("output.weight", spec_.formats.output, n_vocab, spec_.hidden, has_outlier() ? 0.3f : 3,
             {.small_column = true});
    }
    if (spec_.biases == TinyBiases::kEvery) vector("output.bias", n_vocab, 0, 1);
    if (spec_.rope_scaling.kind == RopeScaling::Kind::kLlama3) add_frequency_divisors();
    return std::move(writer_);
  }

 private:
  // Path of the outlier channel: it leaves a matrix through a large row and meets a small column in the next one.
  struct Outlier {
    bool large_row = false, small_column = false;
  };

  void add_layer(uint32_t layer) {
    const std::string blk = "blk." + std::to_string(layer) + ".";
    // With an outlier, norms do not hold the other channels at rms 1, so additions to them must be small.
    const float write_gain = has_outlier() ? 0.25f : 1;
    norm(blk + "attn_norm.weight");
    if (spec_.is_delta_net(layer)) {
      add_delta_net(blk, write_gain);
    } else {
      add_attention(blk, write_gain);
    }
    norm(blk + (is_hybrid() ? "post_attention_norm.weight" : "ffn_norm.weight"));
    if (spec_.experts.n > 0) return add_experts(blk, write_gain);
    const TinyFormats& f = spec_.formats;
    matrix(blk + "ffn_gate.weight", f.ffn_gate, spec_.ffn, spec_.hidden, 1.5f, {.small_column = true});
    matrix(blk + "ffn_up.weight", f.ffn_up, spec_.ffn, spec_.hidden, 1, {.large_row = true, .small_column = true});
    matrix(blk + "ffn_down.weight", f.ffn_down, spec_.hidden, spec_.ffn, write_gain, {.small_column = true});
    add_other_biases(blk, layer);
  }

  void add_other_biases(const std::string& blk, uint32_t layer) {
    const bool is_every = spec_.biases == TinyBiases::kEvery, is_some = spec_.biases == TinyBiases::kSome;
    const bool has_first = is_every || (is_some && layer % 2 == 1), has_last = is_every || (is_some && layer % 2 == 0);
    if (has_first) vector(blk + "attn_output.bias", spec_.hidden, 0, 0.5f);
    if (has_first) vector(blk + "ffn_gate.bias", spec_.ffn, 0, 0.5f);
    if (has_last) vector(blk + "ffn_up.bias", spec_.ffn, 0, 0.5f);
    if (has_last) vector(blk + "ffn_down.bias", spec_.hidden, 0, 0.5f);
  }

  // Hybrids have delta nets and gated attention.
  bool is_hybrid() const { return spec_.architecture.starts_with("qwen35") || spec_.architecture == "qwen3next"; }

  void add_attention(const std::string& blk, float write_gain) {
    const uint32_t q_rows = spec_.n_heads * spec_.head_size(), kv_rows = spec_.n_kv_heads * spec_.head_size();
    const TinyFormats& f = spec_.formats;
    matrix(blk + "attn_q.weight", f.attn_q, is_hybrid() ? 2 * q_rows : q_rows, spec_.hidden, 1.5f,
           {.small_column = true});
    matrix(blk + "attn_k.weight", f.attn_k, kv_rows, spec_.hidden, 1.5f, {.small_column = true});
    matrix(blk + "attn_v.weight", f.attn_v, kv_rows, spec_.hidden, 1, {.large_row = true, .small_column = true});
    matrix(blk + "attn_output.weight", f.attn_output, spec_.hidden, q_rows, write_gain, {.small_column = true});
    if (spec_.architecture.starts_with("qwen2")) add_biases(blk, q_rows, kv_rows);
    if (spec_.architecture.starts_with("qwen3")) {
      vector(blk + "attn_q_norm.weight", spec_.head_size(), 1.5f, 0.2f);
      vector(blk + "attn_k_norm.weight", spec_.head_size(), 1.5f, 0.2f);
    }
  }

  void add_biases(const std::string& blk, uint32_t q_rows, uint32_t kv_rows) {
    switch (spec_.biases) {
      case TinyBiases::kNone:
        return;
      case TinyBiases::kFused:
        return vector(blk + "attn_qkv.bias", q_rows + 2 * kv_rows, 0, 0.3f);
      case TinyBiases::kQueriesOnly:
        return vector(blk + "attn_q.bias", q_rows, 0, 0.5f);
      case TinyBiases::kUsual:
      case TinyBiases::kEvery:
      case TinyBiases::kSome:
        break;
    }
    vector(blk + "attn_q.bias", q_rows, 0, 0.5f);
    vector(blk + "attn_k.bias", kv_rows, 0, 0.5f);
    vector(blk + "attn_v.bias", kv_rows, 0, 0.1f);
  }

  // Heads decay by between a hundredth and a third of their state per token.
  void add_delta_net(const std::string& blk, float write_gain) {
    const DeltaNetConfig& net = spec_.delta_net;
    const TinyFormats& f = spec_.formats;
    if (spec_.older_layout) {
      matrix(blk + "ssm_in.weight", f.attn_q, net.channels() + net.inner(), spec_.hidden, 1.5f, {.small_column = true});
    } else {
      matrix(blk + "attn_qkv.weight", f.attn_q, net.channels(), spec_.hidden, 1.5f, {.small_column = true});
      matrix(blk + "attn_gate.weight", f.attn_k, net.inner(), spec_.hidden, 1.5f, {.small_column = true});
    }
    if (spec_.architecture == "qwen3next") {
      matrix(blk + "ssm_ba.weight", TensorType::kQ8_0, 2 * net.n_v_heads, spec_.hidden, 1, {.small_column = true});
    } else {
      matrix(blk + "ssm_alpha.weight", TensorType::kF32, net.n_v_heads, spec_.hidden, 1, {.small_column = true});
      matrix(blk + "ssm_beta.weight", TensorType::kQ8_0, net.n_v_heads, spec_.hidden, 1, {.small_column = true});
    }
    add(blk + "ssm_conv1d.weight", TensorType::kF32, {net.conv_kernel, net.channels()},
        random_numbers(uint64_t{net.conv_kernel} * net.channels(), 0, 0.7f));
    vector(blk + "ssm_dt.bias", net.n_v_heads, -1, 0.5f);
    std::vector<float> decay = random_numbers(net.n_v_heads, 0, 1);
    for (float& value : decay) value = -0.1f * std::exp(value);
    add(blk + "ssm_a", TensorType::kF32, {net.n_v_heads}, decay);
    vector(blk + "ssm_norm.weight", net.head_dim, 1, 0.2f);
    matrix(blk + "ssm_out.weight", f.attn_output, spec_.hidden, net.inner(), write_gain, {.small_column = true});
  }

  void add_experts(const std::string& blk, float write_gain) {
    const ExpertsConfig& e = spec_.experts;
    const TinyFormats& f = spec_.formats;
    // Router scores are far apart, so rounding does not change the chosen experts.
    matrix(blk + "ffn_gate_inp.weight", TensorType::kF32, e.n, spec_.hidden, 3, {.small_column = true});
    if (spec_.older_layout) {
      experts(blk + "ffn_gate_up_exps.weight", f.ffn_gate, 2 * e.ffn, spec_.hidden, 1.2f);
    } else {
      experts(blk + "ffn_gate_exps.weight", f.ffn_gate, e.ffn, spec_.hidden, 1.5f);
      experts(blk + "ffn_up_exps.weight", f.ffn_up, e.ffn, spec_.hidden, 1);
    }
    experts(blk + "ffn_down_exps.weight", f.ffn_down, spec_.hidden, e.ffn, write_gain);
    if (e.shared_ffn == 0) return;
    vector(blk + "ffn_gate_inp_shexp.weight", spec_.hidden, 0, 1 / std::sqrt(static_cast<float>(spec_.hidden)));
    matrix(blk + "ffn_gate_shexp.weight", f.ffn_gate, e.shared_ffn, spec_.hidden, 1.5f, {.small_column = true});
    matrix(blk + "ffn_up_shexp.weight", f.ffn_up, e.shared_ffn, spec_.hidden, 1, {.small_column = true});
    matrix(blk + "ffn_down_shexp.weight", f.ffn_down, spec_.hidden, e.shared_ffn, write_gain, {.small_column = true});
  }

  void experts(const std::string& name, TensorType type, uint64_t rows, uint64_t k, float gain) {
    add(name, type, {k, rows, spec_.experts.n},
        random_numbers(spec_.experts.n * rows * k, 0, gain / std::sqrt(static_cast<float>(k))));
  }

  // Llama 3's RoPE scaling in small: fast pairs keep their frequency, slow ones are divided by 8.
  void add_frequency_divisors() {
    std::vector<float> divisors((spec_.rope_dims ? spec_.rope_dims : spec_.head_size()) / 2);
    for (size_t i = 0; i < divisors.size(); ++i) {
      divisors[i] = 1 + 7 * static_cast<float>(i) / static_cast<float>(divisors.size());
    }
    add("rope_freqs.weight", TensorType::kF32, {divisors.size()}, divisors);
  }

  bool has_outlier() const { return spec_.outlier != 1; }

  // The residual stream's outlier is the same for every token, as in real models. A varying one would vary everything
  // else through the norm.
  void add_embedding(uint32_t n_vocab) {
    const float deviation = has_outlier() ? 1 : 2 / std::sqrt(static_cast<float>(spec_.hidden));
    std::vector<float> weights = random_numbers(uint64_t{n_vocab} * spec_.hidden, 0, deviation);
    for (uint64_t at = kOutlierChannel; has_outlier() && at < weights.size(); at += spec_.hidden) {
      weights[at] = spec_.outlier;
    }
    add("token_embd.weight", spec_.formats.token_embd, {spec_.hidden, n_vocab}, weights);
  }

  // The outlier takes most of the rms; the norm's gain brings the other channels back to order one.
  float norm_gain() const { return std::max(1.0f, spec_.outlier / std::sqrt(static_cast<float>(spec_.hidden))); }

  void norm(const std::string& name) { vector(name, spec_.hidden, norm_gain(), 0.2f * norm_gain()); }

  // With a tied output, the outlier would add the same huge logit for every token, so the last norm removes it.
  void add_output_norm() {
    const bool removed = has_outlier() && spec_.tied_output;
    const float gain = norm_gain() * (removed ? 2 / std::sqrt(static_cast<float>(spec_.hidden)) : 1);
    std::vector<float> gains = random_numbers(spec_.hidden, gain, 0.2f * gain);
    if (removed) gains[kOutlierChannel] = 0;
    add("output_norm.weight", TensorType::kF32, {spec_.hidden}, gains);
  }

  std::vector<float> random_numbers(uint64_t n, float mean, float deviation) {
    std::normal_distribution<float> normal(mean, deviation);
    std::vector<float> values(n);
    for (float& v : values) v = normal(random_);
    return values;
  }

  void vector(const std::string& name, uint64_t size, float mean, float deviation) {
    add(name, TensorType::kF32, {size}, random_numbers(size, mean, deviation));
  }

  // gain: the standard deviation of a row's product with an input of rms 1.
  void matrix(const std::string& name, TensorType type, uint64_t rows, uint64_t k, float gain, Outlier outlier) {
    std::vector<float> weights = random_numbers(rows * k, 0, gain / std::sqrt(static_cast<float>(k)));
    if (has_outlier()) place_outlier(weights, rows, k, outlier);
    add(name, type, {k, rows}, weights);
  }

  void place_outlier(std::vector<float>& weights, uint64_t rows, uint64_t k, Outlier outlier) const {
    const float smaller = std::sqrt(static_cast<float>(k)) / spec_.outlier;
    const uint64_t row = kOutlierChannel % rows, column = kOutlierChannel % k;
    for (uint64_t at = column; outlier.small_column && at < weights.size(); at += k) weights[at] *= smaller;
    for (uint64_t i = 0; outlier.large_row && i < k; ++i) weights[row * k + i] *= spec_.outlier;
  }

  void add(const std::string& name, TensorType type, std::vector<uint64_t> shape, std::span<const float> weights) {
    std::vector<std::byte> bytes;
    for (size_t at = 0; at < weights.size(); at += shape[0]) {
      const std::vector<std::byte> row = quantise_row(type, weights.subspan(at, shape[0]));
      bytes.insert(bytes.end(), row.begin(), row.end());
    }
    writer_.add_tensor(name, type, shape, bytes);
  }

  static constexpr uint64_t kOutlierChannel = 37;

  const TinyModelSpec& spec_;
  std::mt19937 random_;
  GgufWriter writer_;
};

}  // namespace

void add_model_keys(GgufWriter& writer, const TinyModelSpec& spec) { ModelKeys(writer, spec).add(); }

TinyFormats TinyFormats::q4_k_m() {
  TinyFormats formats = all(TensorType::kQ4_K);
  formats.token_embd = formats.output = formats.attn_v = formats.ffn_down = TensorType::kQ6_K;
  return formats;
}

GgufWriter tiny_model(const TinyModelSpec& spec, uint32_t seed) { return Builder(spec, seed).build(); }

std::vector<std::byte> build_tiny_model(const TinyModelSpec& spec, uint32_t seed) {
  return tiny_model(spec, seed).bytes();
}

}  // namespace warpchat
