// Names to the left, wrapped text to the right; names that are too long get a line of their own.
#include "app/help_text.h"

#include <sstream>

namespace warpchat {

namespace {

constexpr size_t kWidth = 80, kTextColumn = 32;

void add_flag(std::string& out, const HelpFlag& flag) {
  std::string line = "  " + flag.names;
  if (line.size() + 2 > kTextColumn) {
    out += line + "\n";
    line.clear();
  }
  line.resize(kTextColumn, ' ');
  std::istringstream words(flag.text);
  for (std::string word; words >> word;) {
    const bool first = line.size() == kTextColumn;
    if (!first && line.size() + 1 + word.size() > kWidth) {
      out += line + "\n";
      line = std::string(kTextColumn, ' ') + word;
    } else {
      line += (first ? "" : " ") + word;
    }
  }
  out += line + "\n";
}

}  // namespace

std::string help_text(const std::string& intro, const std::vector<HelpGroup>& groups) {
  std::string out = intro;
  for (const HelpGroup& group : groups) {
    out += "\n" + group.title + ":\n";
    for (const HelpFlag& flag : group.flags) add_flag(out, flag);
  }
  return out;
}

}  // namespace warpchat
