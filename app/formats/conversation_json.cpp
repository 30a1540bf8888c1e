// {"format": "warpchat conversation", "version": 2, "title", "model", "created", "updated", "settings",
//  "pinned", "archived", "folder", "tags",                                                only where they are set
//  "messages": [{"role": "system", "content"}, {MESSAGE, "id", "created", "state"}, ...],  the shown branch
//  "branches": [{MESSAGE, "id", "parent", "created", "state"}, ...]}                       all other turns
// MESSAGE: the keys of a message's one JSON form, engine/message.h. The system message is there if the conversation has
// one. Turns are numbered from 1 in the order they were made; the parent of one in "messages" is the one before it;
// parent 0: a first message. "settings" is there if some were made: flags' long names and their values. Unknown keys
// are passed over. In version 1 a message is its role and content, and a
// thought stands in its answer's content.
#include "app/formats/conversation_json.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "app/formats/conversation_query.h"
#include "app/formats/transfer.h"
#include "app/platform/text/timestamp.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using Json = nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kFormat = "warpchat conversation";
constexpr int64_t kFormatVersion = 2, kPartsReasoning = 2;  // the latter: from this version on
constexpr size_t kMaxValues = 5'000'000;  // a hundred thousand turns with all facts that other programs store

std::string line_and_column(std::string_view text, size_t offset) {
  text = text.substr(0, offset);
  const size_t line_start = text.rfind('\n') + 1;  // npos + 1 is 0
  return "line " + grouped(static_cast<size_t>(std::count(text.begin(), text.end(), '\n')) + 1) + ", column " +
         grouped(text.size() - line_start + 1);
}

// Reads an element; its errors name the element.
class Reader {
 public:
  Reader(const std::string& name, std::string where) : name_(name), where_(std::move(where)) {}

  [[noreturn]] void fail(const std::string& what) const { throw TransferError(name_, where_, what); }

  std::string text(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return "";
    if (!found->is_string()) fail(std::string("has no text as '") + key + "'");
    return found->get<std::string>();
  }

  int64_t whole_number(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number_integer()) fail(std::string("has no whole number as '") + key + "'");
    return found->get<int64_t>();
  }

  bool flag(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return false;
    if (!found->is_boolean()) fail(std::string("has neither true nor false as '") + key + "'");
    return found->get<bool>();
  }

  std::vector<std::string> texts(const Json& object, const char* key) const {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    const auto is_text = [](const Json& element) { return element.is_string() && !element.empty(); };
    if (!found->is_array() || !std::ranges::all_of(*found, is_text)) fail(std::string("has no texts as '") + key + "'");
    return found->get<std::vector<std::string>>();
  }

  StoreTime time(const Json& object, const char* key) const {
    if (!object.contains(key) || object[key].is_null()) return store_time_now();
    const std::optional<StoreTime> time = parse_timestamp(text(object, key));
    if (!time) fail(std::string("has no time like 2026-11-21T19:12:03.120Z as '") + key + "'");
    return *time;
  }

  std::string role(const Json& message) const {
    const std::string said = text(message, "role");
    if (said == "user" || said == "assistant" || said == "system" || said == "tool") return said;
    fail(said.empty() ? "has no 'role'" : "has the unknown role '" + printable(said, 40) + "'");
  }

  Message message(const Json& element) const {
    const std::string its_role = role(element);
    const auto content = element.find("content");
    if (content == element.end() || !(content->is_string() || content->is_array())) fail("has no text as 'content'");
    try {
      Message message = message_from_json(element);
      message.role = its_role;
      return message;
    } catch (const Error& error) {
      fail(std::string("cannot be read: ") + error.what());
    }
  }

 private:
  const std::string& name_;
  std::string where_;  // "messages[3]"; empty: the file as a whole
};

ordered_json message_of(const Turn& turn) {
  ordered_json message = to_json(turn.message);
  message["id"] = turn.id;
  message.update(turn_facts(turn));
  return message;
}

// Turns numbered from 1 in the order they have.
void renumber(ConversationTree& tree) {
  std::unordered_map<TurnId, TurnId> numbers{{0, 0}};
  for (Turn& turn : tree.turns) {
    turn.parent = numbers.at(turn.parent);
    turn.id = numbers[turn.id] = static_cast<TurnId>(numbers.size());
  }
  tree.shown = numbers.at(tree.shown);
}

// The array under this key; null if there is none.
const Json& array_of(const Json& root, const char* key, const Reader& file) {
  static const Json kNone;
  const auto found = root.find(key);
  if (found == root.end()) return kNone;
  if (!found->is_array()) file.fail(std::string("has no array as '") + key + "'");
  return *found;
}

// What a conversation is read from.
struct Source {
  const std::string& name;  // for errors
  int64_t version;
  bool is_cut;
};

Turn read_turn(const Json& element, const Source& source, const std::string& where) {
  const Reader reader(source.name, where);
  if (!element.is_object()) reader.fail("is not an object with 'role' and 'content'");
  Turn turn{.id = 0,
            .parent = 0,
            .message = reader.message(element),
            .state = TurnState::kComplete,
            .created = store_time_now()};
  part_as_of(source.version, turn.message);
  if (turn.message.role == "system") return turn;
  turn.id = reader.whole_number(element, "id");
  read_turn_facts(element, source.name, where, turn);
  return turn;
}

// read(element, "list[3]") for each element; the last one of a cut file may fail.
template <class Read>
void read_list(const Json& list, const char* key, const Source& source, Read read) {
  for (size_t i = 0; i < list.size(); ++i) {
    try {
      read(list[i], i, key + ("[" + std::to_string(i) + "]"));
    } catch (const TransferError&) {
      if (!source.is_cut || i + 1 < list.size()) throw;
    }
  }
}

// One after the other, each the parent of the next; a system message in front is the system prompt.
void read_messages(const Json& messages, const Source& source, ConversationTree& tree) {
  read_list(messages, "messages", source, [&](const Json& element, size_t i, const std::string& where) {
    Turn turn = read_turn(element, source, where);
    if (turn.message.role == "system") {
      if (i > 0) Reader(source.name, where).fail("is a system message, which can only be the first one");
      tree.system_prompt = std::move(turn.message.content);
      return;
    }
    turn.parent = tree.shown;
    tree.shown = turn.id;
    tree.turns.push_back(std::move(turn));
  });
}

void read_branches(const Json& branches, const Source& source, ConversationTree& tree) {
  read_list(branches, "branches", source, [&](const Json& element, size_t, const std::string& where) {
    Turn turn = read_turn(element, source, where);
    const Reader reader(source.name, where);
    if (turn.message.role == "system") reader.fail("is a system message, which can only be the first of 'messages'");
    turn.parent = reader.whole_number(element, "parent");
    tree.turns.push_back(std::move(turn));
  });
  std::stable_sort(tree.turns.begin(), tree.turns.end(), [](const Turn& a, const Turn& b) { return a.id < b.id; });
}

// Each id once, and below a parent that came before it.
void require_tree(const ConversationTree& tree, const std::string& name) {
  std::unordered_set<TurnId> seen{0};
  for (const Turn& turn : tree.turns) {
    const Reader reader(name, "the message with the id " + std::to_string(turn.id));
    if (turn.id < 1 || seen.contains(turn.id)) reader.fail("has an id below 1 or one that is used twice");
    if (!seen.contains(turn.parent))
      reader.fail("follows the message " + std::to_string(turn.parent) + ", whose id is not smaller");
    seen.insert(turn.id);
  }
}

}  // namespace

std::string dump(const ordered_json& value, int indent) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace);
}

Json parse_file_json(std::string_view text) {
  return parse_untrusted_json(text, {.bytes = kMaxImportBytes, .values = kMaxValues});
}

TransferError transfer_error(const JsonError& error, std::string_view whole, size_t at, const std::string& name) {
  if (!error.is_syntax) return {name, "", error.what()};
  return {name, line_and_column(whole, at + error.byte) + ":", "invalid JSON; the file may be cut off or damaged"};
}

ordered_json conversation_facts(const ConversationTree& tree) {
  ordered_json facts = {{"version", kFormatVersion},
                        {"model", tree.model},
                        {"created", timestamp(tree.created)},
                        {"updated", timestamp(tree.updated)}};
  if (ordered_json settings = try_parse_untrusted_json<ordered_json>(tree.settings); settings.is_object())
    facts["settings"] = std::move(settings);
  if (tree.filing.pinned) facts["pinned"] = true;
  if (tree.filing.archived) facts["archived"] = true;
  if (!tree.filing.folder.empty()) facts["folder"] = tree.filing.folder;
  if (!tree.filing.tags.empty()) facts["tags"] = tree.filing.tags;
  return facts;
}

int64_t read_conversation_facts(const Json& facts, const std::string& name, const std::string& where,
                                ConversationTree& tree) {
  const Reader reader(name, where);
  const int64_t version = reader.whole_number(facts, "version");
  if (version < 1) reader.fail("has a 'version' below 1");
  if (version > kFormatVersion)
    reader.fail("is from a newer version of Warpchat (format " + std::to_string(version) + ", this one reads " +
                std::to_string(kFormatVersion) + "); update Warpchat");
  tree.model = reader.text(facts, "model");
  tree.created = reader.time(facts, "created");
  tree.updated = reader.time(facts, "updated");
  if (const auto settings = facts.find("settings"); settings != facts.end() && settings->is_object())
    tree.settings = settings->dump();
  const auto is_too_long = [](const std::string& given) { return given.size() > kMaxNameBytes; };
  tree.filing = {.pinned = reader.flag(facts, "pinned"),
                 .archived = reader.flag(facts, "archived"),
                 .folder = reader.text(facts, "folder"),
                 .tags = reader.texts(facts, "tags")};
  if (is_too_long(tree.filing.folder) || std::ranges::any_of(tree.filing.tags, is_too_long))
    reader.fail("has a folder or tag with a name of more than " + counted(kMaxNameBytes, "byte"));
  return version;
}

void part_as_of(int64_t version, Message& message) {
  if (version < kPartsReasoning && message.role == "assistant" && message.reasoning.empty()) part_reasoning(message);
}

ordered_json turn_facts(const Turn& turn) {
  ordered_json facts = {{"created", timestamp(turn.created)}};
  if (turn.state != TurnState::kComplete) facts["state"] = "stopped";
  return facts;
}

void read_turn_facts(const Json& facts, const std::string& name, const std::string& where, Turn& turn) {
  const Reader reader(name, where);
  turn.created = reader.time(facts, "created");
  turn.state = reader.text(facts, "state") == "stopped" ? TurnState::kStopped : TurnState::kComplete;
}

std::string to_json(const ConversationTree& given) {
  ConversationTree tree = given;
  renumber(tree);
  ordered_json messages = ordered_json::array(), branches = ordered_json::array();
  if (!tree.system_prompt.empty()) messages.push_back({{"role", "system"}, {"content", tree.system_prompt}});
  std::unordered_set<TurnId> shown;
  for (const Turn& turn : shown_branch(tree)) {
    shown.insert(turn.id);
    messages.push_back(message_of(turn));
  }
  for (const Turn& turn : tree.turns) {
    if (shown.contains(turn.id)) continue;
    branches.push_back(message_of(turn));
    branches.back()["parent"] = turn.parent;
  }
  ordered_json root = {{"format", kFormat}, {"title", tree.title}};
  root.update(conversation_facts(tree));
  root["messages"] = std::move(messages);
  root["branches"] = std::move(branches);
  return dump(root, 2) + "\n";
}

bool is_own_json(const Json& root) { return root.is_object() && root.value("format", Json()) == kFormat; }

ConversationTree read_json_conversation(const Json& root, const std::string& name, bool is_cut) {
  const Reader file(name, "");
  ConversationTree tree{.title = file.text(root, "title"), .created = store_time_now(), .updated = store_time_now()};
  const Source source{name, read_conversation_facts(root, name, "", tree), is_cut};
  read_messages(array_of(root, "messages", file), source, tree);
  read_branches(array_of(root, "branches", file), source, tree);
  require_tree(tree, name);
  renumber(tree);
  return tree;
}

}  // namespace warpchat
