// Completion scripts for bash, zsh and fish. They know the commands, their flags and what kind of value a flag takes;
// names of models come from the program itself.
#include <algorithm>
#include <cctype>

#include "app/commands/help/command_help.h"
#include "app/platform/program_name.h"

namespace warpchat {

namespace {

std::string replace_all(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

// "{name}": the program's name; "{function}": a function of it, "{commands}": the commands' names.
std::string filled_script(std::string_view script, const std::vector<CommandHelp>& commands) {
  std::string function = "_" + program_name(), names;
  for (char& c : function)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  for (size_t i = 1; i < commands.size(); ++i) names += (names.empty() ? "" : " ") + commands[i].name;
  std::string text = replace_all(std::string(script), "{name}", program_name());
  return replace_all(replace_all(text, "{function}", function), "{commands}", names);
}

std::string join_words(const std::vector<std::string>& words, std::string_view separator) {
  std::string text;
  for (const std::string& word : words) text += std::string(text.empty() ? "" : separator) + word;
  return text;
}

// ---- bash ----

constexpr std::string_view kBashStart = R"script(# bash completion for {name}, as "{name} help --format bash" writes it.
{function}_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$2")
}

# A model's name may have colons, at which bash splits words: what stands before the last one is there already.
{function}_models() {
  local typed=${COMP_LINE:0:COMP_POINT} names before='' i
  typed=${typed##*[[:space:]=]}
  [[ $COMP_WORDBREAKS == *:* ]] && before=${typed%"${typed##*:}"}
  names=$("$1" --list-models 2>/dev/null | sed 's/  .*//')
  {function}_files -f "$2"
  for i in $(compgen -W "$names" -- "$typed"); do COMPREPLY+=("${i#"$before"}"); done
}

{function}() {
  local word=$2 previous=$3 command=chat first=1 flags='' arguments=''
  COMPREPLY=()
  # bash splits --flag=value at the equals sign.
  if [[ $word == '=' ]]; then word=''
  elif [[ $previous == '=' ]]; then previous=${COMP_WORDS[COMP_CWORD-2]}
  fi
  [[ ${COMP_WORDS[1]} == -m || ${COMP_WORDS[1]} == --model ]] && first=3
  if ((COMP_CWORD > first)) && [[ " {commands} " == *" ${COMP_WORDS[first]} "* ]]; then
    command=${COMP_WORDS[first]}
  fi
  case $command,$previous in
)script";

constexpr std::string_view kBashEnd = R"script(  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
  elif ((COMP_CWORD == first)); then
    COMPREPLY=($(compgen -W '{commands}' -- "$word"))
  elif [[ $arguments == MODEL ]]; then
    {function}_models "$1" "$word"
  else
    COMPREPLY=($(compgen -W "$arguments" -- "$word"))
  fi
}
complete -F {function} {name}
)script";

std::string bash_value(const FlagHelp& flag) {
  switch (value_kind(flag)) {
    case ValueKind::kWord:
      return "COMPREPLY=($(compgen -W '" + join_words(flag.words, " ") + "' -- \"$word\"))";
    case ValueKind::kFile:
      return "{function}_files -f \"$word\"";
    case ValueKind::kFolder:
      return "{function}_files -d \"$word\"";
    case ValueKind::kModel:
      return "{function}_models \"$1\" \"$word\"";
    default:
      return ":";
  }
}

// ---- zsh ----

constexpr std::string_view kZshStart = R"script(#compdef {name}
# zsh completion for {name}, as "{name} help --format zsh" writes it.

{function}_models() {
  local -a names
  names=(${(f)"$(_call_program models {name} --list-models 2>/dev/null | sed 's/  .*//')"})
  compadd -a names
  _files -g '*.gguf'
}

{function}() {
  local -a commands flags
  local command=chat
  integer first=2
  commands=(
)script";

constexpr std::string_view kZshMiddle = R"script(  )
  [[ $words[2] == (-m|--model) ]] && first=4
  if (( CURRENT > first )) && [[ " {commands} " == *" $words[first] "* ]]; then
    command=$words[first]
    words[first]=()
    (( CURRENT-- ))
  elif (( CURRENT == first )) && [[ $words[CURRENT] != -* ]]; then
    _describe command commands
    return
  fi
  case $command in
)script";

constexpr std::string_view kZshEnd = R"script(  esac
  _arguments $flags
}

# The completion system loads this file as a function; a shell may also source it.
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  {function} "$@"
else
  compdef {function} {name}
fi
)script";

std::string zsh_quoted(const std::string& text) { return "'" + replace_all(text, "'", R"('\'')") + "'"; }

// Escapes a text that stands between brackets or colons in a specification of _arguments.
std::string zsh_part(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string zsh_value(const FlagHelp& flag) {
  const std::string start = ":" + zsh_part(flag.value) + ":";
  switch (value_kind(flag)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kWord:
      return start + "(" + zsh_part(join_words(flag.words, " ")) + ")";
    case ValueKind::kFile:
      return start + "_files";
    case ValueKind::kFolder:
      return start + "_files -/";
    case ValueKind::kModel:
      return start + "{function}_models";
    case ValueKind::kText:
      break;
  }
  return (flag.value.starts_with('[') ? ":" : "") + start + " ";  // two colons: it may be left out
}

std::string zsh_flag(const FlagHelp& flag) {
  if (flag.names.empty()) return "      " + zsh_quoted((flag.repeats ? "*" : "") + zsh_value(flag)) + "\n";
  std::string lines;
  for (const std::string& name : flag.names) {
    const std::string start = flag.repeats ? "*" : "(" + join_words(flag.names, " ") + ")";
    const bool has_long_value = name.starts_with("--") && !flag.value.empty();
    lines +=
        "      " +
        zsh_quoted(start + name + (has_long_value ? "=" : "") + "[" + zsh_part(flag.help) + "]" + zsh_value(flag)) +
        "\n";
  }
  return lines;
}

// ---- fish ----

constexpr std::string_view kFishStart = R"script(# fish completion for {name}, as "{name} help --format fish" writes it.
function _{function}_words -d 'Words of the command line from the place of a command on'
    set -l words (commandline -opc)
    set -e words[1]
    if contains -- "$words[1]" -m --model
        set -e words[1]
        set -e words[1]
    end
    string join -- \n $words
end

function _{function}_wants_command -d 'Whether a command can stand here'
    set -l words (commandline -opc)
    test (count $words) -eq 1; and return 0
    test (count $words) -eq 3; and contains -- $words[2] -m --model
end

function _{function}_is -d 'Whether the command line is one of this command'
    set -l words (_{function}_words)
    set -l command chat
    contains -- "$words[1]" {commands}; and set command $words[1]
    test $command = $argv[1]
end

function _{function}_models -d 'Names of the models that are here'
    {name} --list-models 2>/dev/null | string replace -r '  .*' ''
end

complete -c {name} -f
)script";

std::string fish_quoted(const std::string& text) {
  return "'" + replace_all(replace_all(text, "\\", "\\\\"), "'", "\\'") + "'";
}

std::string fish_value(const FlagHelp& flag) {
  switch (value_kind(flag)) {
    case ValueKind::kNone:
      return "";
    case ValueKind::kWord:
      return " -x -a " + fish_quoted(join_words(flag.words, " "));
    case ValueKind::kFile:
      return " -r -F";
    case ValueKind::kFolder:
      return " -x -a '(__fish_complete_directories)'";
    case ValueKind::kModel:
      return " -r -F -a '(_{function}_models)'";
    case ValueKind::kText:
      break;
  }
  return flag.value.starts_with('[') ? "" : " -x";
}

std::string fish_flag(const CommandHelp& command, const FlagHelp& flag) {
  const ValueKind kind = value_kind(flag);
  const bool is_argument = flag.names.empty();
  if (is_argument && kind != ValueKind::kWord && kind != ValueKind::kModel) return "";  // nothing to offer
  std::string line = "complete -c {name} -n '_{function}_is " + command.name + "'";
  for (const std::string& name : flag.names) {
    const bool is_long = name.starts_with("--");
    line += is_long ? " -l " + name.substr(2) : (name.size() == 2 ? " -s " : " -o ") + name.substr(1);
  }
  if (is_argument) return line + fish_value(flag).substr(3) + "\n";  // without -x or -r, which only flags have
  return line + fish_value(flag) + " -d " + fish_quoted(flag.help) + "\n";
}

}  // namespace

std::string bash_completion(const std::vector<CommandHelp>& commands) {
  std::string text(kBashStart);
  for (const CommandHelp& command : commands)
    for (const FlagHelp& flag : command.flags) {
      if (flag.value.empty() || flag.names.empty() || flag.value.starts_with('[')) continue;
      std::string names;
      for (const std::string& name : flag.names) names += (names.empty() ? "" : " | ") + command.name + "," + name;
      text += "    " + names + ") " + bash_value(flag) + "; return ;;\n";
    }
  text += "  esac\n  case $command in\n";
  for (const CommandHelp& command : commands) {
    std::string flags, arguments;
    for (const FlagHelp& flag : command.flags) {
      if (!flag.names.empty()) flags += (flags.empty() ? "" : " ") + join_words(flag.names, " ");
      if (!flag.names.empty()) continue;
      if (value_kind(flag) == ValueKind::kWord) arguments = join_words(flag.words, " ");
      if (value_kind(flag) == ValueKind::kModel) arguments = flag.value;
    }
    text += "    " + command.name + ") flags='" + flags + "'" +
            (arguments.empty() ? "" : " arguments='" + arguments + "'") + " ;;\n";
  }
  return filled_script(text + std::string(kBashEnd), commands);
}

std::string zsh_completion(const std::vector<CommandHelp>& commands) {
  std::string text(kZshStart);
  for (size_t i = 1; i < commands.size(); ++i)
    text += "    " + zsh_quoted(commands[i].name + ":" + commands[i].purpose) + "\n";
  text += kZshMiddle;
  for (const CommandHelp& command : commands) {
    text += "    " + command.name + ") flags=(\n";
    for (const FlagHelp& flag : command.flags) text += zsh_flag(flag);
    text += "    ) ;;\n";
  }
  return filled_script(text + std::string(kZshEnd), commands);
}

std::string fish_completion(const std::vector<CommandHelp>& commands) {
  std::string text(kFishStart);
  for (size_t i = 1; i < commands.size(); ++i)
    text += "complete -c {name} -n _{function}_wants_command -a " + commands[i].name + " -d " +
            fish_quoted(commands[i].purpose) + "\n";
  for (const CommandHelp& command : commands)
    for (const FlagHelp& flag : command.flags) text += fish_flag(command, flag);
  return filled_script(text, commands);
}

}  // namespace warpchat
