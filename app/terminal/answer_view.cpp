// No tags stand around the thinking: the look says it. A blank line parts it from the answer.
#include "app/terminal/answer_view.h"

#include <utility>

namespace warpchat {

namespace {

constexpr int kNoMatrix = 1;  // columns: none has so few, so that each is read in one line

std::string without_leading_blanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  return std::string(first == std::string_view::npos ? std::string_view() : text.substr(first));
}

}  // namespace

std::string AnswerView::resize(int width, int rows) {
  if (look_.width == 0) return "";
  wrap_.set_width(width);
  return table_.resize(width, rows);
}

std::string AnswerView::add(std::string_view text, bool thinking) {
  if (!thinking) return add_answer(text);
  if (!look_.hide_thinking) return add_thinking(text);
  hidden_ += text;
  return "";
}

std::string AnswerView::reclassify(bool thinking) {
  if (!thinking) return hidden_.empty() ? "" : add_answer(std::exchange(hidden_, {}));
  std::string out;
  for (const StyledText& piece : markdown_.finish()) out += add_piece(piece);
  markdown_ = MarkdownStream(look_.width);
  thought_ = started_;
  return out + table_.finish();
}

// Blanks are held until text follows them, so that none are shown at its end.
std::string AnswerView::add_thinking(std::string_view text) {
  const bool is_blank = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
  if (is_blank) {
    if (started_) held_blanks_ += text;
    return "";
  }
  std::string shown = std::exchange(held_blanks_, {}) + std::string(text);
  if (!started_) shown = without_leading_blanks(shown);
  const size_t text_end = shown.find_last_not_of(" \t\r\n") + 1;
  held_blanks_ = shown.substr(text_end);
  shown.resize(text_end);
  const std::string role = look_.roles && !started_ ? wrap_.add({"Thinking:\n"}) : "";
  thought_ = started_ = true;
  return role + wrap_.add({shown, {.dim = true}});
}

std::string AnswerView::add_answer(std::string_view text) {
  std::string out;
  std::string shown(text);
  if (thought_) {
    out = wrap_.finish() + "\n";
    thought_ = started_ = false;
    held_blanks_.clear();
  }
  if (!started_) shown = without_leading_blanks(shown);
  if (shown.empty()) return out;
  if (look_.words && !started_) markdown_ = MarkdownStream(kNoMatrix);
  if (look_.roles && !started_) out += wrap_.add({"Answer:\n"});
  started_ = true;
  for (const StyledText& piece : markdown_.add(shown)) out += add_piece(piece);
  return out + table_.show();
}

std::string AnswerView::add_piece(const StyledText& piece) {
  if (look_.width > 0 && piece.table) {
    table_.add(piece.text);
    return "";
  }
  const std::string table = table_.finish();
  return table + wrap_.add(piece);
}

std::string AnswerView::end_round(const std::vector<std::string>& lines) {
  if (!started_ && lines.empty()) return "";
  std::string out = started_ ? finish() + "\n" : "";
  for (const std::string& line : lines) out += wrap_.add({line + "\n", {.dim = true}});
  if (!lines.empty()) out += wrap_.finish() + "\n";
  markdown_ = MarkdownStream(look_.width);
  started_ = thought_ = false;
  held_blanks_.clear();
  return out;
}

std::string AnswerView::resume(std::string_view reasoning, std::string_view content) {
  std::string shown;
  bool thinking = true;
  for (std::string_view text : {reasoning, content}) {
    while (!text.empty()) {
      const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
      shown += add(line, thinking);
      if (!table_.begun()) shown.erase(0, shown.rfind('\n') + 1);
      text.remove_prefix(line.size());
    }
    thinking = false;
  }
  return shown;
}

std::string AnswerView::finish() {
  std::string out;
  for (const StyledText& piece : markdown_.finish()) out += add_piece(piece);
  return out + table_.finish() + wrap_.finish();
}

}  // namespace warpchat
