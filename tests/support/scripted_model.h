// A model whose answer is known: each token leads to one other. Its layer adds nothing to the embedding.
#pragma once
#include <string>
#include <vector>

#include "tests/support/gguf/gguf_writer.h"
#include "tests/support/tiny_vocabulary.h"

namespace warpchat {

struct ScriptedModelSpec {
  std::vector<AddedToken> added;  // to the byte-level vocabulary
  // Tokens by their texts, where a space is "Ġ" and a line break "Ċ" if they are no special token. Each leads to the
  // next; "<|im_end|>" ends an answer. A token leads to the same one everywhere, so within an answer each occurs once.
  std::vector<std::vector<std::string>> chains;
  std::string chat_template;  // empty: ChatML
};

GgufWriter scripted_model(const ScriptedModelSpec& spec);

}  // namespace warpchat
