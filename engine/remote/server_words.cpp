// Walks a body by the names that servers use, then by any name.
#include "engine/remote/server_words.h"

#include <algorithm>

#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;

constexpr size_t kMaxWords = 300, kMaxEntries = 8, kShortKey = 8;
constexpr int kMaxWalk = 16;
// The first of these in an object that has words; then all that may hold more.
constexpr const char* kSays[] = {"message",           "msg",         "error_message", "errorMessage",
                                 "error_description", "description", "reason",        "title"};
constexpr const char* kHolds[] = {"error", "errors", "detail", "details", "metadata", "raw", "cause", "inner_error"};

void append(std::string& words, std::string_view joint, const std::string& more) {
  if (more.empty() || words.find(more) != std::string::npos) return;
  if (!words.empty()) words += joint;
  words += more;
}

bool is_text(const json& value) {
  return value.is_string() || (value.is_array() && !value.empty() && value[0].is_string());
}

// ["body", "top_k"] as body.top_k
std::string place_of(const json& object) {
  const auto place = object.find("loc");
  std::string names;
  if (place == object.end() || !place->is_array()) return names;
  for (const json& name : *place) {
    if (!name.is_primitive()) continue;
    names += (names.empty() ? "" : ".") + (name.is_string() ? name.get<std::string>() : name.dump());
  }
  return names;
}

std::string words_in(const json& value, bool says, int depth);

std::string words_in_text(const std::string& text, bool says, int depth) {
  std::string_view words = trimmed(text);
  if (words.starts_with('{') || words.starts_with('[')) {
    const json inner = try_parse_untrusted_json(words);
    if (std::string found = inner.is_discarded() ? "" : words_in(inner, says, depth + 1); !found.empty()) return found;
  }
  while (words.ends_with('.')) words.remove_suffix(1);
  return says ? std::string(words) : "";
}

std::string words_in_object(const json& object, bool says, int depth) {
  std::string words;
  for (const char* name : kSays) {
    if (words.empty() && object.contains(name)) words = words_in(object[name], /*says=*/true, depth + 1);
  }
  if (const std::string place = place_of(object); !words.empty() && !place.empty()) words += " at " + place;
  for (const char* name : kHolds) {
    if (!object.contains(name)) continue;
    const bool is_reason = words.empty() || is_text(object[name]);
    append(words, ": ", words_in(object[name], is_reason, depth + 1));
  }
  if (!words.empty()) return words;
  for (const auto& [name, inner] : object.items())
    if (const std::string found = words_in(inner, says, depth + 1); !found.empty())
      append(words, "; ", (says ? name + ": " : "") + found);
  return words;
}

// says: a text here is a reason; else only what an object calls so.
std::string words_in(const json& value, bool says, int depth) {
  if (depth > kMaxWalk) return "";
  if (value.is_string()) return words_in_text(value.get_ref<const std::string&>(), says, depth);
  if (value.is_object()) return words_in_object(value, says, depth);
  std::string words;
  if (value.is_array())
    for (size_t i = 0; i < std::min(value.size(), kMaxEntries); ++i)
      append(words, "; ", words_in(value[i], says, depth + 1));
  return words;
}

}  // namespace

std::string without_key(std::string text, const std::string& key) {
  constexpr std::string_view kInstead = "[API key]";
  if (key.empty()) return text;
  for (size_t at = text.find(key); at != std::string::npos;) {
    const size_t end = at + key.size();
    const bool is_part =
        (at > 0 && is_word_character(text[at - 1])) || (end < text.size() && is_word_character(text[end]));
    if (is_part && key.size() < kShortKey) {
      at = text.find(key, at + 1);
      continue;
    }
    text.replace(at, key.size(), kInstead);
    at = text.find(key, at + kInstead.size());
  }
  return text;
}

std::string server_words(std::string_view body, const std::string& key) {
  const std::string_view text = trimmed(body);
  if (text.empty() || text.front() == '<') return "";
  const json document = try_parse_untrusted_json(text);
  const bool is_blank = !document.is_discarded() && !document.is_string() && document.empty();
  std::string words = document.is_discarded() ? "" : words_in(document, document.is_string(), 0);
  if (words.empty() && !is_blank) words = text;
  std::replace_if(
      words.begin(), words.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  while (words.ends_with('.') || words.ends_with(' ')) words.pop_back();
  return printable(without_key(std::move(words), key), kMaxWords);
}

}  // namespace warpchat
