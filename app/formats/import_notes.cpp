#include "app/formats/import_notes.h"

#include "models/text_format.h"

namespace warpchat {

namespace {

struct Noun {
  const char *one, *several;
};
constexpr Noun kNouns[] = {
    {"picture", "pictures"},
    {"sound recording", "sound recordings"},
    {"video", "videos"},
    {"file without text", "files without text"},
    {"tool call", "tool calls"},
    {"tool result", "tool results"},
    {"system message after the first message", "system messages after the first message"},
    {"citation mark", "citation marks"},
    {"part of an unknown kind", "parts of an unknown kind"},
    {"message without a known role", "messages without a known role"},
    {"activity without a prompt", "activities without a prompt"},
};
static_assert(std::size(kNouns) == static_cast<size_t>(LeftOut::kCount));

}  // namespace

std::string ImportNotes::sentence() const {
  std::string text;
  const auto add = [&](const std::string& clause) { text += (text.empty() ? "" : "; ") + clause; };
  for (const std::string& fault : faults_) add(fault);
  if (n_faults_ > faults_.size()) add("and " + counted(n_faults_ - faults_.size(), "more fault"));
  std::vector<std::string> items;
  for (size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0)
      items.push_back(grouped(counts_[i]) + " " + (counts_[i] == 1 ? kNouns[i].one : kNouns[i].several));
  if (!items.empty()) add("left out: " + word_list(items, " and "));
  return text;
}

}  // namespace warpchat
