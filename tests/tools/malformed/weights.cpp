// Variants with wrong tensors or a wrong vocabulary in well-formed bytes.
#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>

#include "models/block_types.h"
#include "tests/support/gguf/quantise.h"
#include "tests/tools/malformed/encode.h"
#include "tests/tools/malformed/families.h"

namespace warpchat {
namespace {

// Where a block holds a floating-point number.
struct Scale {
  TensorType type;
  const char* name;
  size_t at;  // bytes in the block
};
constexpr Scale kScales[] = {
    {TensorType::kF32, "weight", 0}, {TensorType::kF16, "weight", 0}, {TensorType::kBF16, "weight", 0},
    {TensorType::kQ4_0, "d", 0},     {TensorType::kQ4_1, "d", 0},     {TensorType::kQ4_1, "m", 2},
    {TensorType::kQ5_0, "d", 0},     {TensorType::kQ5_1, "d", 0},     {TensorType::kQ5_1, "m", 2},
    {TensorType::kQ8_0, "d", 0},     {TensorType::kQ2_K, "d", 80},    {TensorType::kQ2_K, "dmin", 82},
    {TensorType::kQ3_K, "d", 108},   {TensorType::kQ4_K, "d", 0},     {TensorType::kQ4_K, "dmin", 2},
    {TensorType::kQ5_K, "d", 0},     {TensorType::kQ5_K, "dmin", 2},  {TensorType::kQ6_K, "d", 208},
    {TensorType::kIQ4_NL, "d", 0},   {TensorType::kIQ4_XS, "d", 0},   {TensorType::kMXFP4, "e", 0},
    {TensorType::kIQ2_XXS, "d", 0},  {TensorType::kIQ2_XS, "d", 0},   {TensorType::kIQ2_S, "d", 0},
    {TensorType::kIQ3_XXS, "d", 0},  {TensorType::kIQ3_S, "d", 0},
};
static_assert(has_every_format(kScales));

struct NotFinite {
  const char* name;
  uint32_t f32;
  uint16_t f16, bf16;
};
constexpr NotFinite kNotFinite[] = {{"nan", 0x7fc00000, 0x7e00, 0x7fc0},
                                    {"smallest_nan", 0x7f800001, 0x7c01, 0x7f81},
                                    {"infinity", 0x7f800000, 0x7c00, 0x7f80},
                                    {"minus_infinity", 0xff800000, 0xfc00, 0xff80}};

constexpr std::byte kE8m0Nan{0xff};  // the only non-finite value of E8M0

void put(Bytes& data, size_t at, const NotFinite& value, TensorType type) {
  const uint16_t narrow = type == TensorType::kBF16 ? value.bf16 : value.f16;
  if (type == TensorType::kMXFP4)
    data[at] = kE8m0Nan;
  else if (type == TensorType::kF32)
    std::memcpy(data.data() + at, &value.f32, 4);
  else
    std::memcpy(data.data() + at, &narrow, 2);
}

std::vector<std::string> strings_of(const Base& base, const char* key) {
  const GgufFile file = GgufFile::view(base.file, base.name);
  const auto views = file.get_strings(key);
  return {views.begin(), views.end()};
}
std::vector<int32_t> ints_of(const Base& base, const char* key) {
  return GgufFile::view(base.file, base.name).get_ints(key);
}

template <class List>
List without_last(List list) {
  list.pop_back();
  return list;
}
template <class List>
List with(List list, typename List::value_type extra) {
  list.push_back(std::move(extra));
  return list;
}
template <class List>
List with_last(List list, typename List::value_type last) {
  list.back() = std::move(last);
  return list;
}
template <class List>
List with_first(List list, typename List::value_type first) {
  list.front() = std::move(first);
  return list;
}

// The base with one matrix in another format; its weights do not matter.
Document with_format(const Base& base, const std::string& name, TensorType type) {
  Document document = base.document;
  Document::Tensor& tensor = document.tensor(name);
  std::vector<float> row(tensor.shape[0]);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(i % 17) / 64 - 0.125f;
  tensor.type = type;
  tensor.data.clear();
  const Bytes encoded = quantise_row(type, row);
  uint64_t rows = 1;
  for (size_t i = 1; i < tensor.shape.size(); ++i) rows *= tensor.shape[i];
  for (uint64_t r = 0; r < rows; ++r) tensor.data.insert(tensor.data.end(), encoded.begin(), encoded.end());
  return document;
}

}  // namespace

void add_wrong_tensors(const Base& base, Variants& out) {
  const auto add = [&](const std::string& name, const std::string& fault, auto edit) {
    out.push_back({base.name + ".tensor." + name, edited(base, edit), Finder::kModel, fault});
  };
  for (size_t i = 0; i < base.document.tensors.size(); ++i) {
    const Document::Tensor& tensor = base.document.tensors[i];
    if (tensor.name != "rope_freqs.weight")  // without it, the model is valid
      add(tensor.name + ".renamed", "", [&](Document& document) { document.tensors[i].name += "s"; });
    const uint64_t n_weights = tensor.shape.size() == 2 ? tensor.shape[0] * tensor.shape[1] : tensor.shape[0];
    if (tensor.shape.size() == 3) {
      add(tensor.name + ".one_expert_less", tensor.name, [&](Document& document) {
        Document::Tensor& fewer = document.tensors[i];
        fewer.data.resize(fewer.data.size() / fewer.shape[2] * (fewer.shape[2] - 1));
        fewer.shape[2] -= 1;
      });
      add(tensor.name + ".as_matrix", tensor.name, [&](Document& document) {
        document.tensors[i].shape = {tensor.shape[0], tensor.shape[1] * tensor.shape[2]};
      });
    } else if (tensor.shape.size() == 2) {
      add(tensor.name + ".one_row_less", "", [&](Document& document) {
        Document::Tensor& shorter = document.tensors[i];
        shorter.data.resize(shorter.data.size() / shorter.shape[1] * (shorter.shape[1] - 1));
        shorter.shape[1] -= 1;
      });
      add(tensor.name + ".as_vector", tensor.name,
          [&](Document& document) { document.tensors[i].shape = {n_weights}; });
      add(tensor.name + ".in_four_dimensions", tensor.name, [&](Document& document) {
        document.tensors[i].shape = {tensor.shape[0], 1, 1, tensor.shape[1]};
      });
    } else {
      add(tensor.name + ".as_F16", tensor.name, [&](Document& document) {
        document.tensors[i].type = TensorType::kF16;
        document.tensors[i].data.resize(n_weights * 2);
      });
      add(tensor.name + ".as_column", tensor.name, [&](Document& document) {
        document.tensors[i].shape = {1, n_weights};
      });
    }
  }
  const Document::Tensor& norm = base.document.tensors.back();
  const auto with_norm_as = [&](const char* name) {
    return [&norm, name](Document& document) {
      document.tensors.push_back(norm);
      document.tensors.back().name = name;
    };
  };
  for (const char* stray : {"blk.0.ffn_gate_inp.bias", "blk.0.attn_sinks.weight", "blk.99.attn_norm.weight", "surprise",
                            "tab\tand\nline", "\xff\xfe"})
    add(std::string("stray_") + std::to_string(out.size()), "is not part of", with_norm_as(stray));
  add("output.bias_of_another_size", "tensor output.bias has shape", with_norm_as("output.bias"));
  add("no_tensors", "token_embd.weight is missing", [](Document& document) { document.tensors.clear(); });
  add("nameless", "empty name", [](Document& document) { document.tensors[0].name.clear(); });
  add("name_of_65_bytes", "at most 64", [](Document& document) { document.tensors[0].name = std::string(65, 'x'); });
}

// Every tensor with a NaN first, and one matrix in every storage format with every pattern in every scale.
void add_wrong_weights(const Base& base, Variants& out) {
  const auto add = [&](const Document& document, const std::string& name, const Scale& scale, const NotFinite& value,
                       bool in_last_block) {
    Document broken = document;
    Document::Tensor& tensor = broken.tensor(name);
    put(tensor.data, (in_last_block ? tensor.data.size() - traits(tensor.type).block_bytes : 0) + scale.at, value,
        tensor.type);
    out.push_back({base.name + ".weights." + name + "." + std::string(traits(tensor.type).name) + "_" + scale.name +
                       "_" + value.name + (in_last_block ? ".last" : ".first"),
                   broken.bytes(), Finder::kModel, "tensor " + name});
  };
  for (const Document::Tensor& tensor : base.document.tensors)
    for (const Scale& scale : kScales)
      if (scale.type == tensor.type) add(base.document, tensor.name, scale, kNotFinite[0], false);

  const bool has_experts = base.document.has_tensor("blk.0.ffn_down_exps.weight");
  const std::string matrix = has_experts ? "blk.0.ffn_down_exps.weight" : "blk.0.ffn_down.weight";  // has long rows
  for (const TensorTypeTraits& format : supported_tensor_types()) {
    const Document stored = with_format(base, matrix, format.type);
    out.push_back(
        {base.name + ".harmless." + matrix + "." + std::string(format.name), stored.bytes(), Finder::kNone, ""});
    for (const Scale& scale : kScales)
      for (const NotFinite& value : kNotFinite)
        if (scale.type == format.type && (format.type != TensorType::kMXFP4 || &value == kNotFinite))
          add(stored, matrix, scale, value, true);
  }
}

void add_wrong_vocabularies(const Base& base, Variants& out) {
  const auto add = [&](const std::string& key, const char* name, const Bytes& encoded, Finder finder) {
    out.push_back({base.name + ".vocabulary." + key + "." + name, with_key(base, "tokenizer.ggml." + key, encoded),
                   finder, finder == Finder::kNone ? "" : "tokenizer.ggml."});
  };
  const auto tokens = strings_of(base, "tokenizer.ggml.tokens");
  const auto types = ints_of(base, "tokenizer.ggml.token_type");
  const auto n_tokens = static_cast<uint32_t>(tokens.size());
  add("model", "unknown", text("bert"), Finder::kTokenizer);
  add("model", "empty", text(""), Finder::kTokenizer);
  add("tokens", "empty", texts({}), Finder::kModel);
  add("tokens", "one_less", texts(without_last(tokens)), Finder::kModel);
  add("tokens", "one_more", texts(with(tokens, "more")), Finder::kModel);
  add("tokens", "one_twice", texts(with_first(tokens, tokens.back())), Finder::kNone);
  add("tokens", "line_break_twice", texts(with_first(with_last(tokens, "a\nb"), "a\nb")), Finder::kNone);
  add("token_type", "empty", ints({}), Finder::kTokenizer);
  add("token_type", "one_less", ints(without_last(types)), Finder::kTokenizer);
  add("token_type", "one_more", ints(with(types, 1)), Finder::kTokenizer);
  add("token_type", "negative", ints(with_first(types, -1)), Finder::kTokenizer);
  add("token_type", "unknown", ints(with_first(types, 1000000)), Finder::kTokenizer);
  for (const char* role : {"bos_token_id", "eos_token_id"}) {
    add(role, "beyond", u32(n_tokens), Finder::kNone);
    add(role, "most", u32(~0u), Finder::kNone);
    add(role, "negative", i32(-1), Finder::kNone);
  }
  if (base.document.has_key("tokenizer.ggml.merges")) {
    const auto merges = strings_of(base, "tokenizer.ggml.merges");
    add("merges", "without_space", texts(with_first(merges, "nospace")), Finder::kTokenizer);
    add("merges", "empty_text", texts(with_first(merges, "")), Finder::kTokenizer);
    add("merges", "of_no_token", texts(with_first(merges, "q q")), Finder::kTokenizer);
  } else {
    const auto scores = GgufFile::view(base.file, base.name).get_floats("tokenizer.ggml.scores");
    add("scores", "empty", floats({}), Finder::kTokenizer);
    add("scores", "one_less", floats(without_last(scores)), Finder::kTokenizer);
    add("scores", "one_more", floats(with(scores, 0.0f)), Finder::kTokenizer);
    add("scores", "nan", floats(with_first(scores, std::numeric_limits<float>::quiet_NaN())), Finder::kTokenizer);
    add("scores", "infinity", floats(with_first(scores, std::numeric_limits<float>::infinity())), Finder::kTokenizer);
  }
  out.push_back({base.name + ".vocabulary.chat_template.unclosed",
                 with_key(base, "tokenizer.chat_template", text("{% for message in messages %}")), Finder::kTemplate,
                 "template"});
}

}  // namespace warpchat
