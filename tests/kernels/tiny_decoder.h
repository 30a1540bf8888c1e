// A decoder of a few small layers with random weights on a GuardedDevice. It runs token by token with the separate
// kernels, or in one launch of the persistent decoder.
#pragma once
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/decoder.h"
#include "kernels/common/error_word.h"
#include "kernels/persistent/persistent_tables.h"
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
  std::vector<LayerConfig> kinds = {};  // per layer; empty: dense attention
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
      const LayerConfig kind = spec.kinds.empty() ? LayerConfig{} : spec.kinds[i];
      c.layers.push_back({.mixer = kind.mixer, .ffn = kind.ffn, .rope = i % spec.n_ropes});
    }
    c.experts = spec.experts;
    c.delta_net = spec.delta_net;
    c.gated_attention = spec.delta_net.n_v_heads > 0;
    const DecoderFormats formats{spec.embedding, spec.output, spec.layers, spec.output_bias};
    list_ = launch_list(text_decoder(c), c, formats, {PassKind::kDecode, 1, spec.context});
    place_weights();
  }

  // From here on tokens are sampled; the history ring of 64 holds `recent`.
  void set_sampler(const SamplerState& state, const std::vector<uint32_t>& recent) {
    sampler_ = state;
    recent_ = recent;
  }

  GuardedDevice& device() { return device_; }
  const LaunchList& list() const { return list_; }

  // Decodes from `token` at `position`. Forced tokens (the first one is `token`) replace choices.
  Decoded separately(uint32_t token, uint32_t position, uint32_t n_steps, const std::vector<uint32_t>& forced = {}) {
    Decoded result;
    State state = new_state(token, position);
    for (uint32_t step = 0; step < n_steps; ++step) {
      decode_token(state);
      const auto* row = reinterpret_cast<const float*>(state.at[Buffer::kLogits]);
      const std::vector<float> logits = device_.download(row, spec_.n_vocab);
      result.logits.insert(result.logits.end(), logits.begin(), logits.end());
      const uint32_t next = step + 1 < forced.size() ? forced[step + 1] : state.words->choice;
      result.tokens.push_back(next);
      state.words->token = next, state.words->position += 1;
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
    State state = new_state(token, position);
    Run run{request, state.words, {}, {}, {}, reinterpret_cast<uint32_t*>(state.at[Buffer::kError])};
    run.request.page_table = address(page_table_), run.request.n_pages = n_pages();
    run.request.delta_state = state.delta_state;
    run.sampler = state.sampler;
    run.request.n_forced = static_cast<uint32_t>(forced.size());
    auto* words = device_.upload(std::vector<uint64_t>(sizeof(HostWords) / 8 + request.max_steps));
    run.host = reinterpret_cast<HostWords*>(words);
    run.tokens = words + sizeof(HostWords) / 8;
    run.rows = device_.poisoned<float>(size_t{request.max_steps} * spec_.n_vocab);
    std::map<std::string, const void*> own = {
        {"layers", device_.upload(layer_rows(list_, state.at, grid, kMaxBytesAhead))},
        {"token_embd", reinterpret_cast<const void*>(state.at.weights.back()[Weight::kTokenEmbd])},
        {"routes", device_.poisoned<uint8_t>(route_bytes(list_, grid))},
        {"sampler", state.sampler},
        {"barrier", device_.zeros<uint64_t>(16)},
        {"state", state.words},
        {"request", device_.upload(std::vector{run.request})},
        {"forced", device_.upload(forced.empty() ? std::vector<uint32_t>{0} : forced)},
        {"host", words},
        {"rows", run.rows}};
    if (stamps) {
      run.stamps =
          device_.zeros<uint8_t>(std::max(size_t{1}, stamps->n_blocks * (16 + stamps->n_slots * sizeof(Stamp))));
      own["stamps"] = run.stamps;
    }
    for (const ptx::Parameter& parameter : persistent(stamps.has_value()).parameters) {
      const auto found = own.find(parameter.name);
      if (parameter.name == "blocks")
        run.arguments.push_back(grid);
      else if (parameter.name == "stamped_blocks")
        run.arguments.push_back(stamps->n_blocks);
      else if (parameter.name == "stamp_slots")
        run.arguments.push_back(stamps->n_slots);
      else
        run.arguments.push_back(found != own.end() ? address(found->second)
                                                   : state.at[persistent_buffer(parameter.name)]);
    }
    return run;
  }

  ptx::Kernel persistent(bool stamps = false) const { return persistent_decoder(persistent_spec(stamps), target_); }

  // Returns "" or the fault.
  std::string launch(ptx::Kernel kernel, const Run& run, uint32_t grid,
                     const ptx::emulator::LaunchOptions& options = kAllChecks) {
    kernel.launch.blocks = grid;
    return device_.run_values(options, kernel, kernel.launch.blocks, run.arguments);
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

  // What one decoding changes.
  struct State {
    PassAddresses at;
    DecoderState* words;
    uint8_t* sampler;
    uint64_t delta_state;
  };

  static uint64_t address(const void* p) { return reinterpret_cast<uint64_t>(p); }
  uint64_t matrix(TensorType type, uint32_t rows, uint32_t k) {
    return address(device_.upload(PackedWeights(type, rows, k, ++seed_).bytes));
  }
  uint64_t vector(uint32_t n) { return address(device_.upload(normal_floats(n, ++seed_))); }

  // The weights that the list's launches name.
  void place_weights() {
    weights_.resize(config_.n_layers + 1);
    for_each_launch(list_, [&](const KernelLaunch& launch, uint32_t layer) {
      for (const auto& [name, operand] : launch.arguments)
        if (operand.kind == Operand::Kind::kWeight && weights_[layer][operand.weight] == 0)
          weights_[layer][operand.weight] = place(launch, name, operand.weight);
    });
    std::vector<uint32_t> pages(n_pages());
    for (uint32_t i = 0; i < n_pages(); ++i) pages[i] = (i + 1) % n_pages();
    page_table_ = device_.upload(pages);
  }
  uint64_t place(const KernelLaunch& launch, const std::string& name, Weight weight) {
    if (const auto* embedding = std::get_if<EmbeddingSpec>(&launch.spec))
      return matrix(embedding->weights, embedding->n_vocab, embedding->hidden);
    const DeltaNetConfig& net = config_.delta_net;
    switch (weight) {
      case Weight::kQNorm:
      case Weight::kKNorm:
        return vector(config_.head_dim);
      case Weight::kConv:
        return vector(net.channels() * net.conv_kernel);
      case Weight::kDtBias:
        return vector(net.n_v_heads);
      case Weight::kDeltaNorm:
        return vector(net.head_dim);
      case Weight::kDecay: {
        std::vector<float> decay = normal_floats(net.n_v_heads, ++seed_);
        for (float& value : decay) value = -0.1f * std::exp(value);
        return address(device_.upload(decay));
      }
      default:
        break;
    }
    const GemvSpec& product = *product_of(launch);
    const uint32_t n = std::holds_alternative<ExpertProductSpec>(launch.spec) ? config_.experts.n : 1;
    if (name == "weights") return matrix(product.weights, product.rows * n, product.k);
    if (name == "up") return matrix(product.up.value_or(product.weights), product.rows * n, product.k);
    return vector(name == "gamma" ? product.k : product.rows * (is_swiglu(product.epilogue) ? 2 : 1));
  }
  uint32_t n_pages() const { return pages_of(spec_.context); }

  State new_state(uint32_t token, uint32_t position) {
    State state{};
    state.at.weights = weights_;
    state.at.n_pages = n_pages();
    for (size_t i = 0; i < kBuffers; ++i) {
      const BufferShape shape = shape_of(static_cast<Buffer>(i), config_);
      state.at.buffers[i] = address(device_.poisoned<float>(size_t{shape.width} * shape.per_column));
    }
    state.words = device_.upload(std::vector{DecoderState{token, position, 0, 0}});
    state.at[Buffer::kTokens] = address(&state.words->token);
    state.at[Buffer::kPositions] = address(&state.words->position);
    state.at[Buffer::kError] = address(device_.zeros<uint32_t>(kErrorWords));
    state.at[Buffer::kAttentionScratch] =
        address(device_.zeros<uint8_t>(attention_scratch_bytes(list_.token_attention())));
    state.at[Buffer::kPageTables] = address(device_.upload(std::vector{address(page_table_)}));
    state.sampler = device_.upload(sampler_state());
    for (size_t i = 0; i < config_.n_layers; ++i) {
      state.at.keys.push_back(address(device_.upload(past(i * 2))));
      state.at.values.push_back(address(device_.upload(past(i * 2 + 1))));
    }
    const auto n_state = static_cast<uint32_t>(config_.delta_state_bytes() / sizeof(float));
    state.delta_state =
        address(position == 0 ? device_.poisoned<float>(n_state) : device_.upload(normal_floats(n_state, 77)));
    state.at[Buffer::kStates] = address(device_.upload(std::vector{state.delta_state}));
    return state;
  }
  // The KV cells of earlier positions.
  std::vector<uint16_t> past(size_t seed) const {
    const std::vector<float> values = normal_floats(
        size_t{spec_.n_kv_heads} * n_pages() * kPagePositions * spec_.head_dim, static_cast<uint32_t>(1000 + seed));
    std::vector<uint16_t> halves;
    for (float value : values) halves.push_back(to_f16(value).bits);
    return halves;
  }

  PersistentSpec persistent_spec(bool stamps = false) const { return {.decoder = list_, .stamps = stamps}; }

  void run(const ptx::Kernel& kernel, const std::vector<uint64_t>& values) {
    const std::string fault = device_.run_values(kAllChecks, kernel, kernel.launch.blocks, values);
    if (!fault.empty()) throw std::logic_error(fault);
  }

  // Every launch of the list, by kernels of their own.
  void decode_token(State& state) {
    for_each_launch(list_, [&](const KernelLaunch& launch, uint32_t layer) {
      const std::string name = name_of(launch.spec);
      if (!kernels_.contains(name)) kernels_.emplace(name, generate(launch.spec, target_));
      const ptx::Kernel& kernel = kernels_.at(name);
      std::vector<uint64_t> values;
      for (const Operand& operand : operands_of(launch, kernel)) values.push_back(state.at.of(operand, layer));
      run(kernel, values);
    });
    run(sample(persistent_sampling(persistent_spec()), target_),
        {state.at[Buffer::kLogits], address(state.sampler), address(&state.words->choice),
         address(&state.words->position), state.at[Buffer::kError]});
  }

  TinyDecoderSpec spec_;
  ptx::Target target_;
  GuardedDevice device_;
  ModelConfig config_{};
  LaunchList list_;
  std::vector<PerWeight<uint64_t>> weights_;
  const uint32_t* page_table_ = nullptr;
  std::map<std::string, ptx::Kernel> kernels_;
  SamplerState sampler_;  // default: the largest logit
  std::vector<uint32_t> recent_;
  uint32_t seed_ = 0;
};

}  // namespace warpchat
