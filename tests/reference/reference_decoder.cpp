// Each layer handles the whole sequence at once. Activations are [n_tokens, size] except inside `multiply`. Its sums
// run in the order of k for every token, so more tokens side by side change no bit.
#include "tests/reference/reference_decoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>

#include "models/dequantise.h"
#include "models/model_config.h"

namespace warpchat {
namespace {

using Array = std::vector<double>;  // row-major

// Calls work(begin, end) for ranges of 0 .. n on all cores.
void in_parallel(size_t n, const std::function<void(size_t, size_t)>& work) {
  const size_t n_threads = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < n_threads; ++i) {
    threads.emplace_back([&, i] { work(n * i / n_threads, n * (i + 1) / n_threads); });
  }
  for (std::thread& thread : threads) thread.join();
}

// Writes row `row` of a tensor to k doubles at `out`.
void read_row(const TensorInfo& tensor, size_t row, double* out) {
  dequantise_row(tensor.type, tensor.row(row), std::span(out, tensor.k()));
}

Array vector_of(const TensorInfo& tensor) {
  Array values(tensor.k());
  read_row(tensor, 0, values.data());
  return values;
}

// A tile is 4 rows by 16 tokens: its sums fit the registers.
constexpr size_t kTileRows = 4, kLanes = 8, kTileTokens = 2 * kLanes;
using Lanes [[gnu::vector_size(kLanes * sizeof(double))]] = double;

// sums[row, t] = weights[row, :] . inputs[:, t]; weights [kTileRows, k], inputs [k, kTileTokens].
[[gnu::always_inline]] inline void multiply_tile(const double* weights, const double* inputs, size_t k, double* sums) {
  Lanes partial[kTileRows][2] = {};
  for (size_t i = 0; i < k; ++i) {
    Lanes x[2];
    std::memcpy(x, inputs + i * kTileTokens, sizeof x);
    for (size_t row = 0; row < kTileRows; ++row) {
      partial[row][0] += weights[row * k + i] * x[0];
      partial[row][1] += weights[row * k + i] * x[1];
    }
  }
  std::memcpy(sums, partial, sizeof partial);
}

// The same instructions on wider registers if available. Each token's sum keeps its order, and so its bits.
#if defined(__x86_64__)
[[gnu::target("avx512f")]] void multiply_tile_avx512(const double* w, const double* x, size_t k, double* sums) {
  multiply_tile(w, x, k, sums);
}
[[gnu::target("avx2")]] void multiply_tile_avx2(const double* w, const double* x, size_t k, double* sums) {
  multiply_tile(w, x, k, sums);
}
#endif
void multiply_tile_plain(const double* w, const double* x, size_t k, double* sums) { multiply_tile(w, x, k, sums); }

auto widest_multiply_tile() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return multiply_tile_avx512;
  if (__builtin_cpu_supports("avx2")) return multiply_tile_avx2;
#endif
  return multiply_tile_plain;
}

// Splits x [n_tokens, k] into tiles [k, kTileTokens]; zeros pad the last one.
Array tiles_of(const Array& x, size_t k) {
  const size_t n_tokens = x.size() / k;
  Array tiles((n_tokens + kTileTokens - 1) / kTileTokens * kTileTokens * k);
  for (size_t t = 0; t < n_tokens; ++t) {
    double* tile = tiles.data() + t / kTileTokens * kTileTokens * k;
    for (size_t i = 0; i < k; ++i) tile[i * kTileTokens + t % kTileTokens] = x[t * k + i];
  }
  return tiles;
}

// y[t, row] = matrix[row, :] . x[t, :] + bias[row]: x [n_tokens, k], y [n_tokens, rows]; bias F32 or null.
Array multiply(const TensorInfo& matrix, const Array& x, const TensorInfo* bias = nullptr) {
  const size_t k = matrix.k(), rows = matrix.rows(), n_tokens = x.size() / k;
  const Array tiles = tiles_of(x, k), offsets = bias ? vector_of(*bias) : Array(rows);
  const auto multiply_one = widest_multiply_tile();
  Array y(n_tokens * rows);
  in_parallel((rows + kTileRows - 1) / kTileRows, [&](size_t begin, size_t end) {
    Array weights(kTileRows * k);
    for (size_t row = begin * kTileRows; row < std::min(end * kTileRows, rows); row += kTileRows) {
      const size_t n_rows = std::min(kTileRows, rows - row);
      for (size_t r = 0; r < n_rows; ++r) read_row(matrix, row + r, weights.data() + r * k);
      for (size_t t = 0; t < n_tokens; t += kTileTokens) {
        double sums[kTileRows][kTileTokens];
        multiply_one(weights.data(), tiles.data() + t * k, k, sums[0]);
        for (size_t j = 0; j < std::min(kTileTokens, n_tokens - t); ++j) {
          for (size_t r = 0; r < n_rows; ++r) y[(t + j) * rows + row + r] = sums[r][j] + offsets[row + r];
        }
      }
    }
  });
  return y;
}

// Divides each run of gain.k() numbers by its root mean square, times the gain.
Array normalised(const Array& x, const TensorInfo& gain, double eps) {
  const Array gains = vector_of(gain);
  Array y(x.size());
  for (size_t at = 0; at < x.size(); at += gains.size()) {
    double square_sum = 0;
    for (size_t i = 0; i < gains.size(); ++i) square_sum += x[at + i] * x[at + i];
    const double rms = std::sqrt(square_sum / static_cast<double>(gains.size()) + eps);
    for (size_t i = 0; i < gains.size(); ++i) y[at + i] = x[at + i] / rms * gains[i];
  }
  return y;
}

// Rotates the pairs of every head by position * frequency; x [n_tokens, n_heads, head_dim].
void rotate(Array& x, size_t n_heads, const ModelConfig& config, const Rope& rope) {
  const size_t half = config.rope_dims / 2, head_dim = config.head_dim;
  const bool neox = config.rope_pairing == RopePairing::kNeox;
  for (size_t head = 0; head < x.size() / head_dim; ++head) {
    const auto position = static_cast<double>(head / n_heads);
    for (size_t i = 0; i < half; ++i) {
      const double angle = position * rope.frequencies[i];
      const double cosine = std::cos(angle) * rope.magnitude, sine = std::sin(angle) * rope.magnitude;
      double& a = x[head * head_dim + (neox ? i : 2 * i)];
      double& b = x[head * head_dim + (neox ? i + half : 2 * i + 1)];
      const double turned = a * cosine - b * sine;
      b = a * sine + b * cosine, a = turned;
    }
  }
}

// Causal grouped-query attention: q [n_tokens, n_heads, head_dim], k and v [n_tokens, n_kv_heads, head_dim].
Array attend(const Array& q, const Array& k, const Array& v, const ModelConfig& config) {
  const size_t d = config.head_dim, q_row = config.n_heads * d, kv_row = config.n_kv_heads * d;
  Array mixed(q.size());
  in_parallel(q.size() / d, [&](size_t begin, size_t end) {
    for (size_t unit = begin; unit < end; ++unit) {
      const size_t t = unit / config.n_heads, head = unit % config.n_heads;
      const size_t kv_at = head / (config.n_heads / config.n_kv_heads) * d;
      const double* query = q.data() + t * q_row + head * d;
      Array scores(t + 1);
      for (size_t s = 0; s <= t; ++s) {
        const double* key = k.data() + s * kv_row + kv_at;
        for (size_t i = 0; i < d; ++i) scores[s] += query[i] * key[i];
        scores[s] /= std::sqrt(static_cast<double>(d));
      }
      const double max = *std::max_element(scores.begin(), scores.end());
      double sum = 0;
      for (double& score : scores) sum += score = std::exp(score - max);
      double* out = mixed.data() + t * q_row + head * d;
      for (size_t s = 0; s <= t; ++s) {
        const double* value = v.data() + s * kv_row + kv_at;
        for (size_t i = 0; i < d; ++i) out[i] += scores[s] / sum * value[i];
      }
    }
  });
  return mixed;
}

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// Attention over the layer's normalised input [n_tokens, hidden].
Array attention(const LayerTensors& layer, const ModelConfig& config, const LayerConfig& kinds, const Array& input) {
  const LayerMatrices<const TensorInfo*>& matrices = layer.matrices;
  const LayerVectors<const TensorInfo*>& vectors = layer.vectors;
  const Rope& rope = config.ropes[kinds.rope];
  Array q = multiply(*matrices.q, input, vectors.q_bias);
  Array k = multiply(*matrices.k, input, vectors.k_bias);
  const Array v = multiply(*matrices.v, input, vectors.v_bias);
  if (vectors.q_norm) q = normalised(q, *vectors.q_norm, config.rms_eps);
  if (vectors.k_norm) k = normalised(k, *vectors.k_norm, config.rms_eps);
  rotate(q, config.n_heads, config, rope);
  rotate(k, config.n_kv_heads, config, rope);
  Array mixed = attend(q, k, v, config);
  if (matrices.q_gate) {
    const Array gates = multiply(*matrices.q_gate, input);
    for (size_t i = 0; i < mixed.size(); ++i) mixed[i] *= sigmoid(gates[i]);
  }
  return mixed;
}

// x [n_tokens, channels] with each channel convolved over its own past, then SiLU; taps [channels, n].
Array convolved(const Array& x, const TensorInfo& taps) {
  const size_t n = taps.k(), channels = taps.rows(), n_tokens = x.size() / channels;
  Array y(x.size());
  for (size_t c = 0; c < channels; ++c) {
    Array weights(n);
    read_row(taps, c, weights.data());
    for (size_t t = 0; t < n_tokens; ++t) {
      double sum = 0;
      for (size_t back = 0; back < std::min(n, t + 1); ++back)
        sum += weights[n - 1 - back] * x[(t - back) * channels + c];
      y[t * channels + c] = sum * sigmoid(sum);
    }
  }
  return y;
}

// The recurrence of a value head, in textbook form. Normalises keys and queries. Each is [n_tokens] rows of head_dim
// numbers, `stride` apart; forget and learn: [n_tokens], n_v_heads apart.
void recur(const DeltaNetConfig& net, const double* q, const double* k, const double* v, size_t stride,
           const double* log_decay, const double* beta, size_t n_tokens, double* out) {
  const size_t d = net.head_dim;
  Array state(d * d);  // [keys, values]
  const auto unit = [d](const double* x) {
    double squares = 0;
    for (size_t i = 0; i < d; ++i) squares += x[i] * x[i];
    Array y(x, x + d);
    for (double& value : y) value /= std::sqrt(squares + 1e-6);
    return y;
  };
  for (size_t t = 0; t < n_tokens; ++t) {
    const Array query = unit(q + t * stride), key = unit(k + t * stride);
    Array found(d), read(d);
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < d; ++j) found[j] += (state[i * d + j] *= std::exp(log_decay[t * net.n_v_heads])) * key[i];
    for (size_t i = 0; i < d; ++i)
      for (size_t j = 0; j < d; ++j) {
        state[i * d + j] += key[i] * beta[t * net.n_v_heads] * (v[t * stride + j] - found[j]);
        read[j] += state[i * d + j] * query[i];
      }
    for (size_t j = 0; j < d; ++j) out[t * net.inner() + j] = read[j] / std::sqrt(static_cast<double>(d));
  }
}

// A gated delta net over the layer's normalised input [n_tokens, hidden].
Array delta_net(const LayerTensors& layer, const ModelConfig& config, const Array& input) {
  const DeltaNetConfig& net = config.delta_net;
  const size_t d = net.head_dim, n_tokens = input.size() / config.hidden, stride = net.channels();
  const Array qkv = convolved(multiply(*layer.delta_matrices.qkv, input), *layer.delta_vectors.conv);
  const Array z = multiply(*layer.delta_matrices.z, input);
  Array log_decay = multiply(*layer.delta_matrices.alpha, input, layer.delta_vectors.dt_bias);
  Array beta = multiply(*layer.delta_matrices.beta, input);
  const Array decay = vector_of(*layer.delta_vectors.decay);
  for (size_t i = 0; i < log_decay.size(); ++i) {
    log_decay[i] = decay[i % net.n_v_heads] * std::log1p(std::exp(log_decay[i]));
    beta[i] = sigmoid(beta[i]);
  }
  Array out(n_tokens * net.inner());
  in_parallel(net.n_v_heads, [&](size_t begin, size_t end) {
    for (size_t h = begin; h < end; ++h) {
      const double* q = qkv.data() + net.key_head(static_cast<uint32_t>(h)) * d;
      recur(net, q, q + net.n_k_heads * d, qkv.data() + (2 * net.n_k_heads + h) * d, stride, &log_decay[h], &beta[h],
            n_tokens, out.data() + h * d);
    }
  });
  Array mixed = normalised(out, *layer.delta_vectors.norm, config.rms_eps);
  for (size_t i = 0; i < mixed.size(); ++i) mixed[i] *= z[i] * sigmoid(z[i]);
  return mixed;
}

void add(Array& x, const Array& y) {
  for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
}

struct FeedForwardBiases {  // each may be null
  const TensorInfo *gate, *up, *down;
};

// SwiGLU; x [n_tokens, k]
Array feed_forward(const TensorInfo& gate, const TensorInfo& up, const TensorInfo& down, const Array& x,
                   const FeedForwardBiases& biases = {}) {
  Array inner = multiply(gate, x, biases.gate);
  const Array ups = multiply(up, x, biases.up);
  for (size_t i = 0; i < inner.size(); ++i) inner[i] *= sigmoid(inner[i]) * ups[i];
  return multiply(down, inner, biases.down);
}

// The weight of each expert for a token with these scores; 0 for experts that it does not use.
Array expert_weights(std::span<const double> scores, const ExpertsConfig& config) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  double sum_of_all = 0, sum_of_used = 0;
  for (double score : scores) sum_of_all += std::exp(score - scores[order[0]]);
  Array weights(scores.size());
  for (size_t i = 0; i < config.n_used; ++i)
    sum_of_used += weights[order[i]] = std::exp(scores[order[i]] - scores[order[0]]) / sum_of_all;
  const double divisor = config.normalises ? std::max(sum_of_used, 0x1p-14) : 1;
  for (double& weight : weights) weight *= config.scale / divisor;
  return weights;
}

// The experts one by one, each with the tokens that use it; x [n_tokens, hidden], normalised.
Array mixture(const LayerTensors& layer, const ExpertsConfig& config, const Array& x) {
  const auto& [router, gate, up, down, shared_gate, shared_up, shared_down] = layer.experts;
  const size_t hidden = router->k(), n_tokens = x.size() / hidden;
  const Array scores = multiply(*router, x);
  Array weights, y(x.size());
  for (size_t t = 0; t < n_tokens; ++t) {
    const Array of_token = expert_weights(std::span(scores).subspan(t * config.n, config.n), config);
    weights.insert(weights.end(), of_token.begin(), of_token.end());
  }
  const auto row = [&](const Array& from, size_t t) { return std::span(from).subspan(t * hidden, hidden); };
  for (uint32_t e = 0; e < config.n; ++e) {
    Array inputs;
    for (size_t t = 0; t < n_tokens; ++t)
      if (weights[t * config.n + e] > 0) inputs.insert(inputs.end(), row(x, t).begin(), row(x, t).end());
    if (inputs.empty()) continue;
    const Array outputs = feed_forward(expert_of(*gate, e), expert_of(*up, e), expert_of(*down, e), inputs);
    for (size_t t = 0, i = 0; t < n_tokens; ++t)
      if (const double weight = weights[t * config.n + e]; weight > 0)
        for (size_t j = 0; j < hidden; ++j) y[t * hidden + j] += weight * outputs[i++];
  }
  if (!shared_gate) return y;
  const Array shared = feed_forward(*shared_gate, *shared_up, *shared_down, x);
  const Array switches = multiply(*layer.vectors.shared_expert_gate, x);
  for (size_t i = 0; i < y.size(); ++i) y[i] += shared[i] * sigmoid(switches[i / hidden]);
  return y;
}

// x += the layer's mixer, then its feed-forward part; x [n_tokens, hidden].
void apply_layer(const LayerTensors& layer, const ModelConfig& config, const LayerConfig& kinds, Array& x) {
  const LayerMatrices<const TensorInfo*>& matrices = layer.matrices;
  const LayerVectors<const TensorInfo*>& vectors = layer.vectors;
  const Array input = normalised(x, *vectors.attn_norm, config.rms_eps);
  switch (kinds.mixer) {
    case Mixer::kAttention:
      add(x, multiply(*matrices.output, attention(layer, config, kinds, input), vectors.output_bias));
      break;
    case Mixer::kDeltaNet:
      add(x, multiply(*matrices.output, delta_net(layer, config, input)));
      break;
  }

  const Array ffn_input = normalised(x, *vectors.ffn_norm, config.rms_eps);
  switch (kinds.ffn) {
    case Ffn::kDense:
      return add(x, feed_forward(*matrices.gate, *matrices.up, *matrices.down, ffn_input,
                                 {vectors.gate_bias, vectors.up_bias, vectors.down_bias}));
    case Ffn::kExperts:
      return add(x, mixture(layer, config.experts, ffn_input));
  }
}

}  // namespace

std::vector<double> reference_logits(const GgufFile& file, std::span<const int32_t> tokens) {
  return reference_logits(file, read_model_config(file), tokens);
}

std::vector<double> reference_logits(const GgufFile& file, const ModelConfig& config, std::span<const int32_t> tokens) {
  const ModelTensors tensors = read_model_tensors(file, config);
  Array x;
  for (int32_t token : tokens) {
    if (token < 0 || static_cast<uint32_t>(token) >= config.n_vocab) {
      throw Error("token " + std::to_string(token) + " is outside the vocabulary of " + file.path() + ", which has " +
                  std::to_string(config.n_vocab) + " tokens");
    }
    x.resize(x.size() + config.hidden);
    read_row(*tensors.token_embd, static_cast<size_t>(token), x.data() + x.size() - config.hidden);
  }
  for (size_t i = 0; i < tensors.layers.size(); ++i) apply_layer(tensors.layers[i], config, config.layers[i], x);
  return multiply(*tensors.output, normalised(x, *tensors.output_norm, config.rms_eps), tensors.output_bias);
}

}  // namespace warpchat
