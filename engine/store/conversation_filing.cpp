// Lists of conversations, and their folders and tags.
#include <nlohmann/json.hpp>

#include "engine/store/conversation_store.h"
#include "engine/untrusted_json.h"

namespace warpchat {

namespace {

// Columns of a ConversationSummary from table c.
const std::string kSummary =
    "c.id, c.title, c.model, c.created, c.updated, c.trashed, c.n_messages, c.pinned, c.archived, c.folder,"
    " (SELECT json_group_array(tag) FROM (SELECT tag FROM tags WHERE conversation = c.id ORDER BY tag))";

std::vector<std::string> texts_of(const std::string& json) {
  if (json == "[]") return {};  // as most are
  return parse_untrusted_json(json).get<std::vector<std::string>>();
}

ConversationSummary read_summary(const Statement& row) {
  return {.id = row.integer(0),
          .title = row.text(1),
          .model = row.text(2),
          .created = row.integer(3),
          .updated = row.integer(4),
          .trashed = row.integer(5),
          .n_messages = static_cast<uint32_t>(row.integer(6)),
          .filing = {.pinned = row.integer(7) != 0,
                     .archived = row.integer(8) != 0,
                     .folder = row.text(9),
                     .tags = texts_of(row.text(10))}};
}

std::string order_of(const ConversationFilter& filter) {
  const std::string first = filter.pinned_first ? "c.pinned DESC, " : "";
  switch (filter.order) {
    case ConversationOrder::kUpdated:
      return first + "c.updated DESC, c.id DESC";
    case ConversationOrder::kCreated:
      return first + "c.created DESC, c.id DESC";
    case ConversationOrder::kTitle:
      return first + "c.title COLLATE NOCASE, c.id";
  }
  return "";
}

}  // namespace

std::string condition_of(const ConversationFilter& filter) {
  std::string condition = "c.trashed IS NULL";
  if (filter.archived) condition += " AND c.archived = " + std::to_string(int{*filter.archived});
  if (filter.pinned) condition += " AND c.pinned = " + std::to_string(int{*filter.pinned});
  if (filter.folder)
    condition += filter.folder->empty() ? " AND c.folder = ''" : " AND c.folder = ?1 AND c.folder <> ''";
  if (!filter.tags.empty())
    condition +=
        " AND NOT EXISTS (SELECT 1 FROM json_each(?2) WHERE"
        " NOT EXISTS (SELECT 1 FROM tags WHERE tags.conversation = c.id AND tag = value))";
  return condition;
}

std::string json_of(const std::vector<std::string>& texts) {
  return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<ConversationSummary> ConversationStore::list(uint32_t limit, const ConversationFilter& filter) const {
  return summaries("WHERE " + condition_of(filter) + " ORDER BY " + order_of(filter), filter.folder.value_or(""),
                   json_of(filter.tags), limit);
}

std::vector<ConversationSummary> ConversationStore::trash(uint32_t limit) const {
  return summaries("WHERE c.trashed IS NOT NULL ORDER BY c.trashed DESC, c.id DESC", "", "", limit);
}

std::vector<ConversationSummary> ConversationStore::find_title(std::string_view title) const {
  constexpr uint32_t kEnough = 100;
  constexpr std::string_view kSame =
      "WHERE c.trashed IS NULL AND c.title = ?1 COLLATE NOCASE ORDER BY c.updated DESC, c.id DESC";
  constexpr std::string_view kContaining =
      "WHERE c.trashed IS NULL AND instr(lower(c.title), lower(?1)) > 0 ORDER BY c.updated DESC, c.id DESC";
  std::vector<ConversationSummary> found = summaries(kSame, title, "", kEnough);
  return found.empty() ? summaries(kContaining, title, "", kEnough) : found;
}

std::optional<ConversationSummary> ConversationStore::summary(ConversationId conversation) const {
  Statement row = database_.prepare("SELECT " + kSummary + " FROM conversations AS c WHERE c.id = ?1");
  if (!row.with(conversation).step()) return std::nullopt;
  return read_summary(row);
}

// rest: SQL from WHERE on, with parameters ?1 and ?2, and limit ?3.
std::vector<ConversationSummary> ConversationStore::summaries(std::string_view rest, std::string_view first,
                                                              std::string_view second, uint32_t limit) const {
  Statement row =
      database_.prepare("SELECT " + kSummary + " FROM conversations AS c " + std::string(rest) + " LIMIT ?3");
  row.with(first, second, int64_t{limit});
  std::vector<ConversationSummary> found;
  while (row.step()) found.push_back(read_summary(row));
  return found;
}

std::vector<NameCount> ConversationStore::names(const char* sql) const {
  Statement row = database_.prepare(sql);
  std::vector<NameCount> found;
  while (row.step()) found.push_back({row.text(0), static_cast<size_t>(row.integer(1))});
  return found;
}

std::vector<NameCount> ConversationStore::folders() const {
  return names(
      "SELECT min(folder), count(*) FROM conversations WHERE trashed IS NULL AND folder <> ''"
      " GROUP BY folder ORDER BY folder");
}

std::vector<NameCount> ConversationStore::tags() const {
  return names(
      "SELECT min(tag), count(*) FROM tags JOIN conversations AS c ON c.id = conversation WHERE c.trashed IS NULL"
      " GROUP BY tag ORDER BY tag");
}

void ConversationStore::file(const std::vector<ConversationId>& conversations, const FilingChange& change) {
  Transaction transaction(database_);
  const auto flag = [](const std::optional<bool>& on) { return on ? int64_t{*on} : -1; };
  for (const ConversationId conversation : conversations) {
    this->change(
        "UPDATE conversations SET pinned = iif(?2 < 0, pinned, ?2), archived = iif(?3 < 0, archived, ?3),"
        " folder = iif(?4 = 0, folder, ?5) WHERE id = ?1",
        conversation, flag(change.pinned), flag(change.archived), int64_t{change.folder.has_value()},
        change.folder.value_or(""));
    for (const std::string& tag : change.add_tags)
      database_.prepare("INSERT OR IGNORE INTO tags(conversation, tag) VALUES (?1, ?2)").with(conversation, tag).run();
    for (const std::string& tag : change.remove_tags)
      database_.prepare("DELETE FROM tags WHERE conversation = ?1 AND tag = ?2").with(conversation, tag).run();
  }
  transaction.commit();
}

}  // namespace warpchat
