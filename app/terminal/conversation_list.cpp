// Numbers come first, so that a conversation called "3" is found by its title only where no list has three entries.
#include "app/terminal/conversation_list.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <set>
#include <sstream>

#include "app/formats/conversation_query.h"
#include "app/platform/text/column_text.h"
#include "app/terminal/marked_words.h"
#include "engine/store/database.h"
#include "engine/store/search_words.h"
#include "models/ascii.h"
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

// "  (pinned, in work, #cats)"; empty: nothing of that.
std::string place_of(const Filing& filing) {
  std::string place;
  const auto add = [&](const std::string& more) { place += (place.empty() ? "" : ", ") + more; };
  if (filing.pinned) add("pinned");
  if (filing.archived) add("archived");
  if (!filing.folder.empty()) add("in " + printable(filing.folder, kMaxVersionBytes));
  for (const std::string& tag : filing.tags) add("#" + printable(tag, kMaxVersionBytes));
  return place.empty() ? "" : "  (" + place + ")";
}

// The cells before the title.
std::string head_of(size_t number, const ConversationSummary& conversation) {
  char messages[40];
  std::snprintf(messages, sizeof messages, "%12s\t", counted(conversation.n_messages, "message").c_str());
  return numbered(number, conversation.updated) + messages;
}

std::string line_of(size_t number, const ConversationSummary& conversation) {
  return head_of(number, conversation) + printable(conversation.title, kMaxTitleBytes) + place_of(conversation.filing) +
         "\n";
}

// Where the head ends in the laid out line, which may have blanks and line ends between any of its words.
size_t end_of_head(std::string_view line, const std::string& head) {
  auto rest = head.size() - static_cast<size_t>(std::ranges::count_if(head, [](char c) { return is_blank(c); }));
  size_t end = 0;
  for (; end < line.size() && rest > 0; ++end) rest -= !is_blank(line[end]);
  return end;
}

std::string excerpt_line(const SearchHit& hit) {
  return hit.turn == 0 ? "" : "      " + printable(hit.excerpt, kMaxTitleBytes) + "\n";
}

}  // namespace

std::string list_conversations(const std::vector<ConversationSummary>& conversations) {
  std::string lines;
  for (size_t i = 0; i < conversations.size(); ++i) lines += line_of(i + 1, conversations[i]);
  return lines;
}

std::string list_names(const std::vector<NameCount>& names) {
  std::string lines;
  for (const NameCount& name : names)
    lines += "  " + printable(name.name, kMaxTitleBytes) + "\t" + counted(name.n, "conversation") + "\n";
  return lines;
}

ListRequest parse_list_request(const std::string& wanted) {
  ConversationQuery query = parse_query(wanted);
  ListRequest request{.filter = query.filter};
  request.filter.pinned_first = true;
  std::istringstream words(query.words);
  for (std::string word; words >> word;) {
    const uint32_t count = parse_count(word);
    if (word == "archived")
      request.filter.archived = true;
    else if (word == "pinned")
      request.filter.pinned = true;
    else if (count > 0 && request.limit == 0)
      request.limit = count;
    else
      throw Error("/list takes a number of conversations and filters such as folder:NAME, found '" +
                  printable(word, 60) + "'");
  }
  if (!request.filter.archived) request.filter.archived = false;
  return request;
}

std::string list_hits(const std::vector<SearchHit>& hits, size_t first) {
  std::string lines;
  for (size_t i = 0; i < hits.size(); ++i) lines += line_of(first + i, hits[i].conversation) + excerpt_line(hits[i]);
  return lines;
}

// The cells before a title have the same width in every line, so each line can be laid out alone.
std::string marked_hits(const std::vector<SearchHit>& hits, size_t first, const std::string& words, int width) {
  std::string lines;
  for (size_t i = 0; i < hits.size(); ++i) {
    const std::string line = column_text(line_of(first + i, hits[i].conversation), width);
    lines += mark_words(line, words, end_of_head(line, head_of(first + i, hits[i].conversation)));
    lines += mark_words(column_text(excerpt_line(hits[i]), width), words);
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

std::vector<ConversationId> by_default(const ConversationStore& store, uint32_t limit) {
  std::vector<ConversationId> ids;
  for (const ConversationSummary& conversation : store.list(limit, parse_list_request("").filter))
    ids.push_back(conversation.id);
  return ids;
}

FoundConversation find_resumed(const ConversationStore& store, const std::string& wanted) try {
  const uint32_t number = wanted.empty() ? 1 : parse_count(wanted);
  std::vector<ConversationId> all = by_default(store, std::max<uint32_t>(number, 1));
  if (wanted.empty())
    if (const std::vector<ConversationSummary> latest = store.list(1); !latest.empty()) all = {latest.front().id};
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
