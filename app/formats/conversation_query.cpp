#include "app/formats/conversation_query.h"

#include <algorithm>
#include <optional>

#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Cuts the next word off, with its quotes.
std::string_view cut_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const size_t blank = std::min(text.find_first_of(kBlanks), text.size()), quote = text.find('"');
  const size_t closing = quote < blank ? text.find('"', quote + 1) : std::string_view::npos;
  const size_t end = closing != std::string_view::npos ? closing + 1 : blank;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

std::string unquoted(std::string_view value) {
  if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
  return std::string(value);
}

Error unknown(std::string_view word, const char* known) {
  return Error("unknown filter " + printable(std::string(word), 60) + "; write " + known);
}

ConversationOrder order_of(const std::string& value, std::string_view word) {
  if (value == "changed") return ConversationOrder::kUpdated;
  if (value == "created") return ConversationOrder::kCreated;
  if (value == "title") return ConversationOrder::kTitle;
  throw unknown(word, "sort:changed, sort:created or sort:title");
}

// False: the word is no filter.
bool take_filter(std::string_view word, ConversationFilter& filter) {
  const size_t colon = word.find(':');
  if (colon == std::string_view::npos || colon + 1 == word.size()) return false;
  const std::string name = lower_case(word.substr(0, colon)), value = unquoted(word.substr(colon + 1));
  if (name == "folder") {
    filter.folder = value == "-" ? "" : value;
  } else if (name == "tag") {
    filter.tags.push_back(value);
  } else if (name == "sort") {
    filter.order = order_of(value, word);
  } else if (name == "is") {
    if (value != "archived" && value != "pinned") throw unknown(word, "is:archived or is:pinned");
    (value == "archived" ? filter.archived : filter.pinned) = true;
  } else {
    return false;
  }
  return true;
}

}  // namespace

ConversationQuery parse_query(std::string_view text) {
  ConversationQuery query;
  while (true) {
    const std::string_view word = cut_word(text);
    if (word.empty()) return query;
    if (take_filter(word, query.filter))
      query.has_filter = true;
    else
      query.words += (query.words.empty() ? "" : " ") + std::string(word);
  }
}

std::pair<std::string, std::string> parse_name(const std::string& text) {
  const size_t quote = text.starts_with('"') ? text.find('"', 1) : std::string::npos;
  const bool is_quoted = quote != std::string::npos;
  const size_t end = is_quoted ? quote + 1 : std::min(text.find_first_of(" \t\n"), text.size());
  return {is_quoted ? text.substr(1, quote - 1) : text.substr(0, end), std::string(trimmed(text.substr(end)))};
}

std::string in_words(const ConversationFilter& filter) {
  std::string words;
  const auto add = [&](const std::string& more) { words += (words.empty() ? "" : " ") + more; };
  if (filter.folder) add(filter.folder->empty() ? "in no folder" : "in the folder " + printable(*filter.folder, 60));
  for (const std::string& tag : filter.tags) add("with the tag " + printable(tag, 60));
  if (filter.archived == true) add("in the archive");
  if (filter.pinned == true) add("that is pinned");
  return words;
}

}  // namespace warpchat
