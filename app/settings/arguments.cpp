// Two small rewritings, both pure.
#include "app/settings/arguments.h"

#include <algorithm>
#include <array>

namespace warpchat {

namespace {

struct Spelling {
  std::string_view typed, full;
};
constexpr Spelling kSpellings[] = {
    {"-ctk", "--cache-type-k"}, {"-ctv", "--cache-type-v"}, {"-sys", "--system-prompt"},   {"-ub", "--ubatch-size"},
    {"-np", "--parallel"},      {"-dev", "--device"},       {"-jf", "--json-schema-file"},
};

constexpr std::array<std::string_view, 10> kTakesText = {
    "-p",         "--prompt", "-sys",          "--system-prompt", "--chat-template", "--chat-template-kwargs",
    "--messages", "-j",       "--json-schema", "--grammar"};

std::string rewrite(const std::string& argument) {
  for (const Spelling& s : kSpellings) {
    if (argument == s.typed) return std::string(s.full);
    if (argument.starts_with(s.typed) && argument[s.typed.size()] == '=')
      return std::string(s.full) + argument.substr(s.typed.size());
  }
  return argument;
}

}  // namespace

bool takes_text(std::string_view argument) {
  return std::find(kTakesText.begin(), kTakesText.end(), argument) != kTakesText.end();
}

std::vector<std::string> rewrite_arguments(std::vector<std::string> arguments) {
  bool is_value = false;
  for (std::string& argument : arguments) {
    if (argument == "--" && !is_value) break;
    const bool value_next = !is_value && takes_text(argument);
    if (!is_value) argument = rewrite(argument);
    is_value = value_next;
  }
  return arguments;
}

std::string_view short_spelling(std::string_view flag) {
  for (const Spelling& s : kSpellings)
    if (s.full == flag) return s.typed;
  return {};
}

CommandLine split_command(std::vector<std::string> arguments, const std::vector<std::string_view>& commands) {
  size_t at = 0;
  if (!arguments.empty()) {
    const std::string& first = arguments[0];
    if (first == "-m" || first == "--model")
      at = 2;
    else if (first.starts_with("--model=") || (first.starts_with("-m") && first.size() > 2))
      at = 1;
  }
  const bool named =
      at < arguments.size() && std::find(commands.begin(), commands.end(), arguments[at]) != commands.end();
  if (!named) return {"chat", std::move(arguments)};
  std::string command = arguments[at];
  arguments.erase(arguments.begin() + static_cast<std::ptrdiff_t>(at));
  return {std::move(command), std::move(arguments)};
}

}  // namespace warpchat
