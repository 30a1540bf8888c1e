// The man page in section 1, in roff with the macros of man(7).
#include <algorithm>

#include "app/commands/help/command_help.h"
#include "app/platform/program_name.h"
#include "app/platform/version.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

// Escapes characters that roff would replace by typographic ones or interpret.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      default:
        escaped += c;
    }
  }
  if (escaped.starts_with('.')) escaped.insert(0, "\\&");
  return escaped;
}

std::string roff_bold(const std::string& text) { return "\\fB" + roff(text) + "\\fR"; }
std::string roff_italic(const std::string& text) { return "\\fI" + roff(text) + "\\fR"; }
std::string roff_section(const std::string& title) { return ".SH \"" + roff(title) + "\"\n"; }
std::string upper_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string roff_row(const FlagHelp& flag) {
  std::string names = word_list(flag.names, ", ", roff_bold);
  if (!flag.value.empty()) names += (names.empty() ? "" : " ") + roff_italic(flag.value);
  return ".TP\n" + names + "\n" + roff(flag.help) + "\n";
}

bool is_same(const FlagHelp& one, const FlagHelp& other) { return one.names == other.names && one.help == other.help; }

// A command's own flags, and the names of those that it shares with a conversation.
std::string command_section(const CommandHelp& conversation, const CommandHelp& command) {
  std::string text = roff_section("COMMAND " + upper_case(command.name)) +
                     roff_bold(program_name() + " " + command.name) + " [FLAGS]\n.PP\n" +
                     roff(capitalized(command.purpose)) + ".\n";
  std::string shared;
  for (const FlagHelp& flag : command.flags) {
    const bool is_shared =
        std::ranges::any_of(conversation.flags, [&](const FlagHelp& other) { return is_same(flag, other); });
    if (!is_shared)
      text += roff_row(flag);
    else
      shared += (shared.empty() ? "" : ", ") + roff_bold(flag.names.back());
  }
  return text + ".PP\nFlags shared with a conversation: " + shared + ".\n";
}

constexpr std::string_view kPageEnd = R"(.SH EXAMPLES
.nf
{chat} \-m qwen2.5\-3b\-instruct\-q4_k_m.gguf
{chat} \-m Qwen/Qwen2.5\-3B\-Instruct\-GGUF:Q4_K_M
git diff | {chat} \-p \(dqWrite a commit message for this change.\(dq
.fi
.SH EXIT STATUS
.TP
.B 0
Done. For \fBcompare\fR, no column differs.
.TP
.B 1
An error. For \fBcompare\fR, a column differs.
.TP
.B 2
Wrong usage.
.TP
.B 130
Interrupted by Ctrl\-C.
.SH FILES
The folders follow the variables of the XDG base directories.
.TP
.I \(ti/.local/share/warpchat/conversations.db
Conversations.
.TP
.I \(ti/.config/warpchat/endpoints.json
Servers that have a name.
.TP
.I \(ti/.cache/warpchat/models
One of the folders in which models are found.
)";

}  // namespace

std::string man_page(const std::vector<CommandHelp>& commands) {
  const std::string name = program_name();
  std::string text =
      ".TH " + upper_case(roff(name)) + " 1 \"\" \"" + roff(name + " " + kVersion) + "\" \"User Commands\"\n";
  text += roff_section("NAME") + roff(name) + " \\- " + roff(commands[0].purpose) + "\n";
  text += roff_section("SYNOPSIS") + roff_bold(name) + " [FLAGS]\n.br\n" + roff_bold(name) + " " + roff("\"") +
          roff_italic("QUESTION") + roff("\"") + " [FLAGS]\n.br\n" + roff_bold(name) + " " + roff_italic("COMMAND") +
          " [FLAGS]\n";
  text += roff_section("DESCRIPTION") + "Without a command, a conversation in the terminal begins, or with " +
          roff_bold("--gui") + " one in a window.\nWith a question, " + roff_bold("-p") + ", " + roff_bold("-f") +
          " or piped input there is one answer, which alone goes to standard output.\n";
  text += roff_section("COMMANDS");
  for (size_t i = 1; i < commands.size(); ++i)
    text += ".TP\n" + roff_bold(commands[i].name) + "\n" + roff(commands[i].purpose) + "\n";
  text += roff_section("FLAGS OF A CONVERSATION");
  for (const FlagGroup& group : grouped_flags(commands[0].flags)) {
    text += ".SS \"" + roff(group.title) + "\"\n";
    for (const FlagHelp& flag : group.flags) text += roff_row(flag);
  }
  for (size_t i = 1; i < commands.size(); ++i) text += command_section(commands[0], commands[i]);
  return text + with_program_name(kPageEnd);
}

}  // namespace warpchat
