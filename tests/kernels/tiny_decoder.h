// A decoder of a few small layers with random weights on a GuardedDevice. It runs token by token with the separate
// kernels, or in one launch of the persistent decoder.
#pragma once
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernels/error_word.h"
#include "kernels/persistent_tables.h"
#include "models/half.h"
#include "tests/kernels/gemv_problem.h"

namespace warpchat {

struct TinyDecoderSpec {
  uint32_t hidden = 64, ffn = 96, n_heads = 4, n_kv_heads = 2, head_dim = 16, n_vocab = 300, context = 200;
  bool qk_norm = false, bias = true;
  uint32_t n_ropes = 1;  // the layers take them in turn
  std::vector<LayerFormats> layers;
  TensorType embedding = TensorType::kF16, output = TensorType::kF16;
  bool output_bias = false;
  std::vector<LayerKind> kinds = {};  // per layer; empty: dense attention
  ExpertsConfig experts = {};
  DeltaNetConfig delta_net = {};  // with delta nets, attention is gated
};

// Result of decoding: the token after each step, and each step's logits.
struct Decoded {
  std::vector<uint32_t> tokens;
  std::vector<float> logits;  // [steps, n_vocab]
  bool operator==(const Decoded&) const = default;
};

class TinyDecoder {
 public:
  TinyDecoder(const TinyDecoderSpec& spec, ptx::Target target) : spec_(spec), target_(target), device_(target) {
    ModelConfig& c = config_;
    c.n_layers = static_cast<uint32_t>(spec.layers.size());
    c.hidden = spec.hidden, c.ffn = spec.ffn, c.n_heads = spec.n_heads, c.n_kv_heads = spec.n_kv_heads;
    c.head_dim = c.rope_dims = spec.head_dim, c.n_vocab = spec.n_vocab, c.rms_eps = 1e-5f;
    c.rope_pairing = RopePairing::kNeox;
    for (uint32_t i = 0; i < spec.n_ropes; ++i)
      c.ropes.push_back({.frequencies = std::vector<double>(spec.head_dim / 2, 0.3 + i)});
    for (uint32_t i = 0; i < c.n_layers; ++i) {
      const LayerKind kind = spec.kinds.empty() ? LayerKind{} : spec.kinds[i];
      c.layers.push_back({.mixer = kind.mixer, .ffn = kind.ffn, .rope = i % spec.n_ropes});
    }
    c.experts = spec.experts;
    c.delta_net = spec.delta_net;
    c.gated_attention = spec.delta_net.n_v_heads > 0;
    const DecoderFormats formats{spec.embedding, spec.output, spec.layers, spec.output_bias};
    specs_ = decoder_specs(c, formats, spec.context, PassKind::kDecode, 1);
    place_weights();
  }

  // From here on tokens are sampled; the history ring of 64 holds `recent`.
  void set_sampler(const SamplerState& state, const std::vector<uint32_t>& recent) {
    sampler_ = state;
    recent_ = recent;
  }

  GuardedDevice& device() { return device_; }
  const DecoderSpecs& specs() const { return specs_; }

  // Decodes from `token` at `position`. Forced tokens (the first one is `token`) replace choices.
  Decoded separately(uint32_t token, uint32_t position, uint32_t n_steps, const std::vector<uint32_t>& forced = {}) {
    Decoded result;
    Buffers at = new_buffers(token, position);
    for (uint32_t step = 0; step < n_steps; ++step) {
      decode_token(at);
      const std::vector<float> logits = device_.download(at.logits, spec_.n_vocab);
      result.logits.insert(result.logits.end(), logits.begin(), logits.end());
      const uint32_t next = step + 1 < forced.size() ? forced[step + 1] : at.state->choice;
      result.tokens.push_back(next);
      at.state->token = next, at.state->position += 1;
    }
    return result;
  }

  // The buffers of one persistent launch. The test plays the host: it may write `host` while the kernel runs.
  struct Run {
    DecodeRequest request;
    DecoderState* state;
    HostWords* host;
    uint64_t* tokens;
    float* rows;
    uint32_t* error;
    uint8_t* sampler = nullptr;
    uint8_t* stamps = nullptr;
    std::vector<uint64_t> arguments;
  };
  Run new_run(uint32_t token, uint32_t position, DecodeRequest request, uint32_t grid,
              const std::vector<uint32_t>& forced = {}, std::optional<StampRequest> stamps = {}) {
    Buffers at = new_buffers(token, position);
    Run run{request, at.state, {}, {}, {}, at.error};
    run.request.page_table = address(page_table_), run.request.n_pages = n_pages();
    run.request.delta_state = address(at.delta_state);
    run.sampler = at.sampler;
    run.request.n_forced = static_cast<uint32_t>(forced.size());
    auto* words = device_.upload(std::vector<uint64_t>(sizeof(HostWords) / 8 + request.max_steps));
    run.host = reinterpret_cast<HostWords*>(words);
    run.tokens = words + sizeof(HostWords) / 8;
    run.rows = device_.poisoned<float>(size_t{request.max_steps} * spec_.n_vocab);
    const DecoderAddresses all = addresses_of(at, grid);
    const std::vector<LayerRow> layers = layer_rows(specs_, all, grid, kMaxBytesAhead);
    const auto add = [&](const void* p) { run.arguments.push_back(reinterpret_cast<uint64_t>(p)); };
    add(device_.upload(layers)), add(embedding_);
    for (const uint64_t p : activation_arguments(specs_, all)) run.arguments.push_back(p);
    add(at.scratch), add(at.sampler), add(at.error), add(device_.zeros<uint64_t>(16)), add(at.state);
    add(device_.upload(std::vector{run.request}));
    add(device_.upload(forced.empty() ? std::vector<uint32_t>{0} : forced));
    add(words), add(run.rows);
    if (stamps) {
      std::vector<uint8_t> ring(16 + size_t{stamps->n_blocks} * (16 + stamps->n_slots * sizeof(Stamp)));
      std::memcpy(ring.data(), &*stamps, sizeof *stamps);
      add(run.stamps = device_.upload(ring));
    }
    return run;
  }

  ptx::Kernel persistent(bool stamps = false) const { return persistent_decoder(persistent_spec(stamps), target_); }

  // Returns "" or the fault.
  std::string launch(ptx::Kernel kernel, const Run& run, uint32_t grid,
                     const ptx::emulator::LaunchOptions& options = kAllChecks) {
    kernel.launch.blocks = grid;
    return device_.run_listed(options, kernel, run.arguments, {});
  }

  // The contents of the token list and the rows after a launch of n_steps.
  Decoded decoded(const Run& run, uint32_t n_steps) const {
    Decoded result;
    for (uint32_t step = 0; step < n_steps; ++step) {
      const uint64_t slot = run.tokens[step];
      if (slot >> 32 != step + 1) throw std::logic_error("the list lacks step " + std::to_string(step));
      result.tokens.push_back(static_cast<uint32_t>(slot));
    }
    result.logits = device_.download(run.rows, run.request.returns_rows ? size_t{n_steps} * spec_.n_vocab : 0);
    return result;
  }

 private:
  // Only the packed state is read.
  std::vector<uint8_t> sampler_state() const {
    const SampleSpec sampling = persistent_sampling(persistent_spec());
    std::vector<uint8_t> state = packed_sampler_state(sampling, sampler_, recent_);
    state.resize(sampler_state_stride(sampling), 0xff);
    return state;
  }

  struct Layer {
    LayerMatrices<const std::byte*> matrices;
    LayerVectors<const float*> vectors;
    ExpertMatrices<const std::byte*> experts;
    DeltaMatrices<const std::byte*> delta;
    DeltaVectors<const float*> delta_vectors;
    uint32_t place;  // index among the delta nets
    const float* gate_up_bias;
  };
  struct Buffers {
    float *hidden, *q, *k, *v, *mixed, *inner, *logits;
    DecoderState* state;
    uint32_t* error;
    uint8_t *scratch, *sampler;
    std::vector<uint16_t*> k_pages, v_pages;
    float *q_gate, *qkv, *z, *alpha, *beta, *delta_mixed, *delta_state;
    float *scores, *expert_weights, *expert_inner, *expert_outputs, *shared_inner, *shared_output, *shared_expert_gate;
    uint32_t* experts;
  };

  const std::byte* matrix(TensorType type, uint32_t rows, uint32_t k) {
    return device_.upload(PackedWeights(type, rows, k, ++seed_).bytes);
  }
  const float* vector(uint32_t n) { return device_.upload(normal_floats(n, ++seed_)); }

  void place_weights() {
    const TinyDecoderSpec& s = spec_;
    for (const LayerFormats& f : s.layers) {
      Layer& layer = layers_.emplace_back();
      for_each([&](const std::byte*& at, TensorType type,
                   const MatrixShape& m) { at = m.rows > 0 ? matrix(type, m.rows, m.k) : nullptr; },
               layer.matrices, f.matrices, matrix_shapes(config_));
      layer.vectors = map(vector_sizes(config_), [&](uint32_t n) { return vector(n); });
      layer.gate_up_bias = vector(2 * s.ffn);
      place_experts(layer, f);
      place_delta_net(layer, f);
    }
    embedding_ = matrix(s.embedding, s.n_vocab, s.hidden);
    output_ = matrix(s.output, s.n_vocab, s.hidden);
    output_norm_ = vector(s.hidden);
    output_bias_ = vector(s.n_vocab);
    std::vector<uint32_t> pages(n_pages());
    for (uint32_t i = 0; i < n_pages(); ++i) pages[i] = (i + 1) % n_pages();
    page_table_ = device_.upload(pages);
  }
  uint32_t n_pages() const { return pages_of(spec_.context); }

  void place_experts(Layer& layer, const LayerFormats& f) {
    if (spec_.experts.n == 0) return;
    for_each(
        [&](const std::byte*& at, TensorType type, const MatrixShape& m, bool is_of_each) {
          at = m.rows > 0 && m.k > 0 ? matrix(type, m.rows * (is_of_each ? spec_.experts.n : 1), m.k) : nullptr;
        },
        layer.experts, f.experts, expert_shapes(config_), kIsPerExpert);
  }

  void place_delta_net(Layer& layer, const LayerFormats& f) {
    const DeltaNetConfig& net = spec_.delta_net;
    if (net.n_v_heads == 0) return;
    const bool is_delta_net = config_.layers[layers_.size() - 1].mixer == Mixer::kDeltaNet;
    if (is_delta_net) layer.matrices.output = matrix(f.matrices.output, spec_.hidden, net.inner());
    for_each([&](const std::byte*& at, TensorType type, const MatrixShape& m) { at = matrix(type, m.rows, m.k); },
             layer.delta, f.delta, delta_matrix_shapes(config_));
    std::vector<float> decay = normal_floats(net.n_v_heads, ++seed_);
    for (float& value : decay) value = -0.1f * std::exp(value);
    layer.delta_vectors = {vector(net.channels() * net.conv_kernel), vector(net.n_v_heads), device_.upload(decay),
                           vector(net.head_dim)};
    layer.place = n_delta_nets_;
    if (is_delta_net) ++n_delta_nets_;
  }

  Buffers new_buffers(uint32_t token, uint32_t position) {
    const TinyDecoderSpec& s = spec_;
    const uint32_t q_width = s.n_heads * s.head_dim, kv_width = s.n_kv_heads * s.head_dim;
    const auto floats = [&](uint32_t n) { return device_.poisoned<float>(n); };
    Buffers at{floats(s.hidden),
               floats(q_width),
               floats(kv_width),
               floats(kv_width),
               floats(q_width),
               floats(s.ffn),
               floats(s.n_vocab),
               {},
               {},
               {},
               {},
               {},
               {}};
    at.state = device_.upload(std::vector{DecoderState{token, position, 0, 0}});
    at.error = device_.zeros<uint32_t>(kErrorWords);
    at.scratch = device_.zeros<uint8_t>(attention_scratch_bytes(std::get<AttentionSpec>(specs_.attention)));
    at.sampler = device_.upload(sampler_state());
    for (size_t i = 0; i < s.layers.size(); ++i) {
      at.k_pages.push_back(device_.upload(past(i * 2)));
      at.v_pages.push_back(device_.upload(past(i * 2 + 1)));
    }
    const DeltaNetConfig& net = s.delta_net;
    at.q_gate = floats(q_width), at.qkv = floats(net.channels()), at.z = floats(net.inner());
    at.alpha = floats(net.n_v_heads), at.beta = floats(net.n_v_heads), at.delta_mixed = floats(net.inner());
    const auto n_state = static_cast<uint32_t>(n_delta_nets_ * (net.n_v_heads > 0 ? net.layer_floats() : 0));
    at.delta_state = position == 0 ? floats(n_state) : device_.upload(normal_floats(n_state, 77));
    const ExpertsConfig& e = s.experts;
    at.scores = floats(e.n), at.experts = device_.poisoned<uint32_t>(e.n_used), at.expert_weights = floats(e.n_used);
    at.expert_inner = floats(e.n_used * e.ffn), at.expert_outputs = floats(e.n_used * s.hidden);
    at.shared_inner = floats(e.shared_ffn), at.shared_output = floats(s.hidden), at.shared_expert_gate = floats(1);
    return at;
  }
  // The KV cells of earlier positions.
  std::vector<uint16_t> past(size_t seed) const {
    const std::vector<float> values = normal_floats(
        size_t{spec_.n_kv_heads} * n_pages() * kPagePositions * spec_.head_dim, static_cast<uint32_t>(1000 + seed));
    std::vector<uint16_t> halves;
    for (float value : values) halves.push_back(to_f16(value).bits);
    return halves;
  }

  PersistentSpec persistent_spec(bool stamps = false) const { return {.decoder = specs_, .stamps = stamps}; }
  static uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }

  // numbers: passed after the pointers.
  void run(const ptx::Kernel& kernel, const std::vector<const void*>& pointers,
           const std::vector<uint32_t>& numbers = {}) {
    std::vector<uint64_t> arguments;
    for (const void* p : pointers) arguments.push_back(address(p));
    const std::string fault = device_.run_listed(kAllChecks, kernel, arguments, numbers);
    if (!fault.empty()) throw std::logic_error(fault);
  }
  const ptx::Kernel& product(const ProductSpec& spec) {
    const std::string name = name_of(spec);
    if (!products_.contains(name)) products_.emplace(name, gemv(std::get<GemvSpec>(spec), target_));
    return products_.at(name);
  }

  // y = the product of x, normalised unless gamma is null, with its bias if it adds one.
  void multiply(const ProductSpec& spec, const std::vector<const std::byte*>& weights, const float* x,
                const float* gamma, const float* bias, float* y) {
    std::vector<const void*> arguments(weights.begin(), weights.end());
    arguments.push_back(x);
    if (gamma != nullptr) arguments.push_back(gamma);
    if (adds_bias(std::get<GemvSpec>(spec).epilogue)) arguments.push_back(bias);
    arguments.push_back(y);
    run(product(spec), arguments);
  }

  static const void* number(uint64_t n) { return reinterpret_cast<const void*>(uintptr_t{n}); }  // between pointers

  void decode_token(Buffers& at) {
    run(embedding(specs_.embedding, target_), {embedding_, &at.state->token, at.hidden, at.error});
    for (size_t i = 0; i < layers_.size(); ++i) {
      const LayerConfig& kind = config_.layers[i];
      kind.mixer == Mixer::kDeltaNet ? mix_by_delta_net(i, at) : mix_by_attention(i, at);
      kind.ffn == Ffn::kExperts ? through_experts(i, at) : through_dense(i, at);
    }
    multiply(specs_.logits, {output_}, at.hidden, output_norm_, output_bias_, at.logits);
    run(sample(persistent_sampling(persistent_spec()), target_),
        {at.logits, at.sampler, &at.state->choice, &at.state->position, at.error});
  }

  void mix_by_attention(size_t i, Buffers& at) {
    const LayerMatrices<const std::byte*>& w = layers_[i].matrices;
    const LayerVectors<const float*>& vectors = layers_[i].vectors;
    const LayerSpecs& s = specs_.layers[i];
    const auto project = [&](const ProductSpec& spec, const std::byte* weights, const float* bias, float* y) {
      multiply(spec, {weights}, at.hidden, vectors.attn_norm, bias, y);
    };
    project(s.q, w.q, vectors.q_bias, at.q), project(s.k, w.k, vectors.k_bias, at.k);
    project(s.v, w.v, vectors.v_bias, at.v);
    if (config_.gated_attention) project(s.q_gate, w.q_gate, nullptr, at.q_gate);
    const auto* tables = device_.upload(std::vector{address(page_table_)});
    std::vector<const void*> attend = {at.q, at.k, at.v};
    if (spec_.qk_norm) attend.push_back(vectors.q_norm), attend.push_back(vectors.k_norm);
    // Two 32-bit numbers lie side by side; a single one is followed by padding.
    const uint64_t rope = spec_.n_ropes > 1 ? specs_.ropes[i] : 0;
    for (const void* p : std::vector<const void*>{at.k_pages[i], at.v_pages[i], tables, number(n_pages() | rope << 32),
                                                  &at.state->position, at.mixed})
      attend.push_back(p);
    if (config_.gated_attention) attend.push_back(at.q_gate);
    attend.push_back(at.scratch), attend.push_back(at.error);
    run(incremental_attention(std::get<AttentionSpec>(specs_.attention), target_), attend);
    multiply(s.output, {w.output}, at.mixed, nullptr, vectors.output_bias, at.hidden);
  }

  void mix_by_delta_net(size_t i, Buffers& at) {
    const Layer& layer = layers_[i];
    for_each(
        [&](const ProductSpec& spec, const std::byte* weights, float* y) {
          run(product(spec), {weights, at.hidden, layer.vectors.attn_norm, y});
        },
        specs_.deltas[i], layer.delta, DeltaMatrices<float*>{at.qkv, at.z, at.alpha, at.beta});
    const auto* states = device_.upload(std::vector{address(at.delta_state)});
    const DeltaVectors<const float*>& v = layer.delta_vectors;
    run(conv_step(specs_.delta_net, target_), {at.qkv, v.conv, states, &at.state->position}, {layer.place});
    run(delta_step(specs_.delta_net, target_), {at.qkv, at.z, at.alpha, at.beta, v.dt_bias, v.decay, v.norm, states,
                                                &at.state->position, number(layer.place), at.delta_mixed});
    run(product(specs_.layers[i].output), {layer.matrices.output, at.delta_mixed, at.hidden});
  }

  void through_dense(size_t i, Buffers& at) {
    const LayerMatrices<const std::byte*>& w = layers_[i].matrices;
    const LayerSpecs& s = specs_.layers[i];
    const LayerVectors<const float*>& vectors = layers_[i].vectors;
    multiply(s.gate_up, {w.gate, w.up}, at.hidden, vectors.ffn_norm, layers_[i].gate_up_bias, at.inner);
    multiply(s.down, {w.down}, at.inner, nullptr, vectors.down_bias, at.hidden);
  }

  void through_experts(size_t i, Buffers& at) {
    const ExpertMatrices<const std::byte*>& w = layers_[i].experts;
    const ExpertSpecs& s = specs_.experts[i];
    const float* gamma = layers_[i].vectors.ffn_norm;
    run(product(s.router), {w.router, at.hidden, gamma, at.scores});
    run(route(s.route, target_), {at.scores, at.experts, at.expert_weights});
    run(expert_product(s.gate_up, target_), {w.gate, w.up, at.hidden, gamma, at.experts, at.expert_inner});
    run(expert_product(s.down, target_), {w.down, at.expert_inner, at.experts, at.expert_outputs});
    std::vector<const void*> sum = {at.expert_outputs, at.expert_weights};
    if (s.sum.has_shared) {
      run(product(s.shared_gate_up), {w.shared_gate, w.shared_up, at.hidden, gamma, at.shared_inner});
      run(product(s.shared_down), {w.shared_down, at.shared_inner, at.shared_output});
      run(product(s.shared_expert_gate),
          {layers_[i].vectors.shared_expert_gate, at.hidden, gamma, at.shared_expert_gate});
      sum.push_back(at.shared_output), sum.push_back(at.shared_expert_gate);
    }
    sum.push_back(at.hidden);
    run(expert_sum(s.sum, target_), sum);
  }

  DecoderAddresses addresses_of(const Buffers& at, uint32_t grid) {
    DecoderAddresses all;
    for (size_t i = 0; i < layers_.size(); ++i)
      all.layers.push_back({map(layers_[i].matrices, address), map(layers_[i].vectors, address), address(at.k_pages[i]),
                            address(at.v_pages[i]), map(layers_[i].experts, address), map(layers_[i].delta, address),
                            map(layers_[i].delta_vectors, address), address(layers_[i].gate_up_bias)});
    all.output = address(output_), all.output_norm = address(output_norm_);
    all.output_bias = spec_.output_bias ? address(output_bias_) : 0;
    all.hidden = address(at.hidden), all.q = address(at.q), all.k = address(at.k), all.v = address(at.v);
    all.mixed = address(at.mixed), all.inner = address(at.inner), all.logits = address(at.logits);
    all.q_gate = address(at.q_gate), all.qkv = address(at.qkv), all.z = address(at.z);
    all.alpha = address(at.alpha), all.beta = address(at.beta), all.delta_mixed = address(at.delta_mixed);
    all.scores = address(at.scores), all.expert_inner = address(at.expert_inner);
    all.expert_outputs = address(at.expert_outputs), all.shared_inner = address(at.shared_inner);
    all.shared_output = address(at.shared_output), all.shared_expert_gate = address(at.shared_expert_gate);
    all.routes = address(device_.poisoned<uint8_t>(route_bytes(specs_, grid)));
    return all;
  }

  TinyDecoderSpec spec_;
  ptx::Target target_;
  GuardedDevice device_;
  ModelConfig config_{};
  DecoderSpecs specs_;
  std::vector<Layer> layers_;
  const std::byte *embedding_ = nullptr, *output_ = nullptr;
  const float *output_norm_ = nullptr, *output_bias_ = nullptr;
  const uint32_t* page_table_ = nullptr;
  std::map<std::string, ptx::Kernel> products_;
  SamplerState sampler_;  // default: the largest logit
  std::vector<uint32_t> recent_;
  uint32_t seed_ = 0, n_delta_nets_ = 0;
};

}  // namespace warpchat
