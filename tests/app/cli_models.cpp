// Writes the small models that the program's tests run it on into a folder: tiny.gguf (qwen2, no token ends an answer),
// endless.gguf (the same with a long context), spm.gguf (llama, wants a bos), vocabulary.gguf (no tensors),
// sampling.gguf (has defaults for its sampling), thinks.gguf (its answer to everything is "cd" behind the thought
// "ab"), calls.gguf (calls tools), overflows.gguf (its keys are infinite).
#include <algorithm>
#include <cstdio>
#include <exception>

#include "tests/support/scripted_model.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

void write_vocabulary(const std::string& path) {
  GgufWriter writer;
  writer.add_string("general.architecture", "qwen2");
  add_vocabulary(writer, TinyVocabulary::kByteBpe, vocabulary_size(TinyVocabulary::kByteBpe));
  writer.write(path);
}

// The control tokens are the last of the vocabulary. Their rows in the (tied) output matrix are zero, so their logits
// are zero and many other tokens' are always larger. With the usual top_k, no answer ends before its limit.
GgufWriter endless(const TinyModelSpec& model, uint32_t seed) {
  constexpr size_t kControlTokens = 3;
  const std::vector<std::byte> bytes = build_tiny_model(model, seed);
  const GgufFile tiny = GgufFile::view(bytes, "tiny");
  GgufWriter writer;
  writer.copy_metadata(tiny);
  for (const TensorInfo& tensor : tiny.tensors()) {
    std::vector<std::byte> data(tensor.data.begin(), tensor.data.end());
    if (tensor.name == "token_embd.weight")
      std::fill(data.end() - static_cast<std::ptrdiff_t>(kControlTokens * data.size() / tensor.rows()), data.end(),
                std::byte{0});
    writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), data);
  }
  return writer;
}

// A tiny model with this data in one of its tensors.
GgufWriter with_floats(const GgufFile& tiny, std::string_view name, float value) {
  GgufWriter writer;
  writer.copy_metadata(tiny);
  for (const TensorInfo& tensor : tiny.tensors()) {
    const std::vector<float> floats(tensor.name == name ? tensor.shape[0] : 0, value);
    writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims),
                      floats.empty() ? tensor.data : std::as_bytes(std::span(floats)));
  }
  return writer;
}

// A prompt ends with "?", and what continues an answer behind its thought with a line break.
void write_thinking_model(const std::string& path) {
  scripted_model({.added = {{"<think>", true}, {"</think>", true}},
                  .chains = {{"?", "<think>", "a", "b", "</think>", "c", "d", "<|im_end|>"}, {"Ċ", "c"}},
                  .chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }}. {% endfor %}?"})
      .write(path);
}

// A prompt's last character chooses what it calls; results are answered "the s". A call is one token.
void write_calling_model(const std::string& path) {
  const auto call = [](const std::string& name, const std::string& arguments) {
    return "<tool_call>\n{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}\n</tool_call>";
  };
  const std::string calls[] = {call("s__echo", R"({"text": "caf\u00e9"})"),
                               call("warpchat__calculate", R"({"expression": "6*7"})"),
                               call("s__echo", R"({"text": "one"})") + "\n" + call("s__echo", R"({"text": "two"})"),
                               "<tool_call>\n{\"name\": \"s__echo\", \"arguments\": [1]}\n</tool_call>",
                               call("s__nothing", "{}"),
                               "<tool_call>\n{\"name\": \"s__echo\", \"arguments\": "};
  ScriptedModelSpec spec{
      .chains = {{"!", "Ġthe", "Ġs", "<|im_end|>"}, {"7", "Ġa", "Ġw", "<|im_end|>"}},
      .chat_template =
          "{% if tools %}{% for tool in tools %}{{ tool | tojson }}{% endfor %}{% endif %}"
          "{% for m in messages[:-1] %}{{ m.role }}: {{ m.content }}. {% for c in m.tool_calls or [] %}<tool_call>"
          "{{ c.function | tojson }}</tool_call>{% endfor %}{% endfor %}{{ messages[-1].content }}"
          "{% if messages[-1].role == 'tool' %}!{% endif %}"};
  for (size_t i = 0; i < std::size(calls); ++i) {
    spec.added.push_back({calls[i], /*is_control=*/false});
    spec.chains.push_back({std::to_string(i + 1), calls[i], "<|im_end|>"});
  }
  scripted_model(spec).write(path);
}

void write_models(const std::string& folder) {
  write_calling_model(folder + "/calls.gguf");
  write_thinking_model(folder + "/thinks.gguf");
  const std::vector<std::byte> tiny = build_tiny_model({}, /*seed=*/4);
  with_floats(GgufFile::view(tiny, "tiny"), "blk.0.attn_k.bias", 1e30f).write(folder + "/overflows.gguf");
  endless({}, /*seed=*/1).write(folder + "/tiny.gguf");
  tiny_model({.architecture = "llama", .vocabulary = TinyVocabulary::kSpm}, /*seed=*/2).write(folder + "/spm.gguf");
  GgufWriter sampling = tiny_model({}, /*seed=*/3);
  sampling.add_float32("general.sampling.temp", 0.25f);
  sampling.add_uint32("general.sampling.top_k", 7);
  sampling.write(folder + "/sampling.gguf");
  tiny_model({.architecture = "qwen3moe", .experts = {.n = 8, .n_used = 2, .ffn = 256}}, /*seed=*/5)
      .write(folder + "/experts.gguf");
  endless({.architecture = "qwen35",
           .head_dim = 64,
           .delta_net = {.n_k_heads = 2, .n_v_heads = 4, .head_dim = 64, .conv_kernel = 4}},
          /*seed=*/6)
      .write(folder + "/hybrid.gguf");
  write_vocabulary(folder + "/vocabulary.gguf");
  endless({.n_layers = 1, .context_length = 65536}, /*seed=*/1).write(folder + "/endless.gguf");
}

}  // namespace
}  // namespace warpchat

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: cli_models FOLDER\n", stderr);
    return 2;
  }
  try {
    warpchat::write_models(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cli_models: %s\n", error.what());
    return 1;
  }
}
