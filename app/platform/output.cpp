// write(2) until everything is out; errno decides what a failure means.
#include "app/platform/output.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <utility>

#include "app/platform/program_name.h"
#include "app/platform/signals.h"
#include "app/platform/terminal.h"
#include "app/platform/text/column_text.h"
#include "app/platform/text/word_wrap.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

OutputHabits habits;
bool has_output = true;

int width_of(int terminal) {
  winsize size;
  if (!habits.word_wrap || !isatty(terminal)) return 0;
  const bool known = ioctl(terminal, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : TerminalSize().columns;
}

// 0, or the errno of what failed.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n >= 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
    } else if (errno == EAGAIN) {  // a pipe that its other end made non-blocking
      pollfd ready{fd, POLLOUT, 0};
      poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// column_text ends every line.
std::string text_for(int terminal, std::string_view text) {
  std::string lines = column_text(text, width_of(terminal));
  if (!text.ends_with('\n') && !lines.empty()) lines.back() = ' ';
  return lines;
}

// Creates a file beside `path` and puts its name into `name`; -1 and errno if that fails. The system applies the umask,
// which cannot be read without changing it for all threads.
int create_beside(const std::string& path, mode_t mode, std::string& name) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries) {
    name = path + ".";
    for (int i = 0; i < 6; ++i) name += kLetters[random() % kLetters.size()];
    const int fd = open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

// The name of a file is stored once its folder is. Not every file system can do that.
void sync_folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  fsync(fd);
  close(fd);
}

// The row below what is written.
struct RowBelow {
  std::mutex mutex;
  std::string row;        // empty: none
  bool is_drawn = false;  // not while the cursor is behind a row
  bool can_draw = true;
};
RowBelow row_below;

// ESC D goes a row down and may scroll the screen, ESC 7 and 8 store and restore the cursor. What is drawn makes room
// first, since a screen that scrolls does not move the stored place.
std::string draw_row_below() {
  row_below.is_drawn = !row_below.row.empty() && row_below.can_draw;
  clear_below_on_exit(row_below.is_drawn);
  return row_below.is_drawn ? "\033D\033[A\0337\033D\r" + row_below.row + "\033[J\0338" : "";
}

std::string erase_row_below() { return std::exchange(row_below.is_drawn, false) ? "\0337\033D\r\033[J\0338" : ""; }

void write_or_throw(std::string_view bytes) {
  if (!has_output && !bytes.empty())
    throw Error("cannot write to standard output: it is closed; redirect it to a file, or to /dev/null");
  const int error = write_all(STDOUT_FILENO, bytes);
  if (error == EPIPE || error == EIO) throw OutputClosed();  // EIO: a terminal that was closed
  if (error != 0) throw Error(std::string("cannot write to standard output: ") + std::strerror(error));
}

bool may_move_cursor() {
  const char* term = std::getenv("TERM");
  return !habits.plain && term && *term && std::strcmp(term, "dumb") != 0;
}

}  // namespace

void write_styled_output(std::string_view bytes, CursorIs cursor) {
  const std::lock_guard lock(row_below.mutex);
  row_below.can_draw = cursor == CursorIs::kWithinRow;
  if (row_below.row.empty()) return write_or_throw(bytes);
  std::string all = erase_row_below();
  all += bytes;
  all += draw_row_below();
  write_or_throw(all);
}

void copy_by_terminal(std::string_view base64) { write_styled_output("\x1b]52;c;" + std::string(base64) + "\a"); }

void write_styled_error(std::string_view bytes) { write_all(STDERR_FILENO, bytes); }

void set_row_below(std::string_view row) {
  constexpr int kMinTerminalRows = 3;
  if (!moves_cursor() || terminal_size().rows < kMinTerminalRows) row = {};
  const std::lock_guard lock(row_below.mutex);
  if (row_below.row == row) return;
  const std::string erased = erase_row_below();
  row_below.row = row;
  write_or_throw(erased + draw_row_below());
}

void write_output(std::string_view text) {
  output_is_terminal() ? write_styled_output(replace_controls(text)) : write_styled_output(text);
}
void write_json(std::string_view json) {
  output_is_terminal() ? write_styled_output(escape_controls_in_json(json)) : write_styled_output(json);
}
void write_error(std::string_view text) {
  if (!error_is_terminal()) return write_styled_error(text);
  const std::lock_guard lock(row_below.mutex);
  write_all(STDOUT_FILENO, erase_row_below());
  write_styled_error(replace_controls(text));
  write_all(STDOUT_FILENO, draw_row_below());
}

void write_text(std::string_view text) { write_output(text_for(STDOUT_FILENO, text)); }
void write_error_text(std::string_view text) { write_error(text_for(STDERR_FILENO, text)); }

void print_error(std::string_view sentence) {
  const std::string start = program_name() + ": ";
  std::string line = start + std::string(sentence);
  for (char& c : line)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  write_error(wrapped({{.text = line, .indent = static_cast<int>(start.size())}}, width_of(STDERR_FILENO), false));
}

void print_error_as_it_is(const char* sentence) noexcept {
  for (const char* part : {program_name().c_str(), ": ", sentence, "\n"}) write_all(STDERR_FILENO, part);
}

void say(std::string_view text) {
  const std::string lines = column_text(text, output_width());
  if (!wants_style()) return write_output(lines);
  write_styled_output("\x1b[2m" + lines.substr(0, lines.size() - 1) + "\x1b[0m\n");
}

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    if (stream == STDOUT_FILENO) has_output = false;
    static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_RDONLY : O_WRONLY));  // the lowest free number
  }
}

bool input_is_terminal() { return isatty(STDIN_FILENO) != 0; }
bool output_is_terminal() { return isatty(STDOUT_FILENO) != 0; }
bool error_is_terminal() { return isatty(STDERR_FILENO) != 0; }

void set_output_habits(const OutputHabits& wanted) {
  habits = wanted;
  const auto variable = [](const char* name) { return std::getenv(name) ? std::getenv(name) : ""; };
  set_colours(colours_of(variable("TERM"), variable("COLORTERM")));
}
int output_width() { return width_of(STDOUT_FILENO); }

bool moves_cursor() { return output_is_terminal() && may_move_cursor(); }
bool error_moves_cursor() { return error_is_terminal() && may_move_cursor(); }

bool wants_style() {
  const char* no_color = std::getenv("NO_COLOR");
  return moves_cursor() && !(no_color && *no_color);
}

OutputFile::OutputFile(std::string path, Readers readers) : path_(std::move(path)) {
  struct stat status;
  const bool exists =
      readers == Readers::kOwner ? lstat(path_.c_str(), &status) == 0 : stat(path_.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    fd_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    fd_ = create_beside(path_, readers == Readers::kAsUsual ? 0666 : 0600, temporary_);
    if (fd_ >= 0) doomed_.emplace(temporary_);
  }
  if (fd_ >= 0) return;
  temporary_.clear();
  fail();
}

OutputFile::~OutputFile() {
  if (fd_ >= 0) close(fd_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::write(const void* data, size_t bytes) {
  errno = write_all(fd_, {static_cast<const char*>(data), bytes});
  if (errno != 0) fail();
}

void OutputFile::finish() {
  if (!temporary_.empty() && fsync(fd_) != 0 && errno != EINVAL) fail();
  const int closed = close(fd_);
  fd_ = -1;
  if (closed != 0) fail();
  if (!temporary_.empty() && rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  if (!temporary_.empty()) sync_folder_of(path_);
  doomed_.reset();
  temporary_.clear();
}

void OutputFile::fail() const { throw Error("cannot write " + path_ + ": " + std::strerror(errno)); }

void require_free(const std::string& path, bool replace) {
  if (!replace && access(path.c_str(), F_OK) == 0) throw Error(path + " already exists; choose another name");
}

void write_file(const std::string& path, std::string_view text, OutputFile::Readers readers) {
  OutputFile file(path, readers);
  file.write(text.data(), text.size());
  file.finish();
}

}  // namespace warpchat
