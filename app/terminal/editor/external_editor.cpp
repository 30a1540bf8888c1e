// The file is in a folder of its own, since editors write copies beside it.
#include "app/terminal/editor/external_editor.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "app/platform/output.h"
#include "app/platform/shell_command.h"
#include "app/platform/text_input.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

namespace fs = std::filesystem;
constexpr uint64_t kMaxEditedBytes = 4 << 20;

std::string editor_command() {
  for (const char* name : {"VISUAL", "EDITOR"})
    if (const char* command = std::getenv(name); command != nullptr && *command != '\0') return command;
  throw Error("no editor is named; set EDITOR before you start, for example: export EDITOR=nano");
}

// Removed with all that is in it.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "warpchat-XXXXXX").string();
    if (error) throw Error("there is no folder for temporary files; set TMPDIR to one");
    if (mkdtemp(path_.data()) == nullptr)
      throw Error("cannot create the folder " + path_ + ": " + std::strerror(errno));
  }
  ~PrivateFolder() {
    std::error_code error;
    fs::remove_all(path_, error);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void run_editor(const std::string& command, const std::string& file, Terminal& terminal) {
  terminal.leave();
  const std::shared_ptr<void> returns(nullptr, [&](void*) { terminal.edit(); });
  const std::optional<int> code = run_shell_command({.line = command + " \"$1\"", .argument = file});
  const std::string name = "the editor '" + printable(command, 60) + "'";
  if (!code) throw Error(name + " could not be started; the text is unchanged");
  if (*code == kCommandNotFound || *code == kNotExecutable)
    throw Error(name + " is not installed; set EDITOR to another one; the text is unchanged");
  if (*code != 0) throw Error(name + " ended with code " + std::to_string(*code) + "; the text is unchanged");
}

}  // namespace

std::string edit_in_editor(const std::string& text, Terminal& terminal) {
  const std::string command = editor_command();
  const PrivateFolder folder;
  const std::string file = folder.file("message.md");
  write_file(file, text + (text.empty() || text.ends_with('\n') ? "" : "\n"), OutputFile::Readers::kOwner);
  run_editor(command, file, terminal);
  std::string edited(without_byte_order_mark(read_regular_file(file, kMaxEditedBytes)));
  require_text(edited, "the edited text");
  return without_last_newline(std::move(edited));
}

}  // namespace warpchat
