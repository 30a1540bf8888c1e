// Which conversations a list or a search has, and where the user has put them.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace warpchat {

// Names of folders and tags that differ only in the case of ASCII letters are one name.
struct Filing {
  bool pinned = false, archived = false;
  std::string folder = {};             // empty: none
  std::vector<std::string> tags = {};  // in the order of their names
  bool operator==(const Filing&) const = default;
};

// Changes of a filing; what is not there stays.
struct FilingChange {
  std::optional<bool> pinned = {}, archived = {};
  std::optional<std::string> folder = {};
  std::vector<std::string> add_tags = {}, remove_tags = {};
};

enum class ConversationOrder { kUpdated, kCreated, kTitle };  // latest first, but titles from A on

struct ConversationFilter {
  std::optional<bool> archived = {};
  std::optional<std::string> folder = {};  // empty: of no folder
  std::vector<std::string> tags = {};      // it has all of them
  std::optional<bool> pinned = {};
  ConversationOrder order = ConversationOrder::kUpdated;  // of a list; a search has the latest first
  bool pinned_first = false;                              // in a list
  bool operator==(const ConversationFilter&) const = default;
};

// SQL condition for table c, without the trash. ?1: the folder, ?2: the tags as a JSON array.
std::string condition_of(const ConversationFilter& filter);
std::string json_of(const std::vector<std::string>& texts);

// A folder or a tag, and how many conversations outside the trash have it.
struct NameCount {
  std::string name;
  size_t n;
  bool operator==(const NameCount&) const = default;
};

}  // namespace warpchat
