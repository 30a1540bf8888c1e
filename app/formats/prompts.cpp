// A prompt is text of its user; it is read like any other file that comes from outside.
#include "app/formats/prompts.h"

#include <algorithm>

#include "app/formats/conversation_query.h"
#include "app/formats/prompt_text.h"
#include "app/platform/named_files.h"
#include "app/platform/program_name.h"
#include "app/platform/text_input.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr NamedFiles kPrompts{.noun = "prompt", .folder = "prompts", .extension = ".md"};

std::string with_plain_line_ends(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i)
    if (text[i] != '\r' || !text.substr(i + 1).starts_with('\n')) plain += text[i];
  return plain;
}

}  // namespace

std::vector<std::string> prompt_names() { return kPrompts.names(); }

bool is_prompt(const std::string& name) { return kPrompts.has(name); }

LibraryPrompt load_prompt(const std::string& name) {
  kPrompts.require(name);
  const std::string path = kPrompts.path_of(name), bytes = read_regular_file(path, kMaxPromptBytes);
  require_text(bytes, path);
  const std::string text = without_last_newline(with_plain_line_ends(without_byte_order_mark(bytes)));
  if (trimmed(text).empty()) throw Error(path + " has no text; write the prompt into it, or remove the file");
  try {
    placeholders_of(text);
  } catch (const Error& error) {
    throw Error(path + ": " + error.what());
  }
  return {name, text};
}

LibraryPrompt read_prompt(const std::string& name) {
  try {
    return load_prompt(name);
  } catch (const Error& error) {
    return {name, "", error.what()};
  }
}

std::vector<LibraryPrompt> read_prompts() {
  std::vector<std::string> names = prompt_names();
  if (names.size() > kMaxListedPrompts) names.resize(kMaxListedPrompts);
  std::vector<LibraryPrompt> prompts;
  for (const std::string& name : names) prompts.push_back(read_prompt(name));
  return prompts;
}

void save_prompt(const std::string& name, std::string_view text) { replace_prompt(name, name, text); }

void replace_prompt(const std::string& from, const std::string& name, std::string_view text) {
  if (trimmed(text).empty()) throw Error("a prompt needs a text");
  if (text.size() >= kMaxPromptBytes)
    throw Error("the prompt has " + counted(text.size(), "byte") + "; the limit is " + grouped(kMaxPromptBytes - 1) +
                "; attach long text as a file instead");
  require_text(text, "the prompt");
  placeholders_of(text);
  const std::string plain = with_plain_line_ends(without_byte_order_mark(text));
  kPrompts.replace(from, name, plain + (plain.ends_with('\n') ? "" : "\n"));
}

void remove_prompt(const std::string& name) { kPrompts.remove(name); }

std::string description_of(const LibraryPrompt& prompt, size_t limit) {
  if (!prompt.fault.empty()) {
    std::string fault = prompt.fault;
    const std::string folder = kPrompts.path() + "/";
    if (const size_t at = fault.find(folder); at != std::string::npos) fault.erase(at, folder.size());
    return printable(fault, limit);
  }
  const std::string_view text = trimmed(prompt.text);
  return printable(text.substr(0, text.find('\n')), limit);
}

std::pair<std::string, std::string> split_prompt_name(std::string_view line, const std::vector<std::string>& names) {
  line = trimmed(line);
  std::string_view found;
  for (const std::string& name : names) {
    const bool is_whole = line.size() == name.size() || (line.size() > name.size() && is_blank(line[name.size()]));
    if (name.size() > found.size() && line.starts_with(name) && is_whole) found = name;
  }
  if (found.empty()) return parse_name(std::string(line));
  return {std::string(found), std::string(trimmed(line.substr(found.size())))};
}

std::string no_prompts_sentence() {
  return with_program_name(
             "there is no prompt; {chat} prompt add NAME TEXT makes one, and so does a file NAME.md in ") +
         kPrompts.path();
}

}  // namespace warpchat
