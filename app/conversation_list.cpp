// Numbers come first, so that a conversation called "3" is found by its title only where no list has three entries.
#include "app/conversation_list.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <set>
#include <sstream>

#include "engine/store/database.h"
#include "engine/store/search_words.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxTitleBytes = 200, kMaxVersionBytes = 60;

std::string local_minute(StoreTime time) {
  const auto seconds = static_cast<std::time_t>(time / 1000);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

std::string numbered(size_t number, StoreTime time) {
  char start[64];
  std::snprintf(start, sizeof start, "%4zu\t%s\t", number, local_minute(time).c_str());
  return start;
}

std::string line_of(size_t number, const ConversationSummary& conversation) {
  char messages[40];
  std::snprintf(messages, sizeof messages, "%12s\t", counted(conversation.n_messages, "message").c_str());
  return numbered(number, conversation.updated) + messages + printable(conversation.title, kMaxTitleBytes) + "\n";
}

}  // namespace

std::string list_conversations(const std::vector<ConversationSummary>& conversations) {
  std::string lines;
  for (size_t i = 0; i < conversations.size(); ++i) lines += line_of(i + 1, conversations[i]);
  return lines;
}

std::string list_hits(const std::vector<SearchHit>& hits) {
  std::string lines;
  for (size_t i = 0; i < hits.size(); ++i) {
    lines += line_of(i + 1, hits[i].conversation);
    if (hits[i].turn != 0) lines += "      " + printable(hits[i].excerpt, kMaxTitleBytes) + "\n";
  }
  return lines;
}

VersionList list_versions(const ConversationTree& tree) {
  std::vector<Turn> shown = shown_branch(tree);
  shown.push_back({});  // what may follow the last one, and is not shown
  VersionList list;
  for (size_t i = 0; i < shown.size(); ++i) {
    std::vector<const Turn*> ways;
    for (const Turn& turn : tree.turns)
      if (turn.parent == (i == 0 ? 0 : shown[i - 1].id)) ways.push_back(&turn);
    if (ways.size() < (i + 1 < shown.size() ? 2u : 1u)) continue;
    list.lines += (ways[0]->message.role == "user" ? "message " : "answer ") + std::to_string(i / 2 + 1) + "\n";
    for (const Turn* turn : ways) {
      list.turns.push_back(turn->id);
      const Message& message = turn->message;
      const std::string& text = message.content.empty() ? message.reasoning : message.content;
      list.lines += numbered(list.turns.size(), turn->created) + excerpt(text, {}, kMaxVersionBytes) +
                    (turn->id == shown[i].id ? "  (shown)" : "") + "\n";
    }
  }
  return list;
}

uint32_t parse_count(const std::string& text) { return number_in<uint32_t>(text).value_or(0); }

ConversationId find_conversation(const ConversationStore& store, const std::vector<ConversationId>& listed,
                                 const std::string& wanted) {
  const uint32_t number = parse_count(wanted);
  if (number > 0 && number <= listed.size()) return listed[number - 1];
  const std::vector<ConversationSummary> found = store.find_title(wanted);
  const std::string shown = "'" + printable(wanted, 60) + "'";
  const bool is_title = found.size() == 1 && found.front().title == wanted;
  if (number > 0 && !is_title)
    throw Error("the last list has no number " + printable(wanted, 60) + "; it has " +
                counted(listed.size(), "conversation") + "; /list shows the latest ones");
  if (found.empty()) throw Error("no title has " + shown + " in it; take a number from /list or /search");
  if (found.size() > 1)
    throw Error(counted(found.size(), "title") + " have " + shown +
                " in them: say more, or take a number from /search " + printable(wanted, 60));
  return found.front().id;
}

FoundConversation find_resumed(const ConversationStore& store, const std::string& wanted) try {
  const uint32_t number = wanted.empty() ? 1 : parse_count(wanted);
  std::vector<ConversationId> all;
  for (const ConversationSummary& latest : store.list(std::max<uint32_t>(number, 1))) all.push_back(latest.id);
  if (all.empty()) return {.fault = "no conversation is stored yet; leave out --resume"};
  const std::vector<ConversationSummary> titled =
      wanted.empty() ? std::vector<ConversationSummary>{} : store.find_title(wanted);
  if (number == 0 && titled.empty())
    return {.fault = "no title has '" + printable(wanted, 60) +
                     "' in it; --resume alone continues the newest conversation, and a question stands before it"};
  if (number > all.size() && (titled.size() != 1 || titled.front().title != wanted))
    return {.fault = "no conversation has the number " + grouped(number) + ": " + counted(all.size(), "conversation") +
                     (all.size() == 1 ? " is" : " are") + " stored; --resume alone continues the newest one"};
  return {.id = wanted.empty() ? all.front() : find_conversation(store, all, wanted)};
} catch (const DamagedDatabase&) {
  throw;
} catch (const Error& error) {
  return {.fault = error.what()};
}

std::vector<uint32_t> parse_numbers(const std::string& text) {
  constexpr uint32_t kMaxNumbers = 1'000'000;
  std::set<uint32_t> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t dash = word.find('-');
    const uint32_t first = parse_count(word.substr(0, dash));
    const uint32_t last = dash == std::string::npos ? first : parse_count(word.substr(dash + 1));
    if (first == 0 || last < first || last - first > kMaxNumbers) return {};
    for (uint32_t number = first; number <= last; ++number) numbers.insert(number);
  }
  return {numbers.begin(), numbers.end()};
}

std::vector<ConversationId> find_conversations(const ConversationStore& store,
                                               const std::vector<ConversationId>& listed, const std::string& wanted) {
  const std::vector<uint32_t> numbers = parse_numbers(wanted);
  if (numbers.size() < 2) return {find_conversation(store, listed, wanted)};
  if (numbers.back() > listed.size())
    throw Error("the last list has no number " + std::to_string(numbers.back()) + "; it has " +
                counted(listed.size(), "conversation") + "; /list shows the latest ones");
  std::vector<ConversationId> ids;
  for (const uint32_t number : numbers) ids.push_back(listed[number - 1]);
  return ids;
}

}  // namespace warpchat
