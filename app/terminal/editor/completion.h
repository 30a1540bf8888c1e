// Tab completion of the text before the cursor: commands and their arguments.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/terminal/editor/slash_command.h"

namespace warpchat {

struct Candidate {
  std::string text;   // replaces the typed text
  std::string shown;  // in a list
};

struct Completion {
  size_t from = 0;  // what was typed begins here
  std::vector<Candidate> candidates;

  // What all candidates begin with, in the first one's letters.
  std::string common_prefix() const;
};

// The arguments there are of a kind; typed: what of it stands there already.
using ArgumentList = std::function<std::vector<std::string>(SlashArgument kind, std::string_view typed)>;

// text: what stands before the cursor. Files are looked for here, everything else is asked for. Letters match in either
// case. Nothing for a message.
Completion complete_line(std::string_view text, const ArgumentList& arguments);

// The files that a path so far may become.
Completion complete_path(std::string_view text);

// The commands whose names begin so. None for a text that is not the beginning of a command's name.
std::vector<const SlashCommand*> commands_beginning_with(std::string_view typed);

// What the list below a line offers.
struct MenuEntry {
  std::string text;   // replaces the line
  std::string label;  // a command with its arguments, or a name
  std::string help;
};

// The commands whose names begin as typed; behind /prompt the names of prompts, which complete knows.
std::vector<MenuEntry> menu_entries(std::string_view typed,
                                    const std::function<Completion(std::string_view before)>& complete);

// A row for each, as many as a screen can spare; chosen: the one with a mark.
std::vector<std::string> menu_rows(const std::vector<MenuEntry>& entries, std::optional<size_t> chosen, int width);

// Names in columns of a terminal's width, downwards, as many rows as a screen can spare and how many are left.
std::vector<std::string> in_columns(const std::vector<Candidate>& candidates, int width);

}  // namespace warpchat
