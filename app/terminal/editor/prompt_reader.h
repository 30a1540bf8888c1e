// Reads one line (or several) from the user: the line editor on the real terminal.
#pragma once
#include <chrono>
#include <optional>
#include <string>

#include "app/platform/history.h"
#include "app/platform/terminal.h"
#include "app/platform/text/graphemes.h"
#include "app/platform/typed_text.h"
#include "app/terminal/editor/line_editor.h"
#include "app/terminal/editor/typed_ahead.h"

namespace warpchat {

struct PromptLine {
  enum class Kind {
    kText,
    kInterrupted,  // Ctrl-C; text: what had been typed, and is dropped; to be read again at once
    kEnd,          // the user leaves
  } kind;
  std::string text = {};
};

// One of these letters, pressed once the question is on the screen; the terminal is then still in edit. The end of
// input gives `at_end`; nullopt: Ctrl-C.
std::optional<char> ask_key(Terminal& terminal, const std::string& question, std::string_view letters, char at_end);

class PromptReader {
 public:
  PromptReader(Terminal& terminal, History& history, LineEditor::Completer complete);

  void list_commands() { editor_.list_commands(); }  // below a line that begins with a slash

  // text: what is there to change already. hint: a line below it until a key is pressed, where the cursor can move.
  PromptLine read(std::string text = "", const std::string& hint = "", LineKind kind = LineKind::kMessage);

  // A value for what is called so. preset: what is there to change; where the cursor cannot move, an empty line stands
  // for it.
  PromptLine ask(const std::string& name, const std::optional<std::string>& preset);

  // The same; what was pressed before is the next line's.
  std::optional<char> ask_key(const std::string& question, std::string_view letters, char at_end);

  // While the program is at work: reads the keys that have been pressed, and shows below its output what they will
  // write. They are the next line's. To be called often.
  void read_ahead();

 private:
  PromptLine read_plain(const std::string& question);  // where the cursor cannot move
  void type_waiting();
  void keep_for_next_line();
  std::optional<EditOutcome> press_keys(const std::vector<Key>& keys);  // one that ends the line, if it comes
  PromptLine take_line(EditOutcome outcome);
  void draw();
  void edit_outside();
  void probe_widths();                  // asks the terminal how wide it draws emoji sequences
  void take_cursor_column(int column);  // its answers, in order
  Terminal& terminal_;
  LineEditor editor_;
  PromptView view_;
  KeyDecoder decoder_;
  std::optional<size_t> n_probed_;  // answers that came; none before the question
  WidthRules width_rules_;
  bool is_reading_ = false;
  TypedAhead ahead_;  // keys that came after the line's end: the next line's
  std::chrono::steady_clock::time_point last_bytes_;
  std::vector<Key> waiting_;  // those where the cursor cannot move
  TypedText typed_;           // where the cursor cannot move
  std::string plain_input_;   // lines that came and have not been asked for
};

}  // namespace warpchat
