// A folder of the configuration with one file for each name: assistants, prompts. People edit, copy and remove the
// files by hand, too.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// 1 to 64 bytes of UTF-8 without '/' and control characters, not beginning with '.' or '-'.
bool can_name_file(std::string_view text);

struct NamedFiles {
  std::string_view noun;       // for messages, and the command that manages them: "assistant"
  std::string_view folder;     // below the configuration
  std::string_view extension;  // ".json"

  std::string path() const;  // of the folder
  std::string path_of(const std::string& name) const;
  std::vector<std::string> names() const;  // in the order of the alphabet, whatever their case
  bool has(const std::string& name) const;

  // Error if there is none of that name; the sentence has a similar one.
  void require(const std::string& name) const;

  // In place of one of that name, readable by the owner only. Error: it cannot be a name, or be written.
  void write(const std::string& name, std::string_view text) const;
  // In place of `from`, which is renamed if the name is another; empty: a new one. Error also if another has the name.
  void replace(const std::string& from, const std::string& name, std::string_view text) const;
  void remove(const std::string& name) const;  // Error if there is none
};

}  // namespace warpchat
