// The text of --help: groups of flags in two columns that fit into 80.
#pragma once
#include <string>
#include <vector>

namespace warpchat {

struct HelpFlag {
  std::string names;  // "-c, --ctx-size N"
  std::string text;
};

struct HelpGroup {
  std::string title;
  std::vector<HelpFlag> flags;
};

// intro: the lines above the groups, written as they are.
std::string help_text(const std::string& intro, const std::vector<HelpGroup>& groups);

}  // namespace warpchat
