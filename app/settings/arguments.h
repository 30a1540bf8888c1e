// The command line as typed, made ready for CLI11.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// llama.cpp's flags of several letters behind one dash become long ones (-ctk: --cache-type-k), since CLI11 would read
// them as a row of short flags; texts that stand as values (-p -sys) and whatever follows "--" stay as they are.
std::vector<std::string> rewrite_arguments(std::vector<std::string> arguments);

// The next argument is free text, however it looks.
bool takes_text(std::string_view argument);

// The short spelling of a long flag: "--ubatch-size" has "-ub"; empty if it has none.
std::string_view short_spelling(std::string_view flag);

// The command of a line and its arguments. The command is the first word, or the first after a leading
// "-m MODEL" ("chat -m x.gguf bench" is "chat bench -m x.gguf"); "chat" where there is none.
struct CommandLine {
  std::string command;
  std::vector<std::string> arguments;
};
CommandLine split_command(std::vector<std::string> arguments, const std::vector<std::string_view>& commands);

}  // namespace warpchat
