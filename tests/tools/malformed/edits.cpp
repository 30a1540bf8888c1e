// Variants with wrong contents in well-formed bytes.
#include <cstring>
#include <limits>
#include <stdexcept>

#include "tests/tools/malformed/encode.h"
#include "tests/tools/malformed/families.h"

namespace warpchat {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

// Which reader reports a missing key, and which one a key of the wrong kind.
struct KeyFacts {
  std::string_view suffix;  // of the key's name
  Finder missing, wrong_kind;
};
constexpr KeyFacts kKeyFacts[] = {
    {"general.architecture", Finder::kModel, Finder::kModel},
    {"general.name", Finder::kNone, Finder::kModel},
    {"general.alignment", Finder::kNone, Finder::kModel},
    {"general.file_type", Finder::kNone, Finder::kNone},
    {".block_count", Finder::kModel, Finder::kModel},
    {".context_length", Finder::kModel, Finder::kModel},
    {".embedding_length", Finder::kModel, Finder::kModel},
    {".feed_forward_length", Finder::kModel, Finder::kModel},
    {".expert_count", Finder::kModel, Finder::kModel},
    {".expert_used_count", Finder::kModel, Finder::kModel},
    {".expert_feed_forward_length", Finder::kModel, Finder::kModel},
    {".expert_shared_feed_forward_length", Finder::kModel, Finder::kModel},
    {".ssm.conv_kernel", Finder::kModel, Finder::kModel},
    {".ssm.state_size", Finder::kModel, Finder::kModel},
    {".ssm.group_count", Finder::kModel, Finder::kModel},
    {".ssm.time_step_rank", Finder::kModel, Finder::kModel},
    {".ssm.inner_size", Finder::kModel, Finder::kModel},
    {".full_attention_interval", Finder::kModel, Finder::kModel},  // then every fourth layer is attention
    {".attention.head_count", Finder::kModel, Finder::kModel},
    {".attention.head_count_kv", Finder::kModel,
     Finder::kModel},  // as many as heads, which contradicts the tensors' shapes
    {".attention.layer_norm_rms_epsilon", Finder::kModel, Finder::kModel},
    {".attention.key_length", Finder::kModel, Finder::kModel},  // then it is hidden / heads, another length
    {".attention.value_length", Finder::kModel, Finder::kModel},
    {".rope.freq_base", Finder::kNone, Finder::kModel},
    {".rope.dimension_count", Finder::kNone, Finder::kModel},
    {".rope.scaling.type", Finder::kNone, Finder::kModel},
    {".rope.scaling.factor", Finder::kNone, Finder::kModel},
    {".rope.scaling.original_context_length", Finder::kNone, Finder::kModel},
    {".rope.scaling.attn_factor", Finder::kNone, Finder::kModel},
    {".rope.scaling.yarn_ext_factor", Finder::kNone, Finder::kModel},
    {".rope.scaling.yarn_beta_fast", Finder::kNone, Finder::kModel},
    {".rope.scaling.yarn_beta_slow", Finder::kNone, Finder::kModel},
    {".vocab_size", Finder::kNone, Finder::kModel},
    {"tokenizer.ggml.model", Finder::kTokenizer, Finder::kTokenizer},
    {"tokenizer.ggml.pre", Finder::kNone, Finder::kTokenizer},
    {"tokenizer.ggml.tokens", Finder::kModel, Finder::kModel},
    {"tokenizer.ggml.token_type", Finder::kNone, Finder::kTokenizer},
    {"tokenizer.ggml.scores", Finder::kTokenizer, Finder::kTokenizer},
    {"tokenizer.ggml.merges", Finder::kTokenizer, Finder::kTokenizer},
    {"tokenizer.ggml.bos_token_id", Finder::kNone, Finder::kTokenizer},
    {"tokenizer.ggml.eos_token_id", Finder::kNone, Finder::kTokenizer},
    {"tokenizer.ggml.unknown_token_id", Finder::kNone, Finder::kTokenizer},
    {"tokenizer.ggml.add_bos_token", Finder::kNone, Finder::kTokenizer},
    {"tokenizer.chat_template", Finder::kNone, Finder::kTemplate},
};

const KeyFacts& facts_of(const std::string& key) {
  for (const KeyFacts& facts : kKeyFacts)
    if (key == facts.suffix || (facts.suffix.front() == '.' && key.ends_with(facts.suffix))) return facts;
  throw std::logic_error("no facts for key " + key);
}

Finder finder_of_wrong_kind(const Base& base, const std::string& key) {
  const bool spm = base.document.has_key("tokenizer.ggml.scores");  // SPM does not pre-split, so the key is not read
  return spm && key == "tokenizer.ggml.pre" ? Finder::kNone : facts_of(key).wrong_kind;
}

enum class ValueKind { kInteger, kReal, kBool, kString, kStrings, kInts, kFloats };

ValueKind kind_of(const Bytes& encoded) {
  GgufType type, element;
  std::memcpy(&type, encoded.data(), 4);
  if (type == GgufType::kString) return ValueKind::kString;
  if (type == GgufType::kBool) return ValueKind::kBool;
  if (type == GgufType::kFloat32) return ValueKind::kReal;
  if (type != GgufType::kArray) return ValueKind::kInteger;
  std::memcpy(&element, encoded.data() + 4, 4);
  if (element == GgufType::kString) return ValueKind::kStrings;
  return element == GgufType::kFloat32 ? ValueKind::kFloats : ValueKind::kInts;
}

struct Row {
  std::string key;
  const char* name;
  Bytes encoded;
  Finder finder = Finder::kModel;
  std::string fault = key;  // named by the message: the key, or where the value is used
};
using Rows = std::vector<Row>;

void add_general(Rows& rows) {
  const std::string architecture = "general.architecture", alignment = "general.alignment";
  const std::pair<const char*, std::string> names[] = {{"unknown", "gemma3"},
                                                       {"empty", ""},
                                                       {"line_break", "qwen2\nqwen3"},
                                                       {"control_characters", "\x1b[2J\x07"},
                                                       {"invalid_utf8", "\xff\xfe\xc3"},
                                                       {"long", std::string(100000, 'q')}};
  for (const auto& [name, value] : names)
    rows.push_back({architecture, name, text(value), Finder::kModel, "architecture"});
  const std::pair<const char*, uint32_t> sizes[] = {{"zero", 0}, {"one", 1},         {"three", 3},
                                                    {"four", 4}, {"2_31", 1u << 31}, {"most", ~0u}};
  for (const auto& [name, value] : sizes) rows.push_back({alignment, name, u32(value)});
  rows.push_back({alignment, "uint64", u64(32)});
  rows.push_back({"general.type", "adapter", text("adapter")});
  rows.push_back({"general.type", "model", text("model"), Finder::kNone});
  rows.push_back({"general.unheard_of", "nested_arrays", nested_arrays(3), Finder::kNone});
  rows.push_back({"general.unheard_of", "deeply_nested_arrays", nested_arrays(1000)});
  rows.push_back({"split.count", "three", u32(3), Finder::kModel, "split"});
}

// Experts have their own sizes, so the dense size is not read.
void add_expert_sizes(const std::string& p, Rows& rows) {
  for (const char* count :
       {"expert_count", "expert_used_count", "expert_feed_forward_length", "expert_shared_feed_forward_length"}) {
    rows.push_back({p + count, "zero", u32(0)});
    rows.push_back({p + count, "most_32", u32(~0u)});
    rows.push_back({p + count, "most_64", u64(~uint64_t{0})});
    rows.push_back({p + count, "minus_one", i32(-1)});
  }
  for (const char* size : {"expert_count", "expert_feed_forward_length", "expert_shared_feed_forward_length"})
    rows.push_back({p + size, "three", u32(3), Finder::kModel, ""});
  rows.push_back({p + "expert_used_count", "more_than_there_are", u32(5)});
  rows.push_back({p + "expert_used_count", "all", u32(4), Finder::kNone});
  rows.push_back({p + "expert_used_count", "differing_list", ints({2, 1})});
  rows.push_back({p + "expert_group_count", "two", u32(2)});
  rows.push_back({p + "expert_gating_func", "sigmoid", u32(2)});
  rows.push_back({p + "expert_gating_func", "softmax", u32(1), Finder::kNone});
  for (const char* name : {"nan", "infinity", "zero"})
    rows.push_back({p + "expert_weights_scale", name, f32(*name == 'n' ? kNan : *name == 'i' ? kInfinity : 0)});
  rows.push_back({p + "feed_forward_length", "zero", u32(0), Finder::kNone});
}

void add_delta_net_sizes(const std::string& p, Rows& rows) {
  for (const char* count : {"ssm.conv_kernel", "ssm.state_size", "ssm.group_count", "ssm.time_step_rank",
                            "ssm.inner_size", "full_attention_interval"}) {
    rows.push_back({p + count, "zero", u32(0)});
    rows.push_back({p + count, "most_32", u32(~0u)});
    rows.push_back({p + count, "most_64", u64(~uint64_t{0})});
    rows.push_back({p + count, "minus_one", i32(-1)});
    rows.push_back({p + count, "three", u32(3), Finder::kModel, ""});
  }
  rows.push_back({p + "attention.recurrent_layers", "numbers", ints({1, 0})});
  rows.push_back({p + "attention.recurrent_layers", "one_bool", boolean(1)});
  rows.push_back({p + "nextn_predict_layers", "all", u32(2)});
  rows.push_back({p + "nextn_predict_layers", "most_64", u64(~uint64_t{0})});
  rows.push_back({p + "nextn_predict_layers", "one", u32(1), Finder::kNone});
}

void add_sizes(const std::string& p, Rows& rows) {
  for (const char* count : {"block_count", "context_length", "embedding_length", "feed_forward_length",
                            "attention.head_count", "attention.head_count_kv"}) {
    rows.push_back({p + count, "zero", u32(0)});
    rows.push_back({p + count, "most_32", u32(~0u)});
    rows.push_back({p + count, "most_64", u64(~uint64_t{0})});
    rows.push_back({p + count, "minus_one", i32(-1)});
  }
  for (const char* count : {"block_count", "embedding_length", "feed_forward_length", "attention.head_count"}) {
    rows.push_back({p + count, "three", u32(3), Finder::kModel, ""});
    rows.push_back({p + count, "512", u32(512), Finder::kModel, ""});
  }
  for (const char* count : {"attention.head_count", "attention.head_count_kv", "feed_forward_length"}) {
    rows.push_back({p + count, "empty_list", ints({})});
    rows.push_back({p + count, "differing_list", ints({2, 1})});
    rows.push_back({p + count, "negative_list", ints({-2, -2})});
  }
  for (const char* size : {"attention.key_length", "attention.value_length", "rope.dimension_count"}) {
    rows.push_back({p + size, "zero", u32(0)});
    rows.push_back({p + size, "odd", u32(15)});
    rows.push_back({p + size, "double", u32(64)});
    rows.push_back({p + size, "most", u32(~0u)});
  }
  rows.push_back({p + "vocab_size", "zero", u32(0), Finder::kNone});  // the tokens count
  rows.push_back({p + "vocab_size", "two", u32(2), Finder::kNone});
}

void add_reals(const std::string& p, bool has_scaling_factor, Rows& rows) {
  for (const char* real : {"attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.scaling.factor",
                           "rope.scaling.attn_factor", "rope.scaling.yarn_beta_fast"}) {
    rows.push_back({p + real, "nan", f32(kNan)});
    rows.push_back({p + real, "infinity", f32(kInfinity)});
    rows.push_back({p + real, "minus_infinity", f64(-kInfinity)});
    rows.push_back({p + real, "zero", f32(0)});
    rows.push_back({p + real, "minus_one", f32(-1)});
    rows.push_back({p + real, "huge", f64(1e300)});
  }
  rows.push_back({p + "attention.layer_norm_rms_epsilon", "too_small_for_float32", f64(1e-300)});
  rows.push_back({p + "rope.freq_base", "one", f32(1)});
  rows.push_back({p + "rope.scaling.type", "longrope", text("longrope")});
  rows.push_back({p + "rope.scaling.type", "empty", text("")});
  rows.push_back({p + "rope.scaling.original_context_length", "zero", u32(0)});
  rows.push_back({p + "rope.scaling.original_context_length", "most", u32(~0u)});
  rows.push_back({p + "rope.scaling.yarn_ext_factor", "two", f32(2)});
  rows.push_back({p + "rope.scaling.yarn_attn_factor", "two", f32(2), Finder::kNone});
  rows.push_back({p + "rope.scaling.yarn_log_multiplier", "tenth", f32(0.1f)});
  const Finder newer_key_goes_first = has_scaling_factor ? Finder::kNone : Finder::kModel;
  rows.push_back({p + "rope.scale_linear", "nan", f32(kNan), newer_key_goes_first});
}

// Unsupported variants under an architecture's name.
void add_unsupported(const std::string& p, Rows& rows) {
  rows.push_back({p + "attention.sliding_window", "short", u32(16)});
  rows.push_back({p + "attention.sliding_window", "whole_context", u32(1 << 20), Finder::kNone});
  rows.push_back({p + "attention.causal", "false", boolean(0)});
  rows.push_back({p + "attention.causal", "true", boolean(1), Finder::kNone});
  rows.push_back({p + "attention.causal", "two", boolean(2)});
  rows.push_back({p + "attn_logit_softcapping", "fifty", f32(50)});
  rows.push_back({p + "final_logit_softcapping", "thirty", f32(30)});
  rows.push_back({p + "attention.clamp_kqv", "eight", f32(8)});
  rows.push_back({p + "pooling_type", "none", u32(0), Finder::kNone});
  rows.push_back({p + "pooling_type", "last", u32(3)});
  rows.push_back({p + "logit_scale", "two", f32(2)});
  rows.push_back({p + "logit_scale", "one", f32(1), Finder::kNone});
  rows.push_back({p + "attention.scale", "two", f32(2)});
  rows.push_back({p + "attention.scale", "not_set", f32(0), Finder::kNone});
}

}  // namespace

void add_missing_and_doubled(const Base& base, Variants& out) {
  for (size_t i = 0; i < base.document.keys.size(); ++i) {
    const std::string& key = base.document.keys[i].name;
    out.push_back({base.name + ".missing." + key,
                   edited(base, [&](Document& document) { document.keys.erase(document.keys.begin() + i); }),
                   facts_of(key).missing, ""});
    out.push_back({base.name + ".doubled." + key,
                   edited(base, [&](Document& document) { document.keys.push_back(document.keys[i]); }), Finder::kModel,
                   "key " + key + " appears twice"});
  }
  for (size_t i = 0; i < base.document.tensors.size(); ++i) {
    const std::string& tensor = base.document.tensors[i].name;
    // Tied, no divisors, or no bias.
    const bool has_stand_in = tensor == "output.weight" || tensor == "rope_freqs.weight" ||
                              (tensor.ends_with(".bias") && tensor.find(".attn_") != std::string::npos);
    out.push_back({base.name + ".missing." + tensor,
                   edited(base, [&](Document& document) { document.tensors.erase(document.tensors.begin() + i); }),
                   has_stand_in ? Finder::kNone : Finder::kModel,
                   has_stand_in ? "" : "tensor " + tensor + " is missing"});
    out.push_back({base.name + ".doubled." + tensor,
                   edited(base, [&](Document& document) { document.tensors.push_back(document.tensors[i]); }),
                   Finder::kModel, "tensor " + tensor + " appears twice"});
  }
}

void add_wrong_kinds(const Base& base, Variants& out) {
  struct Other {
    ValueKind kind;
    const char* name;
    Bytes encoded;
  };
  const Other others[] = {{ValueKind::kInteger, "integer", u32(1)},       {ValueKind::kReal, "real", f32(1)},
                          {ValueKind::kBool, "bool", boolean(1)},         {ValueKind::kString, "string", text("1")},
                          {ValueKind::kStrings, "strings", texts({"1"})}, {ValueKind::kInts, "ints", ints({1})},
                          {ValueKind::kFloats, "floats", floats({1})}};
  for (const Document::Key& key : base.document.keys) {
    const bool may_be_list = key.name.ends_with("head_count") || key.name.ends_with("head_count_kv") ||
                             key.name.ends_with(".feed_forward_length") || key.name.ends_with("used_count");
    for (const Other& other : others) {
      if (other.kind == kind_of(key.encoded) || (may_be_list && other.kind == ValueKind::kInts)) continue;
      out.push_back({base.name + ".kind." + key.name + "." + other.name, with_key(base, key.name, other.encoded),
                     finder_of_wrong_kind(base, key.name), "key " + key.name});
    }
  }
}

void add_wrong_values(const Base& base, Variants& out) {
  const std::string prefix = base.name + ".";  // the architecture's name is the base's
  Rows rows;
  add_general(rows);
  add_sizes(prefix, rows);
  if (base.document.has_key(prefix + "expert_count")) {
    std::erase_if(rows, [&](const Row& row) { return row.key == prefix + "feed_forward_length"; });
    add_expert_sizes(prefix, rows);
  } else {
    rows.push_back({prefix + "expert_count", "eight", u32(8)});
  }
  if (base.document.has_key(prefix + "ssm.state_size")) add_delta_net_sizes(prefix, rows);
  add_reals(prefix, base.document.has_key(prefix + "rope.scaling.factor"), rows);
  add_unsupported(prefix, rows);
  for (const Row& row : rows)
    out.push_back({base.name + ".value." + row.key + "." + row.name, with_key(base, row.key, row.encoded), row.finder,
                   row.finder == Finder::kNone ? "" : row.fault});
}

}  // namespace warpchat
