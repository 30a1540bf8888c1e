#include "engine/session/model_thoughts.h"

namespace warpchat {

namespace {

// Empty if the text is not one of special tokens from its first byte to its last.
std::vector<Token> tokens_of_mark(const Tokenizer& tokenizer, std::string_view mark) {
  const std::vector<Token> tokens = tokenizer.encode(mark, /*parse_special=*/true, /*add_bos=*/false);
  const bool is_mark = tokenizer.is_special(tokens.front()) && tokenizer.is_special(tokens.back());
  return is_mark ? tokens : std::vector<Token>();
}

bool names(std::string_view text, const ThoughtMarks& marks) {
  return text.find(marks.open) != text.npos || text.find(marks.close) != text.npos;
}

// The template's own text: what a message holds opens no thought.
bool ends_with_own(const TracedText& prompt, std::string_view mark) {
  const size_t end = prompt.bytes.find_last_not_of(" \t\r\n") + 1;
  return std::string_view(prompt.bytes).substr(0, end).ends_with(mark) && !prompt.has_content(end - mark.size(), end);
}

}  // namespace

ModelThoughts find_thoughts(const Tokenizer& tokenizer, std::string_view chat_template,
                            std::string_view system_message) {
  ModelThoughts found;
  for (const ThoughtMarks& marks : kThoughtMarks) {
    std::vector<Token> open = tokens_of_mark(tokenizer, marks.open), close = tokens_of_mark(tokenizer, marks.close);
    if (open.empty() || close.empty()) continue;
    const bool is_named = names(chat_template, marks);
    if (is_named || !found.marks) found = {&marks, std::move(open), std::move(close)};
    if (is_named) break;
  }
  if (found.marks) return found;
  for (const ThoughtMarks& marks : kThoughtMarks)
    if (names(chat_template, marks) || names(system_message, marks)) return {.marks = &marks};
  return {};
}

ReasoningSplitter::Begin begin_after(const TracedText& prompt, const ModelThoughts& thoughts) {
  if (!thoughts.marks) return {};
  using State = ReasoningSplitter::State;
  const bool opened = ends_with_own(prompt, thoughts.marks->open),
             closed = ends_with_own(prompt, thoughts.marks->close);
  return {.state = opened ? State::kThinking : State::kUndecided, .has_thought = closed};
}

}  // namespace warpchat
