// Stored conversations as lines for a terminal, and the numbers by which the user calls them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "engine/store/conversation_store.h"

namespace warpchat {

// "   1  2026-11-21 19:12   4 messages  the title", one line each, numbered from 1; an excerpt is a line below.
std::string list_conversations(const std::vector<ConversationSummary>& conversations);

// The same of a search, numbered from `first` on. list_hits leaves the layout to write_text. marked_hits lays them out
// for a terminal with this width and marks the words in titles and excerpts; what is searched has no marks elsewhere.
std::string list_hits(const std::vector<SearchHit>& hits, size_t first = 1);
std::string marked_hits(const std::vector<SearchHit>& hits, size_t first, const std::string& words, int width);

// "  work  3 conversations", one line each.
std::string list_names(const std::vector<NameCount>& names);

// What /list is asked for: "folder:work archived 20". Error for a word that is neither a filter nor a number.
struct ListRequest {
  ConversationFilter filter;
  uint32_t limit = 0;  // 0: not said
};
ListRequest parse_list_request(const std::string& wanted);

// The places where the shown branch has several versions, each version a line with a number; turns: by number.
// "message 1\n   1  2026-11-21 19:12  the text\n   2  ...  (shown)\n". Empty if there is only one version.
struct VersionList {
  std::string lines;
  std::vector<TurnId> turns;
};
VersionList list_versions(const ConversationTree& tree);

// Finds a conversation by its number in the last list or by its title. Error if none or several match.
ConversationId find_conversation(const ConversationStore& store, const std::vector<ConversationId>& listed,
                                 const std::string& wanted);

// The conversation that --resume names: by its title, or its number as /list would show it; "": the newest. Else fault
// says why there is none.
// As /list shows them without filters.
std::vector<ConversationId> by_default(const ConversationStore& store, uint32_t limit);

struct FoundConversation {
  ConversationId id = 0;
  std::string fault = {};
};
FoundConversation find_resumed(const ConversationStore& store, const std::string& wanted);

// Numbers and ranges of them, "1 3 5-8", by which the last list calls conversations; ascending. Empty: the text is no
// such thing.
std::vector<uint32_t> parse_numbers(const std::string& text);

// The same by several numbers. Error for one that the list does not have.
std::vector<ConversationId> find_conversations(const ConversationStore& store,
                                               const std::vector<ConversationId>& listed, const std::string& wanted);

// Parses a whole number from 1 on; 0 for other text.
uint32_t parse_count(const std::string& text);

}  // namespace warpchat
