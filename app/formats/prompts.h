// The library of prompts: texts that are used again, with placeholders (app/formats/prompt_text.h). Each is a file of
// its own, NAME.md in prompts/ of the configuration: the text as it is, without any header.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat {

inline constexpr uint64_t kMaxPromptBytes = 256 << 10;
inline constexpr size_t kMaxListedPrompts = 1000;

struct LibraryPrompt {
  std::string name, text;
  std::string fault = {};  // why there is no text; empty: there is
  bool operator==(const LibraryPrompt&) const = default;
};

std::vector<std::string> prompt_names();  // in the order of the alphabet
bool is_prompt(const std::string& name);

// Without the last line end; line ends are \n. Error: there is none of that name (the sentence has a similar one), or
// its file is empty, too long, no text, or has too many placeholders.
LibraryPrompt load_prompt(const std::string& name);
LibraryPrompt read_prompt(const std::string& name);  // the same with the sentence as its fault

std::vector<LibraryPrompt> read_prompts();  // the first kMaxListedPrompts

// In place of one of that name. Error: the name or the text cannot be stored.
void save_prompt(const std::string& name, std::string_view text);
// In place of `from`, which is renamed if the name is another; empty: a new one. Error also if another has the name.
void replace_prompt(const std::string& from, const std::string& name, std::string_view text);
void remove_prompt(const std::string& name);  // Error if there is none

// For a list: the first line that is not blank, cut to `limit` bytes; else the fault, without the folder.
std::string description_of(const LibraryPrompt& prompt, size_t limit = 80);

// "NAME and more": the prompt's name, which may have blanks or stand in quotes, and the rest. The longest of the names
// counts; if none fits, the first word.
std::pair<std::string, std::string> split_prompt_name(std::string_view line, const std::vector<std::string>& names);

// "there is no prompt; ...": how to make the first one.
std::string no_prompts_sentence();

}  // namespace warpchat
