// Texts with placeholders, {name} or {name=default}: which there are, their values, the text with the values. Pure.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// A name is a letter or '_', then letters, digits, '_' and '-'; a default has neither braces nor line breaks. All other
// braces, as in JSON and code, are text. {{name}} stands for the text {name}, and {{{name}}} for {{name}}.
struct Placeholder {
  std::string name;
  std::optional<std::string> preset;  // its default
  bool operator==(const Placeholder&) const = default;
};

inline constexpr size_t kMaxPlaceholders = 50;              // of one text
inline constexpr uint64_t kMaxFilledPromptBytes = 4 << 20;  // as for attached text

// Each once, in the order of their first places, with the first default that stands at any of them. Error if there are
// too many.
std::vector<Placeholder> placeholders_of(std::string_view text);

struct PromptValues {
  std::map<std::string, std::string> of_name;
  std::string rest;  // for no placeholder: a paragraph of its own behind the text

  bool has(const Placeholder& placeholder) const { return of_name.contains(placeholder.name); }
};

// Words of a command line. "name=value" is that placeholder's. The others, joined by blanks, are for the first
// placeholder without a default, else the first one, among those that are not named; else they are the rest. Error: a
// placeholder is named twice, or a name is nearly one.
PromptValues values_of_words(const std::vector<Placeholder>& placeholders, const std::vector<std::string>& words);

// The same of a typed line, in which a value goes on up to the next name, and may stand in quotes.
PromptValues values_of_line(const std::vector<Placeholder>& placeholders, std::string_view line);

// Names of those without a value and a default: "language", "language and text".
std::string names_of_missing(const std::vector<Placeholder>& placeholders, const PromptValues& values);

// The text with values, else defaults. Braces in a value are text. Error: something is missing, or it gets too long.
std::string filled_prompt(std::string_view text, const PromptValues& values);

}  // namespace warpchat
