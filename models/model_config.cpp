#include "models/model_config.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "models/model_purpose.h"
#include "models/rope.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

struct ArchitectureTraits {
  std::string_view name;
  Architecture architecture;
  RopePairing pairing;
  bool frequency_divisors;  // may have the tensor rope_freqs.weight
  struct {
    bool has = false, has_shared = false, normalises = false;
  } experts = {};
  struct {
    bool has = false, tiled = false;  // some layers are delta nets; attention is gated
  } delta_net = {};
};
constexpr decltype(ArchitectureTraits::experts) kSharedExperts = {.has = true, .has_shared = true, .normalises = true};
constexpr ArchitectureTraits kArchitectures[] = {
    {"llama", Architecture::kLlama, RopePairing::kInterleaved, true},
    {"qwen2", Architecture::kQwen2, RopePairing::kNeox, false},
    {"qwen3", Architecture::kQwen3, RopePairing::kNeox, false},
    {"qwen3vl", Architecture::kQwen3, RopePairing::kNeox, false},  // in text all three axes of a position are equal
    {"qwen2moe", Architecture::kQwen2, RopePairing::kNeox, false, {.has = true, .has_shared = true}},
    {"qwen3moe", Architecture::kQwen3, RopePairing::kNeox, false, {.has = true, .normalises = true}},
    {"qwen3vlmoe", Architecture::kQwen3, RopePairing::kNeox, false, {.has = true, .normalises = true}},
    {"qwen3next", Architecture::kQwen3, RopePairing::kNeox, false, kSharedExperts, {.has = true}},
    {"qwen35", Architecture::kQwen3, RopePairing::kNeox, false, {}, {.has = true, .tiled = true}},
    {"qwen35moe", Architecture::kQwen3, RopePairing::kNeox, false, kSharedExperts, {.has = true, .tiled = true}},
};

// Far above every real model; no product of two overflows 64 bits.
constexpr uint64_t kMaxLayers = 1024, kMaxHeads = 65536, kLargestHead = 4096, kMaxExperts = 65536,
                   kLargestSize = 1 << 24, kLongestContext = 1 << 30, kLargestConvolution = 64;
constexpr uint32_t kDeltaHeadStep = 32;  // kernels require multiples of this

const ArchitectureTraits* find_architecture(std::string_view name) {
  const auto* found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                   [&](const ArchitectureTraits& known) { return known.name == name; });
  return found != std::end(kArchitectures) ? found : nullptr;
}

const ArchitectureTraits& read_architecture(const GgufFile& file) {
  if (const std::string why = why_no_chat_model(file); !why.empty()) file.fail(why);
  const std::string_view name = file.get_string("general.architecture");
  if (const ArchitectureTraits* found = find_architecture(name)) return *found;
  file.fail("architecture \"" + printable(name) + "\" is not supported; supported are " +
            word_list(kArchitectures, ", ", &ArchitectureTraits::name));
}

// Keys of one architecture: "block_count" stands for "qwen2.block_count".
class Keys {
 public:
  Keys(const GgufFile& file, std::string_view prefix) : file_(file), prefix_(std::string(prefix) + ".") {}

  std::string name(std::string_view key) const { return prefix_ + std::string(key); }
  bool has(std::string_view key) const { return file_.has(name(key)); }

  uint32_t count(std::string_view key, uint64_t max) const { return checked(key, file_.get_uint(name(key)), max); }
  uint32_t count(std::string_view key, uint64_t max, uint32_t absent) const {
    return has(key) ? count(key, max) : absent;
  }

  // A single number, or one per layer if all are equal.
  uint32_t uniform_count(std::string_view key, uint64_t max, uint32_t n_blocks) const {
    if (!file_.is_array(name(key))) return count(key, max);
    const std::vector<int32_t> counts = file_.get_ints(name(key));
    if (counts.size() != n_blocks)
      file_.fail("key " + name(key) + " has " + counted(counts.size(), "element") + " for " +
                 counted(n_blocks, "layer"));
    const auto other = std::adjacent_find(counts.begin(), counts.end(), std::not_equal_to<>());
    if (other != counts.end())
      file_.fail("key " + name(key) + " differs from layer to layer (" + std::to_string(other[0]) + ", " +
                 std::to_string(other[1]) + "), which is not supported");
    return checked(key, counts[0] < 0 ? 0 : static_cast<uint64_t>(counts[0]), max);
  }

  double real(std::string_view key, double more_than, double max, double absent) const {
    const double value = file_.get_float(name(key), absent);
    if (value > more_than && value <= max) return value;
    char text[96];
    std::snprintf(text, sizeof text, "%g, expected more than %g and at most %g", value, more_than, max);
    file_.fail("key " + name(key) + " is " + text);
  }

 private:
  uint32_t checked(std::string_view key, uint64_t value, uint64_t max) const {
    if (value < 1 || value > max)
      file_.fail("key " + name(key) + " is " + grouped(value) + ", expected 1 to " + grouped(max));
    return static_cast<uint32_t>(value);
  }

  const GgufFile& file_;
  std::string prefix_;
};

constexpr uint64_t kSoftmaxGate = 1;  // value of expert_gating_func

// Refuses keys that change the computation, unless they have the neutral value.
void refuse_variants(const GgufFile& file, const Keys& keys, const ArchitectureTraits& traits) {
  if (!traits.experts.has && file.get_uint(keys.name("expert_count"), 0) > 0)
    file.fail("key " + keys.name("expert_count") + " is " + grouped(file.get_uint(keys.name("expert_count"))) +
              ": no experts are known of " + std::string(traits.name) + " models");
  if (file.get_uint(keys.name("expert_group_count"), 1) > 1)
    file.fail("key " + keys.name("expert_group_count") + " is not 1: experts in groups are not supported");
  if (file.get_uint(keys.name("expert_gating_func"), kSoftmaxGate) != kSoftmaxGate)
    file.fail("key " + keys.name("expert_gating_func") + " is not 1: only a softmax over the experts is supported");
  if (!file.get_bool(keys.name("attention.causal"), true))
    file.fail("key " + keys.name("attention.causal") + " is false: only causal models can chat");
  for (const char* key : {"attention.clamp_kqv", "attention.max_alibi_bias", "attention.temperature_scale",
                          "attn_logit_softcapping", "final_logit_softcapping", "router_logit_softcapping"})
    if (file.get_float(keys.name(key), 0) != 0)
      file.fail("key " + keys.name(key) + " is not 0, which is not supported");
  // 0 stands for "not set".
  for (const char* key : {"logit_scale", "embedding_scale", "residual_scale", "attention.output_scale",
                          "attention.value_scale", "rope.scaling.alpha"})
    if (const double scale = file.get_float(keys.name(key), 1); scale != 0 && scale != 1)
      file.fail("key " + keys.name(key) + " is neither 0 nor 1, which is not supported");
  if (file.get_bool(keys.name("use_parallel_residual"), false))
    file.fail("key " + keys.name("use_parallel_residual") + " is true, which is not supported");
}

// Scores are divided by the root of the heads' size. 0 stands for that.
void refuse_other_attention_scale(const GgufFile& file, const Keys& keys, uint32_t head_dim) {
  constexpr double kRounding = 1e-4;
  const double usual = 1 / std::sqrt(head_dim), scale = file.get_float(keys.name("attention.scale"), usual);
  if (scale == 0 || std::abs(scale - usual) <= kRounding * usual) return;
  char text[80];
  std::snprintf(text, sizeof text, "%g, only %g (1 / the root of the head's size) is supported", scale, usual);
  file.fail("key " + keys.name("attention.scale") + " is " + text);
}

void read_heads(const GgufFile& file, const Keys& keys, ModelConfig& config) {
  config.n_heads = keys.uniform_count("attention.head_count", kMaxHeads, config.n_blocks());
  config.n_kv_heads = keys.has("attention.head_count_kv")
                          ? keys.uniform_count("attention.head_count_kv", kMaxHeads, config.n_blocks())
                          : config.n_heads;
  if (config.n_heads % config.n_kv_heads != 0)
    file.fail("key " + keys.name("attention.head_count_kv") + " is " + std::to_string(config.n_kv_heads) +
              ", no divisor of the " + counted(config.n_heads, "head"));
  const uint32_t even_share = config.hidden / config.n_heads;
  config.head_dim = keys.count("attention.key_length", kLargestHead, even_share);
  const uint32_t value_length = keys.count("attention.value_length", kLargestHead, even_share);
  if (!keys.has("attention.key_length") && (even_share == 0 || config.hidden % config.n_heads != 0))
    file.fail("the embedding length " + grouped(config.hidden) + " is no multiple of the " +
              counted(config.n_heads, "head") + ", and key " + keys.name("attention.key_length") + " is missing");
  if (config.head_dim > kLargestHead)
    file.fail("heads have " + counted(config.head_dim, "dimension") + ", at most " + grouped(kLargestHead) +
              " are supported");
  if (config.head_dim != value_length)
    file.fail("key " + keys.name("attention.key_length") + " is " + std::to_string(config.head_dim) + " and key " +
              keys.name("attention.value_length") + " " + std::to_string(value_length) +
              " (where one is missing, embedding length / heads); only equal lengths are supported");
  refuse_other_attention_scale(file, keys, config.head_dim);
}

// The tensor rope_freqs.weight [rope_dims / 2], or empty.
std::vector<float> read_frequency_divisors(const GgufFile& file, uint32_t rope_dims) {
  const TensorInfo* tensor = file.find_tensor("rope_freqs.weight");
  if (!tensor) return {};
  if (tensor->type != TensorType::kF32 || tensor->k() != rope_dims / 2 || tensor->rows() != 1)
    file.fail("tensor rope_freqs.weight is " + std::string(traits(tensor->type).name) + " of " +
              counted(tensor->k(), "number") + ", expected F32 of " + std::to_string(rope_dims / 2));
  std::vector<float> divisors(tensor->k());
  std::memcpy(divisors.data(), tensor->data.data(), tensor->data.size());
  const auto usable = [](float divisor) { return std::isfinite(divisor) && divisor > 0; };
  if (!std::all_of(divisors.begin(), divisors.end(), usable))
    file.fail("tensor rope_freqs.weight holds a number that is not finite and above 0");
  return divisors;
}

void read_rope(const GgufFile& file, const Keys& keys, const ArchitectureTraits& traits, ModelConfig& config) {
  config.rope_dims = keys.count("rope.dimension_count", kLargestHead, config.head_dim);
  if (config.rope_dims % 2 != 0 || config.rope_dims > config.head_dim)
    file.fail("key " + keys.name("rope.dimension_count") + " is " + std::to_string(config.rope_dims) +
              ", expected an even number up to the head's " + std::to_string(config.head_dim));
  constexpr double kUsualBase = 10000, kLargestBase = 1e15;
  config.rope_pairing = traits.pairing;
  Rope rope{};
  rope.base = keys.real("rope.freq_base", 1, kLargestBase, kUsualBase);
  rope.scaling = read_rope_scaling(file, traits.name, config.context_length);
  std::vector<float> divisors;
  if (traits.frequency_divisors) divisors = read_frequency_divisors(file, config.rope_dims);
  rope.frequencies = rope_frequencies(rope.scaling, rope.base, config.rope_dims, divisors);
  rope.magnitude = rope_magnitude(rope.scaling);
  if (!divisors.empty() && rope.scaling.kind == RopeScaling::Kind::kNone)
    rope.scaling.kind = RopeScaling::Kind::kLlama3;
  config.ropes = {std::move(rope)};
}

// A missing size is derived from the dense size, as in old files.
ExpertsConfig read_experts(const GgufFile& file, const Keys& keys, const ModelConfig& config,
                           const ArchitectureTraits& traits) {
  ExpertsConfig experts;
  experts.n = keys.count("expert_count", kMaxExperts);
  experts.n_used = keys.uniform_count("expert_used_count", kMaxExperts, config.n_blocks());
  if (experts.n_used > experts.n)
    file.fail("key " + keys.name("expert_used_count") + " is " + std::to_string(experts.n_used) + ", of " +
              counted(experts.n, "expert"));
  const bool states_size = keys.has("expert_feed_forward_length");
  const uint32_t dense = !states_size || (traits.experts.has_shared && !keys.has("expert_shared_feed_forward_length"))
                             ? keys.uniform_count("feed_forward_length", kLargestSize, config.n_blocks())
                             : 0;
  experts.ffn =
      states_size ? keys.count("expert_feed_forward_length", kLargestSize) : std::max(1u, dense / experts.n_used);
  if (traits.experts.has_shared)
    experts.shared_ffn = keys.count("expert_shared_feed_forward_length", kLargestSize, dense);
  experts.normalises = file.get_bool(keys.name("expert_weights_norm"), traits.experts.normalises);
  constexpr double kLargestScale = 1e6;
  experts.scale = static_cast<float>(keys.real("expert_weights_scale", 0, kLargestScale, 1));
  return experts;
}

DeltaNetConfig read_delta_net(const GgufFile& file, const Keys& keys, const ArchitectureTraits& traits) {
  DeltaNetConfig net{.tiled = traits.delta_net.tiled};
  net.n_k_heads = keys.count("ssm.group_count", kMaxHeads);
  net.n_v_heads = keys.count("ssm.time_step_rank", kMaxHeads);
  net.head_dim = keys.count("ssm.state_size", kLargestHead);
  net.conv_kernel = keys.count("ssm.conv_kernel", kLargestConvolution);
  if (net.n_v_heads % net.n_k_heads != 0)
    file.fail("key " + keys.name("ssm.group_count") + " is " + std::to_string(net.n_k_heads) + ", no divisor of the " +
              counted(net.n_v_heads, "head") + " of values in " + keys.name("ssm.time_step_rank"));
  if (net.head_dim % kDeltaHeadStep != 0)
    file.fail("key " + keys.name("ssm.state_size") + " is " + std::to_string(net.head_dim) + ", only multiples of " +
              std::to_string(kDeltaHeadStep) + " are supported");
  const uint64_t inner = keys.count("ssm.inner_size", kLargestSize);
  if (inner != uint64_t{net.n_v_heads} * net.head_dim)
    file.fail("key " + keys.name("ssm.inner_size") + " is " + grouped(inner) + ", expected " +
              counted(net.n_v_heads, "head") + " times " + std::to_string(net.head_dim));
  return net;
}

// Which layers are delta nets: given by a list, or all but every n-th.
std::vector<bool> recurrent_layers(const GgufFile& file, const Keys& keys, uint32_t n_blocks) {
  const std::string list = keys.name("attention.recurrent_layers");
  if (file.has(list)) {
    std::vector<bool> is_recurrent = file.get_bools(list);
    if (is_recurrent.size() != n_blocks)
      file.fail("key " + list + " has " + counted(is_recurrent.size(), "element") + " for " +
                counted(n_blocks, "layer"));
    return is_recurrent;
  }
  constexpr uint32_t kUsualInterval = 4;
  const uint32_t interval = keys.count("full_attention_interval", kMaxLayers, kUsualInterval);
  std::vector<bool> is_recurrent(n_blocks);
  for (uint32_t i = 0; i < n_blocks; ++i) is_recurrent[i] = (i + 1) % interval != 0;
  return is_recurrent;
}

// A window that covers the whole context is dropped.
void read_layers(const GgufFile& file, const Keys& keys, const ArchitectureTraits& traits, ModelConfig& config) {
  LayerConfig layer;
  if (config.experts.n > 0) layer.ffn = Ffn::kExperts;
  const uint64_t window = file.get_uint(keys.name("attention.sliding_window"), 0);
  if (window < config.context_length) layer.window = static_cast<uint32_t>(window);
  std::vector<bool> is_recurrent(config.n_layers);
  if (traits.delta_net.has) is_recurrent = recurrent_layers(file, keys, config.n_blocks());
  uint32_t n_recurrent = 0;
  for (uint32_t i = 0; i < config.n_layers; ++i) {
    layer.mixer = is_recurrent[i] ? Mixer::kDeltaNet : Mixer::kAttention;
    n_recurrent += is_recurrent[i];
    config.layers.push_back(layer);
  }
  if (n_recurrent > 0) config.delta_net = read_delta_net(file, keys, traits);
}

// Refuses layer features that no kernel supports.
void refuse_layers(const GgufFile& file, const Keys& keys, const ModelConfig& config) {
  for (const LayerConfig& layer : config.layers)
    if (layer.window > 0)
      file.fail("key " + keys.name("attention.sliding_window") + " is " + grouped(layer.window) +
                ", below the context length of " + grouped(config.context_length) +
                ": sliding windows are not supported");
}

uint32_t read_n_vocab(const GgufFile& file) {
  const uint64_t n_tokens = file.n_elements("tokenizer.ggml.tokens"), rows = file.tensor("token_embd.weight").rows();
  if (n_tokens != rows)
    file.fail("key tokenizer.ggml.tokens has " + counted(n_tokens, "token") + ", tensor token_embd.weight has " +
              counted(rows, "row"));
  // The key vocab_size is for files without tokens.
  if (n_tokens < 1 || n_tokens > kLargestSize)
    file.fail("key tokenizer.ggml.tokens has " + counted(n_tokens, "token") + ", expected 1 to " +
              grouped(kLargestSize));
  return static_cast<uint32_t>(n_tokens);
}

}  // namespace

uint32_t ModelConfig::n_layers_with(Mixer mixer) const {
  return static_cast<uint32_t>(std::ranges::count(layers, mixer, &LayerConfig::mixer));
}

uint64_t ModelConfig::delta_state_bytes() const {
  return n_layers_with(Mixer::kDeltaNet) * delta_net.layer_floats() * sizeof(float);
}

std::vector<uint32_t> ModelConfig::cache_slot_of_layer() const {
  std::vector<uint32_t> places;
  uint32_t n_recurrent = 0;
  for (const LayerConfig& layer : layers) {
    const bool is_recurrent = layer.mixer == Mixer::kDeltaNet;
    places.push_back(is_recurrent ? n_recurrent : static_cast<uint32_t>(places.size()) - n_recurrent);
    n_recurrent += is_recurrent;
  }
  return places;
}

bool is_known_architecture(std::string_view name) { return find_architecture(name) != nullptr; }

ModelConfig read_model_config(const GgufFile& file) {
  const ArchitectureTraits& traits = read_architecture(file);
  const Keys keys(file, traits.name);
  ModelConfig config{};
  config.architecture = traits.architecture;
  config.name = file.get_string("general.name", "");
  const uint32_t n_blocks = keys.count("block_count", kMaxLayers);
  if (traits.delta_net.has && keys.has("nextn_predict_layers"))
    config.n_unused_blocks =
        static_cast<uint32_t>(std::min<uint64_t>(file.get_uint(keys.name("nextn_predict_layers")), kMaxLayers));
  if (config.n_unused_blocks >= n_blocks)
    file.fail("key " + keys.name("nextn_predict_layers") + " is " + std::to_string(config.n_unused_blocks) + ", of " +
              counted(n_blocks, "block"));
  config.n_layers = n_blocks - config.n_unused_blocks;
  config.context_length = keys.count("context_length", kLongestContext);
  config.hidden = keys.count("embedding_length", kLargestSize);
  refuse_variants(file, keys, traits);
  if (traits.experts.has) {
    config.experts = read_experts(file, keys, config, traits);
  } else {
    config.ffn = keys.uniform_count("feed_forward_length", kLargestSize, config.n_blocks());
  }
  read_layers(file, keys, traits, config);
  config.gated_attention = traits.delta_net.has;
  refuse_layers(file, keys, config);
  read_heads(file, keys, config);
  file.get_float(keys.name("attention.layer_norm_rms_epsilon"));  // required
  config.rms_eps = static_cast<float>(keys.real("attention.layer_norm_rms_epsilon", 0, 1, 0));
  if (config.rms_eps == 0) file.fail("key " + keys.name("attention.layer_norm_rms_epsilon") + " rounds to 0");
  read_rope(file, keys, traits, config);
  config.n_vocab = read_n_vocab(file);
  config.tied_output = file.find_tensor("output.weight") == nullptr;
  return config;
}

}  // namespace warpchat
