// One pass over the text finds its pieces; values are never read again for placeholders.
#include "app/formats/prompt_text.h"

#include <algorithm>
#include <functional>

#include "app/platform/text/nearest_name.h"
#include "models/ascii.h"
#include "models/chat_template/unicode.h"
#include "models/error.h"
#include "models/human_bytes.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kMaxPlaceholderName = 64;  // bytes

// A part of a text: a placeholder, or text as it stands.
struct PromptPiece {
  std::string_view text = {};  // of a placeholder: its name
  bool is_placeholder = false;
  std::optional<std::string_view> preset = std::nullopt;
};

// The length of a name at the text's beginning; 0: there is none.
size_t name_length(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && end <= kMaxPlaceholderName) {
    const Utf8Step step = first_character(text.substr(end));
    const char32_t c = step.state == Utf8State::kValid ? step.value : 0;
    const bool continues = end > 0 && (c == '-' || jinja::is_letter_or_number(c));
    if (c != '_' && !jinja::is_letter(c) && !continues) break;
    end += step.bytes;
  }
  return end > kMaxPlaceholderName ? 0 : end;
}

size_t run_length(std::string_view text, char c) { return std::min(text.find_first_not_of(c), text.size()); }

// What stands between braces: the name, the default, and the bytes of both; nullopt: no placeholder.
struct BracedText {
  std::string_view name;
  std::optional<std::string_view> preset;
  size_t bytes;
};
std::optional<BracedText> inner_at(std::string_view text) {
  const size_t name = name_length(text);
  if (name == 0 || name == text.size()) return std::nullopt;
  if (text[name] == '}') return BracedText{text.substr(0, name), std::nullopt, name};
  if (text[name] != '=') return std::nullopt;
  const size_t end = text.find_first_of("{}\n", name + 1);
  if (end == std::string_view::npos || text[end] != '}') return std::nullopt;
  return BracedText{text.substr(0, name), text.substr(name + 1, end - name - 1), end};
}

void for_each_piece(std::string_view text, const std::function<void(const PromptPiece&)>& visit) {
  size_t begin = 0;  // of the text that has not been visited
  for (size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open)) {
    const size_t n_open = run_length(text.substr(open), '{'), inside = open + n_open;
    open = inside;
    const std::optional<BracedText> inner = inner_at(text.substr(inside));
    if (!inner) continue;
    const size_t close = inside + inner->bytes;
    const bool is_literal = n_open > 1 && run_length(text.substr(close), '}') > 1;
    visit({text.substr(begin, inside - 1 - begin)});
    is_literal ? visit({text.substr(inside, inner->bytes)}) : visit({inner->name, true, inner->preset});
    begin = open = close + 1;
  }
  visit({text.substr(begin)});
}

std::vector<std::string> names_of(const std::vector<Placeholder>& placeholders) {
  std::vector<std::string> names;
  for (const Placeholder& placeholder : placeholders) names.push_back(placeholder.name);
  return names;
}

void set_value(PromptValues& values, const std::string& name, std::string_view value) {
  if (!values.of_name.emplace(name, value).second) throw Error(name + " is given twice; give it once");
}

// The placeholder that "name=..." begins with; empty: none.
std::string named_at(const std::vector<Placeholder>& placeholders, std::string_view text) {
  const size_t length = name_length(text);
  if (length == 0 || length == text.size() || text[length] != '=') return "";
  const std::string_view name = text.substr(0, length);
  return std::ranges::find(placeholders, name, &Placeholder::name) == placeholders.end() ? "" : std::string(name);
}

void refuse_similar_name(const std::vector<Placeholder>& placeholders, std::string_view text) {
  const size_t length = name_length(text);
  if (length == 0 || length == text.size() || text[length] != '=') return;
  const std::vector<std::string> names = names_of(placeholders);
  const std::string name(text.substr(0, length)), meant = nearest_name(name, names);
  if (!meant.empty())
    throw Error("there is no placeholder " + name + perhaps_meant(meant) + "; there is " + word_list(names, " and "));
}

void set_unnamed(const std::vector<Placeholder>& placeholders, std::string_view text, PromptValues& values) {
  if (text.empty()) return;
  refuse_similar_name(placeholders, text);
  const auto is_free = [&](const Placeholder& placeholder) { return !values.has(placeholder); };
  auto place = std::ranges::find_if(placeholders, [&](const auto& p) { return is_free(p) && !p.preset; });
  if (place == placeholders.end()) place = std::ranges::find_if(placeholders, is_free);
  if (place == placeholders.end())
    values.rest = text;
  else
    set_value(values, place->name, text);
}

std::string_view without_enclosing_quotes(std::string_view value) {
  const bool is_quoted = value.size() >= 2 && value.starts_with('"') && value.find('"', 1) == value.size() - 1;
  return is_quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

std::vector<Placeholder> placeholders_of(std::string_view text) {
  std::vector<Placeholder> found;
  for_each_piece(text, [&](const PromptPiece& piece) {
    if (!piece.is_placeholder) return;
    auto place = std::ranges::find(found, piece.text, &Placeholder::name);
    if (place == found.end()) {
      if (found.size() == kMaxPlaceholders)
        throw Error("the prompt has more than " + grouped(kMaxPlaceholders) +
                    " placeholders; write {{name}} where {name} is text");
      place = found.insert(found.end(), {std::string(piece.text), std::nullopt});
    }
    if (piece.preset && !place->preset) place->preset = std::string(*piece.preset);
  });
  return found;
}

PromptValues values_of_words(const std::vector<Placeholder>& placeholders, const std::vector<std::string>& words) {
  PromptValues values;
  std::string unnamed;
  for (const std::string& word : words) {
    if (const std::string name = named_at(placeholders, word); !name.empty())
      set_value(values, name, std::string_view(word).substr(name.size() + 1));
    else
      unnamed += (unnamed.empty() ? "" : " ") + word;
  }
  set_unnamed(placeholders, unnamed, values);
  return values;
}

PromptValues values_of_line(const std::vector<Placeholder>& placeholders, std::string_view line) {
  PromptValues values;
  std::string_view unnamed = line;
  std::string open;  // the placeholder whose value is being read; empty: the unnamed text is
  size_t begin = 0;  // of the value
  const auto end_value = [&](size_t end) {
    const std::string_view value = trimmed(line.substr(begin, end - begin));
    if (open.empty())
      unnamed = value;
    else
      set_value(values, open, without_enclosing_quotes(value));
  };
  for (size_t at = 0; at < line.size(); ++at) {
    if (at > 0 && !is_blank(line[at - 1])) continue;
    const std::string name = named_at(placeholders, line.substr(at));
    if (name.empty()) continue;
    end_value(at);
    open = name;
    begin = at + name.size() + 1;
  }
  end_value(line.size());
  set_unnamed(placeholders, unnamed, values);
  return values;
}

std::string names_of_missing(const std::vector<Placeholder>& placeholders, const PromptValues& values) {
  std::vector<std::string> names;
  for (const Placeholder& placeholder : placeholders)
    if (!placeholder.preset && !values.has(placeholder)) names.push_back(placeholder.name);
  return word_list(names, " and ");
}

std::string filled_prompt(std::string_view text, const PromptValues& values) {
  const std::vector<Placeholder> placeholders = placeholders_of(text);
  if (const std::string missing = names_of_missing(placeholders, values); !missing.empty())
    throw Error("the prompt needs a value for " + missing);
  const auto value_of = [&](std::string_view name) -> std::string_view {
    const auto given = values.of_name.find(std::string(name));
    return given != values.of_name.end() ? given->second
                                         : *std::ranges::find(placeholders, name, &Placeholder::name)->preset;
  };
  std::string filled;
  const auto append = [&](std::string_view part) {
    if (filled.size() + part.size() > kMaxFilledPromptBytes)
      throw Error("the filled prompt is longer than " + human_bytes(kMaxFilledPromptBytes) +
                  "; attach long text as a file instead");
    filled += part;
  };
  for_each_piece(text,
                 [&](const PromptPiece& piece) { append(piece.is_placeholder ? value_of(piece.text) : piece.text); });
  if (!values.rest.empty()) append("\n\n"), append(values.rest);
  return filled;
}

}  // namespace warpchat
