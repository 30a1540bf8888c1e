// One switch over the keys; the search of Ctrl-R is a separate mode.
#include "app/terminal/editor/line_editor.h"

#include <utility>

namespace warpchat {

namespace {

constexpr std::string_view kQuotes = "\"\"\"";
constexpr int kPageLines = 10;  // that PageUp and PageDown pass

bool opens_quotes(std::string_view text) {
  return text.starts_with(kQuotes) && !(text.size() >= 2 * kQuotes.size() && text.ends_with(kQuotes));
}

// What stands between """ and """, without a line break right after the first and right before the last.
std::string without_quotes(std::string_view text) {
  if (!text.starts_with(kQuotes) || opens_quotes(text)) return std::string(text);
  text = text.substr(kQuotes.size(), text.size() - 2 * kQuotes.size());
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

void LineEditor::begin(std::string text, LineKind kind) {
  kind_ = kind;
  buffer_.set(std::move(text));
  draft_.clear();
  history_index_ = history_.lines().size();
  search_.reset();
  candidates_.clear();
  hint_.clear();
  menu_is_open_ = menu_is_dismissed_ = false;
  chosen_.reset();
}

void LineEditor::change(std::string_view text) {
  buffer_.text_end();
  buffer_.replace_left(0, text);
}

std::string LineEditor::take_line() {
  if (kind_ == LineKind::kMessage) history_.add(buffer_.text());
  std::string line = buffer_.is_folded(0) ? buffer_.text() : without_quotes(buffer_.text());
  begin();
  return line;
}

PromptLayout LineEditor::layout(int width, size_t max_rows) const {
  if (!search_) {
    PromptLayout layout = lay_out_prompt(kPromptMark, kContinuationMark, buffer_, width, max_rows);
    for (std::string& row : candidates_.empty() ? menu_rows(menu(), chosen_, width) : in_columns(candidates_, width)) {
      layout.rows.push_back({row, text_width(row)});
      ++layout.n_listed;
    }
    if (!hint_.empty()) {
      layout.rows.push_back({hint_, 0});
      ++layout.n_listed;
    }
    return layout;
  }
  const std::string prompt =
      (search_->found || search_->query.empty() ? "search '" : "nothing with '") + search_->query + "': ";
  const TextBuffer nothing;  // was searched for yet
  return lay_out_prompt(prompt, kContinuationMark, search_->query.empty() ? nothing : buffer_, width, max_rows);
}

EditOutcome LineEditor::press(const Key& key) {
  if (search_) return press_searching(key);
  if (key.kind == KeyKind::kCursorColumn) return EditOutcome::kEditing;
  hint_.clear();
  if (press_in_menu(key)) return EditOutcome::kEditing;
  const bool again = std::exchange(completed_, key.kind == KeyKind::kTab);
  const bool behind_ctrl_x = std::exchange(behind_ctrl_x_, key.kind == KeyKind::kControl && key.letter == 'X');
  candidates_.clear();
  switch (key.kind) {
    case KeyKind::kText:
      buffer_.insert(key.text);
      break;
    case KeyKind::kPaste:
      buffer_.paste(key.text);
      break;
    case KeyKind::kControl:
      return press_control(key.letter, behind_ctrl_x);
    case KeyKind::kEnter:
      return enter();
    case KeyKind::kNewline:
      buffer_.insert("\n");
      break;
    case KeyKind::kTab:
      complete(again);
      break;
    case KeyKind::kBackspace:
      buffer_.erase_left();
      break;
    case KeyKind::kDelete:
      buffer_.erase_right();
      break;
    case KeyKind::kLeft:
      buffer_.left();
      break;
    case KeyKind::kRight:
      buffer_.right();
      break;
    case KeyKind::kUp:
      older();
      break;
    case KeyKind::kDown:
      newer();
      break;
    case KeyKind::kHome:
      buffer_.line_start();
      break;
    case KeyKind::kEnd:
      buffer_.line_end();
      break;
    case KeyKind::kTextStart:
      buffer_.text_start();
      break;
    case KeyKind::kTextEnd:
      buffer_.text_end();
      break;
    case KeyKind::kWordLeft:
      buffer_.word_left();
      break;
    case KeyKind::kWordRight:
      buffer_.word_right();
      break;
    case KeyKind::kDeleteWordLeft:
      buffer_.kill_word_left();
      break;
    case KeyKind::kDeleteWordRight:
      buffer_.kill_word_right();
      break;
    case KeyKind::kUpperWord:
      buffer_.change_word(LetterCase::kUpper);
      break;
    case KeyKind::kLowerWord:
      buffer_.change_word(LetterCase::kLower);
      break;
    case KeyKind::kCapitalWord:
      buffer_.change_word(LetterCase::kCapital);
      break;
    case KeyKind::kSwapWords:
      buffer_.swap_words();
      break;
    case KeyKind::kPageUp:
      for (int i = 0; i < kPageLines && buffer_.line_up(); ++i) continue;
      break;
    case KeyKind::kPageDown:
      for (int i = 0; i < kPageLines && buffer_.line_down(); ++i) continue;
      break;
    case KeyKind::kEscape:
    case KeyKind::kCursorColumn:
    case KeyKind::kOther:
      break;
  }
  return EditOutcome::kEditing;
}

// What is typed opens it, and all other keys close it: a line that was recalled has none.
bool LineEditor::press_in_menu(const Key& key) {
  const std::vector<MenuEntry> entries = menu();
  const std::optional<size_t> chosen = std::exchange(chosen_, std::nullopt);
  menu_is_open_ = key.kind == KeyKind::kText || key.kind == KeyKind::kBackspace || key.kind == KeyKind::kTab;
  if (!buffer_.text().starts_with('/')) menu_is_dismissed_ = false;
  if (entries.empty()) return false;
  const size_t n = entries.size();
  switch (key.kind) {
    case KeyKind::kDown:
      chosen_ = chosen ? (*chosen + 1) % n : 0;
      break;
    case KeyKind::kUp:
      chosen_ = (chosen.value_or(0) + n - 1) % n;
      break;
    case KeyKind::kEscape:
      menu_is_dismissed_ = true;
      break;
    case KeyKind::kTab:
    case KeyKind::kEnter:
      if (!chosen) return false;
      change(entries[*chosen].text);
      completed_ = false;
      break;
    default:
      return false;
  }
  return menu_is_open_ = true;
}

std::vector<MenuEntry> LineEditor::menu() const {
  const bool is_typed = menu_is_open_ && !menu_is_dismissed_ && buffer_.cursor() == buffer_.text().size();
  const bool is_open = lists_commands_ && is_typed && kind_ == LineKind::kMessage;
  return is_open ? menu_entries(buffer_.text(), complete_) : std::vector<MenuEntry>();
}

EditOutcome LineEditor::press_control(char letter, bool behind_ctrl_x) {
  switch (letter) {
    case 'A':
      buffer_.line_start();
      break;
    case 'B':
      buffer_.left();
      break;
    case 'C':
      buffer_.keep_for_yank();
      return EditOutcome::kInterrupted;
    case 'D':
      if (buffer_.empty()) return EditOutcome::kEnd;
      buffer_.erase_right();
      break;
    case 'E':
      if (behind_ctrl_x) return EditOutcome::kEditOutside;
      buffer_.line_end();
      break;
    case 'F':
      buffer_.right();
      break;
    case 'K':
      buffer_.kill_to_line_end();
      break;
    case 'L':
      return EditOutcome::kClearScreen;
    case 'N':
      newer();
      break;
    case 'O':
      buffer_.open_pastes();
      break;
    case 'P':
      older();
      break;
    case 'R':
      search_older();
      break;
    case 'T':
      buffer_.swap_characters();
      break;
    case 'U':
      buffer_.kill_to_line_start();
      break;
    case 'W':
      buffer_.kill_to_blank_left();
      break;
    case 'Y':
      buffer_.yank();
      break;
    case 'Z':
      return EditOutcome::kSuspend;
    case '_':
      buffer_.undo();
      break;
    default:
      break;
  }
  return EditOutcome::kEditing;
}

EditOutcome LineEditor::press_searching(const Key& key) {
  const bool backspace = key.kind == KeyKind::kBackspace;
  if (key.kind == KeyKind::kText || backspace) {
    if (key.kind == KeyKind::kText)
      search_->query += key.text;
    else {
      TextBuffer query;
      query.set(search_->query);
      query.erase_left();
      search_->query = query.text();
    }
    search_->found = std::nullopt;
    if (search_->query.empty()) buffer_ = search_->before;
    search_older();
    return EditOutcome::kEditing;
  }
  const bool control = key.kind == KeyKind::kControl;
  if (control && (key.letter == 'R' || key.letter == 'S')) {
    key.letter == 'R' ? search_older() : search_newer();
    return EditOutcome::kEditing;
  }
  const Search ended = std::move(*search_);
  search_.reset();
  if (control && (key.letter == 'G' || key.letter == 'C')) {
    buffer_ = ended.before;
    return EditOutcome::kEditing;
  }
  if (ended.found) history_index_ = *ended.found;
  return key.kind == KeyKind::kEscape ? EditOutcome::kEditing : press(key);
}

EditOutcome LineEditor::enter() {
  if (!buffer_.is_folded(0) && opens_quotes(buffer_.text())) {
    buffer_.insert("\n");
    return EditOutcome::kEditing;
  }
  if (buffer_.cursor() == buffer_.text().size() && buffer_.text().ends_with('\\') &&
      !buffer_.is_folded(buffer_.previous(buffer_.cursor()))) {
    buffer_.replace_left(buffer_.cursor() - 1, "\n");
    return EditOutcome::kEditing;
  }
  return EditOutcome::kLine;
}

void LineEditor::recall(size_t index) {
  if (history_index_ == history_.lines().size()) draft_ = buffer_.text();
  history_index_ = index;
  buffer_.set(index == history_.lines().size() ? draft_ : history_.lines()[index]);
}

void LineEditor::older() {
  if (!buffer_.line_up() && history_index_ > 0) recall(history_index_ - 1);
}

void LineEditor::newer() {
  if (!buffer_.line_down() && history_index_ < history_.lines().size()) recall(history_index_ + 1);
}

void LineEditor::search_older() {
  if (!search_) {
    if (history_index_ == history_.lines().size()) draft_ = buffer_.text();
    search_.emplace(Search{.before = buffer_});
    return;
  }
  if (search_->query.empty()) return;
  show_found(history_.search(search_->query, search_->found.value_or(history_.lines().size())));
}

void LineEditor::search_newer() {
  if (!search_->query.empty() && search_->found) show_found(history_.search_newer(search_->query, *search_->found + 1));
}

void LineEditor::show_found(std::optional<size_t> found) {
  if (!found) return;
  search_->found = found;
  buffer_.set(history_.lines()[*found]);
}

// What the candidates have in common is written, and Tab again lists them.
void LineEditor::complete(bool again) {
  if (kind_ == LineKind::kValue) return;
  Completion completion = complete_(std::string_view(buffer_.text()).substr(0, buffer_.cursor()));
  if (completion.candidates.empty()) return;
  const std::string prefix = completion.common_prefix();
  if (prefix.size() >= buffer_.cursor() - completion.from) buffer_.replace_left(completion.from, prefix);
  if (again && completion.candidates.size() > 1) candidates_ = std::move(completion.candidates);
}

}  // namespace warpchat
