// Standard output and error; failed writes are reported. Everything that the program writes to a terminal goes through
// these functions.
#pragma once
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "app/platform/signals.h"

namespace warpchat {

// Standard output's reader has gone: the program ends quietly.
class OutputClosed : public std::runtime_error {
 public:
  OutputClosed() : std::runtime_error("standard output was closed") {}
};

// All of a text to standard output, at once: unchanged into a file or pipe; a terminal gets it by replace_controls.
// OutputClosed if its reader is gone, Error for a full disk and the like.
void write_output(std::string_view text);
void write_json(std::string_view json);  // the same with escape_controls_in_json

// To standard error, likewise; failures are ignored, since there is nowhere to report them.
void write_error(std::string_view text);

// Text with control sequences of this program, for a terminal: foreign text in it has passed WordWrap, PromptView or
// StatusLine, which let none through. kBehindRow: the cursor is behind the last column, which not every terminal can
// return to.
enum class CursorIs { kWithinRow, kBehindRow };
void write_styled_output(std::string_view bytes, CursorIs cursor = CursorIs::kWithinRow);
void write_styled_error(std::string_view bytes);

// Asks the terminal to put a text, as base64, on its clipboard (OSC 52), of which nothing is shown.
void copy_by_terminal(std::string_view base64);

// A row that stays below all that is written to a terminal that moves its cursor, and shorter than the terminal's rows;
// empty: none. Foreign text in it has passed PromptView.
void set_row_below(std::string_view row);

// Text for people: wrapped at words on a terminal, tabs are columns (see column_text). A last line without its end is a
// question: a blank and the cursor follow it.
void write_text(std::string_view text);
void write_error_text(std::string_view text);
void print_error(std::string_view sentence);  // to standard error, as "NAME: SENTENCE" with the program's name
void print_error_as_it_is(const char* sentence) noexcept;  // the same without memory: no line is broken
void say(std::string_view text);  // a line to standard output that is not the model's: dimmed where there is style

// Opens /dev/null in place of standard streams that the program was started without, so that no other file gets their
// numbers. Call before anything else opens files. Text for a standard output that is missing is an Error.
void open_missing_streams();

bool input_is_terminal();
bool output_is_terminal();
bool error_is_terminal();

struct OutputHabits {
  bool word_wrap = true;
  bool plain = false;  // for a screen reader: nothing is drawn again, no looks, roles in words
};
void set_output_habits(const OutputHabits& habits);  // of the whole program: it has one terminal
int output_width();                                  // columns at which text for people is broken; 0: it is not
bool moves_cursor();  // standard output is a terminal that understands escape sequences (TERM is set, and not to dumb),
                      // and may be sent them
bool error_moves_cursor();  // the same of standard error
bool wants_style();         // standard output moves its cursor, and NO_COLOR is not set

// A file that appears under its name only when complete: written to a temporary name, stored on the disk and renamed by
// finish(), and removed if finish() is never reached, also after Ctrl-C. Devices and pipes are written directly. A link
// is replaced, not followed; but one to a device is followed, except for kOwner. An export is kOwnerOrDevice.
class OutputFile {
 public:
  enum class Readers { kAsUsual, kOwner, kOwnerOrDevice };
  explicit OutputFile(std::string path, Readers readers = Readers::kAsUsual);  // Error if it cannot be created
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  void write(const void* data, size_t bytes);
  void finish();

 private:
  [[noreturn]] void fail() const;
  std::string path_, temporary_;  // temporary_ is empty when written directly
  std::optional<RemovedOnExit> doomed_;
  int fd_ = -1;
};

void require_free(const std::string& path, bool replace);  // Error if something is there that is not to be replaced

// All of a file, as OutputFile writes it.
void write_file(const std::string& path, std::string_view text,
                OutputFile::Readers readers = OutputFile::Readers::kAsUsual);

}  // namespace warpchat
