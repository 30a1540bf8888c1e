// A line editor: keys change the text, Enter submits it. Pure: it reads and writes no terminal, so that tests can press
// keys and inspect the screen.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/platform/history.h"
#include "app/platform/keys.h"
#include "app/terminal/editor/completion.h"
#include "app/terminal/editor/prompt_view.h"
#include "app/terminal/editor/text_buffer.h"

namespace warpchat {

enum class EditOutcome {
  kEditing,
  kLine,         // take_line() has it
  kInterrupted,  // Ctrl-C; text() is to be dropped
  kEnd,          // Ctrl-D on an empty text
  kSuspend,      // Ctrl-Z
  kClearScreen,  // Ctrl-L
  kEditOutside,  // Ctrl-X Ctrl-E: text() is to be changed in an editor, and change() has the result
};

// A value answers a question of the program: no command begins in it, and the history does not keep it.
enum class LineKind { kMessage, kValue };

class LineEditor {
 public:
  // Completes the text before the cursor.
  using Completer = std::function<Completion(std::string_view before)>;

  LineEditor(History& history, Completer complete) : history_(history), complete_(std::move(complete)) {}

  // A new line, perhaps with text to change.
  void begin(std::string text = "", LineKind kind = LineKind::kMessage);
  void list_commands() { lists_commands_ = true; }        // those that match, below a line that begins with a slash
  void hint(std::string row) { hint_ = std::move(row); }  // below the text, until a key is pressed; may have a style
  EditOutcome press(const Key& key);
  void change(std::string_view text);  // all of it; can be undone
  // The text, unquoted where """ stood around several lines; a message is added to the history.
  std::string take_line();
  const std::string& text() const { return buffer_.text(); }

  // The shown prompt, text and cursor for a terminal of this width; max_rows: as for lay_out_prompt.
  PromptLayout layout(int width, size_t max_rows = std::string_view::npos) const;

 private:
  EditOutcome press_control(char letter, bool behind_ctrl_x);
  std::vector<MenuEntry> menu() const;  // empty: it is closed
  bool press_in_menu(const Key& key);   // false: the key is not the menu's
  EditOutcome press_searching(const Key& key);
  EditOutcome enter();
  void recall(size_t index);
  void older();
  void newer();
  void search_older();
  void search_newer();
  void show_found(std::optional<size_t> found);  // none: the last match stays
  void complete(bool again);

  History& history_;
  Completer complete_;
  TextBuffer buffer_;
  std::string draft_;         // what was being typed before the history was recalled
  size_t history_index_ = 0;  // of the recalled line; lines().size(): the draft
  struct Search {
    std::string query = {};
    std::optional<size_t> found = {};  // index in the history
    TextBuffer before = {};            // to go back to
  };
  std::optional<Search> search_;
  bool completed_ = false;             // by the key before
  std::vector<Candidate> candidates_;  // shown until the next key
  std::string hint_;
  bool behind_ctrl_x_ = false;
  bool lists_commands_ = false;
  LineKind kind_ = LineKind::kMessage;
  bool menu_is_open_ = false, menu_is_dismissed_ = false;  // dismissed: by Escape, until another line begins
  std::optional<size_t> chosen_;                           // of the menu, by arrows
};

}  // namespace warpchat
