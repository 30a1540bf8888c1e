// How a model on this machine marks its thoughts, by its vocabulary and its chat template, and whether a prompt has
// opened one.
#pragma once
#include <string_view>
#include <vector>

#include "engine/reasoning_splitter.h"
#include "models/chat_template/traced_text.h"
#include "models/tokenizer/tokenizer.h"

namespace warpchat {

struct ModelThoughts {
  const ThoughtMarks* marks = nullptr;  // of kThoughtMarks; null: its answers hold no thoughts
  std::vector<Token> open, close;       // the marks; empty: the vocabulary has no tokens for them, they are plain text

  bool has_tokens() const { return !open.empty(); }
  std::span<const ThoughtMarks> text_marks() const { return {marks, marks == nullptr || has_tokens() ? 0u : 1u}; }
};

// Marks that are tokens of the vocabulary come before plain text, and those that the template names before others.
// Plain text needs to be named, in the template or the system message: elsewhere it is just what the model says.
ModelThoughts find_thoughts(const Tokenizer& tokenizer, std::string_view chat_template,
                            std::string_view system_message);

// State after a prompt whose end the template may have written as an opening or closing mark.
ReasoningSplitter::Begin begin_after(const TracedText& prompt, const ModelThoughts& thoughts);

}  // namespace warpchat
