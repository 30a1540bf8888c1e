#include "models/model_purpose.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "models/gguf_value.h"
#include "models/text_format.h"

namespace warpchat {
namespace {

constexpr std::string_view kInstead = "; choose a model that is made for chat";

// PREFIX.pooling_type: how the hidden states of all positions become one result. 0 and -1: they do not.
constexpr std::array<std::string_view, 5> kPoolings = {"none", "mean", "first token", "last token", "rank"};
constexpr size_t kRank = 4;

std::string why_pooling(const GgufFile& file) {
  for (const GgufValue& value : file.values()) {
    if (!value.key.ends_with(".pooling_type") || value.type == GgufType::kArray) continue;
    const auto number = integer_at(value, 0);
    if (!number || *number < 1 || *number >= std::ssize(kPoolings)) continue;
    const auto type = static_cast<size_t>(*number);
    return "key " + printable(value.key) + " is " + std::to_string(type) + " (" + std::string(kPoolings[type]) +
           "): the model " + (type == kRank ? "ranks texts" : "makes vectors of texts (embeddings)") +
           " and cannot chat" + std::string(kInstead);
  }
  return "";
}

// Layers behind the last block that have no use for a chat.
std::string why_other_output(const GgufFile& file) {
  for (const TensorInfo& tensor : file.tensors())
    for (const char* prefix : {"cls.", "dense_2.", "dense_3."})
      if (tensor.name.starts_with(prefix))
        return "tensor " + printable(tensor.name) + " belongs to a model that " +
               (tensor.name.starts_with("cls.") ? "ranks or classifies texts" : "makes vectors of texts (embeddings)") +
               " and cannot chat" + std::string(kInstead);
  return "";
}

// The number in "blk.N.", or -1.
int64_t block_of(std::string_view tensor) {
  constexpr std::string_view kPrefix = "blk.";
  if (!tensor.starts_with(kPrefix)) return -1;
  tensor.remove_prefix(kPrefix.size());
  int64_t block = -1;
  std::from_chars(tensor.data(), tensor.data() + tensor.size(), block);
  return block;
}

std::string why_draft(const GgufFile& file) {
  constexpr std::string_view kDraft = "it is a draft for another model, which proposes tokens and cannot chat alone";
  const std::string architecture(file.get_string("general.architecture", ""));
  for (const char* draft : {"eagle3", "dflash"})
    if (architecture == draft)
      return "architecture \"" + architecture + "\": " + std::string(kDraft) + "; choose that model";
  const std::string key = architecture + ".nextn_predict_layers", count = architecture + ".block_count";
  if (!file.has(key) || !file.has(count)) return "";
  const uint64_t n_drafting = file.get_uint(key), n_blocks = file.get_uint(count);
  if (n_drafting == 0) return "";
  bool has_blocks = false;
  const bool has_layers = std::ranges::any_of(file.tensors(), [&](const TensorInfo& tensor) {
    const int64_t block = block_of(tensor.name);
    has_blocks = has_blocks || block >= 0;
    return block >= 0 && n_drafting < n_blocks && static_cast<uint64_t>(block) < n_blocks - n_drafting;
  });
  if (has_layers || !has_blocks) return "";
  return "key " + key + " is " + grouped(n_drafting) + " and the file has no other blocks: " + std::string(kDraft) +
         "; choose that model";
}

}  // namespace

std::string why_no_chat_model(const GgufFile& file) {
  // Adapters and importance matrices state the architecture of their model.
  if (const std::string_view type = file.get_string("general.type", "model"); type != "model")
    return "key general.type is \"" + printable(type) + "\", expected \"model\": it is no model of its own";
  std::string why = why_pooling(file);
  if (why.empty()) why = why_other_output(file);
  return why.empty() ? why_draft(file) : why;
}

}  // namespace warpchat
