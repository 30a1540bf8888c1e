// What a user types to list or search conversations: words, and filters among them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "engine/store/conversation_filter.h"

namespace warpchat {

inline constexpr size_t kMaxNameBytes = 200;  // of a folder or a tag

// "folder:work" or "folder:"two words"", "tag:NAME" (several: all of them), "is:archived", "is:pinned",
// "sort:changed|created|title". "-" as the folder's name: no folder.
struct ConversationQuery {
  ConversationFilter filter;
  std::string words;  // the rest, as typed
  bool has_filter = false;
  bool operator==(const ConversationQuery&) const = default;
};

ConversationQuery parse_query(std::string_view text);  // Error for a filter with an unknown value

// A name, in quotes or without blanks, and the rest: "work 3-5".
std::pair<std::string, std::string> parse_name(const std::string& text);

// "in the folder work with the tag x"; empty: no filter.
std::string in_words(const ConversationFilter& filter);

}  // namespace warpchat
