// The embedding of the n-th token of the chains is the n-th unit vector, and the output row of the token that it leads
// to is large in this element.
#include "tests/support/scripted_model.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>

#include "models/gguf_reader.h"
#include "models/half.h"
#include "tests/support/tiny_model.h"

namespace warpchat {

namespace {

using Matrix = std::vector<f16>;  // [n_vocab, hidden]

std::vector<std::byte> bytes_of(const Matrix& matrix) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(matrix));
  return {bytes.begin(), bytes.end()};
}

class Script {
 public:
  Script(const ScriptedModelSpec& spec, const std::vector<std::string_view>& texts, uint32_t hidden)
      : hidden_(hidden), embedding_(texts.size() * hidden), output_(texts.size() * hidden) {
    for (size_t id = 0; id < texts.size(); ++id) ids_.emplace(texts[id], id);
    for (const std::vector<std::string>& chain : spec.chains)
      for (size_t i = 0; i + 1 < chain.size(); ++i) lead(id_of(chain[i]), id_of(chain[i + 1]));
  }
  const Matrix& embedding() const { return embedding_; }
  const Matrix& output() const { return output_; }

 private:
  size_t id_of(const std::string& text) const {
    const auto found = ids_.find(text);
    if (found == ids_.end()) throw std::runtime_error("no token has the text " + text);
    return found->second;
  }
  void lead(size_t from, size_t to) {
    const auto [element, is_new] = elements_.emplace(from, elements_.size());
    if (element->second >= hidden_ || !is_new) throw std::runtime_error("a token leads to two, or there are too many");
    embedding_[from * hidden_ + element->second] = to_f16(1);
    output_[to * hidden_ + element->second] = to_f16(8);
  }

  size_t hidden_;
  std::map<std::string, size_t, std::less<>> ids_;
  std::map<size_t, size_t> elements_;  // of embeddings, by token
  Matrix embedding_, output_;
};

}  // namespace

GgufWriter scripted_model(const ScriptedModelSpec& spec) {
  TinyModelSpec shape = TinyModelSpec::smallest();
  shape.tied_output = false;
  shape.n_vocab = vocabulary_size(TinyVocabulary::kByteBpe) + static_cast<uint32_t>(spec.added.size());
  const std::vector<std::byte> random = build_tiny_model(shape, /*seed=*/1);
  const GgufFile file = GgufFile::view(random, "random");
  GgufWriter keys, writer;
  add_model_keys(keys, shape);
  add_vocabulary(keys, TinyVocabulary::kByteBpe, shape.n_vocab, spec.added);
  const std::vector<std::byte> key_bytes = keys.bytes();
  const GgufFile metadata = GgufFile::view(key_bytes, "scripted");
  const std::string chat_template = "tokenizer.chat_template";
  writer.copy_metadata(metadata, std::span(&chat_template, spec.chat_template.empty() ? 0 : 1));
  if (!spec.chat_template.empty()) writer.add_string(chat_template, spec.chat_template);
  const Script script(spec, metadata.get_strings("tokenizer.ggml.tokens"), shape.hidden);
  for (const TensorInfo& tensor : file.tensors()) {
    const bool is_norm = tensor.name.find("norm") != std::string::npos;
    std::vector<std::byte> data(tensor.data.begin(), tensor.data.end());
    if (!is_norm) std::ranges::fill(data, std::byte{0});
    if (tensor.name == "token_embd.weight") data = bytes_of(script.embedding());
    if (tensor.name == "output.weight") data = bytes_of(script.output());
    writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), data);
  }
  return writer;
}

}  // namespace warpchat
