#include "app/tools/line_pattern.h"

#include <cstddef>

#include "engine/store/find_text.h"
#include "models/error.h"

namespace warpchat {

LinePattern::LinePattern(std::string_view text) {
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find('*', at), text.size());
    if (end > at) parts_.push_back(lower_case(text.substr(at, end - at)));
    at = end + 1;
  }
  if (text.find('\n') != std::string_view::npos)
    throw Error("the argument \"text\" has a line break, and lines are searched one by one");
  if (parts_.empty()) throw Error("the argument \"text\" has no text to look for");
}

std::optional<LinePattern::Place> LinePattern::find_in_line(const Texts& line) const {
  std::optional<Place> match;
  for (size_t part = 0; part < parts_.size(); ++part) {
    const std::optional<Place> found = find_part(line, part, match ? match->second : 0);
    if (!found) return std::nullopt;
    match = {match ? match->first : found->first, found->second};
  }
  return match;
}

// Other letters than those of ASCII are compared one by one, which takes many times longer.
std::optional<LinePattern::Place> LinePattern::find_part(const Texts& texts, size_t part, size_t from) const {
  const std::string& wanted = parts_[part];
  if (std::ranges::all_of(wanted, [](unsigned char c) { return c < 0x80; })) {
    const size_t at = texts.lower.find(wanted, from);
    if (at == std::string_view::npos) return std::nullopt;
    return Place(at, at + wanted.size());
  }
  const TextPlaces places = find_text(texts.text.substr(from), wanted, 1);
  if (places.empty()) return std::nullopt;
  return Place(from + places[0].first, from + places[0].second);
}

bool matches_name(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0, star = std::string_view::npos, retry = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p, ++n;
    } else if (star != std::string_view::npos) {  // the last * stands for one character more
      p = star + 1;
      n = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace warpchat
