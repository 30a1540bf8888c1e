// A conversation as JSON, and the facts about it and its turns that Markdown writes in the same words.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/store/conversation_store.h"
#include "models/error.h"

namespace warpchat {

// "name: where: what", where being a line or an element of the file.
class TransferError : public Error {
 public:
  TransferError(const std::string& name, const std::string& where, const std::string& what)
      : Error(name + ": " + (where.empty() ? "" : where + " ") + what) {}
};

// Bounded in depth and number of values. TransferError with line and column if the text is not JSON.
nlohmann::ordered_json parse_json(std::string_view text, const std::string& name);

// Reads a Warpchat file, or messages of another program. Missing times are the current time.
ConversationTree read_json_conversation(nlohmann::ordered_json root, const std::string& name);

// {"version", "model", "created", "updated"}.
nlohmann::ordered_json conversation_facts(const ConversationTree& tree);
int64_t read_conversation_facts(const nlohmann::ordered_json& facts, const std::string& name, const std::string& where,
                                ConversationTree& tree);  // the version

// Reads a message of a file of this version (0: another program's), whose answer may begin with its reasoning.
void part_as_of(int64_t version, Message& message);

// {"created", "state"}; state only where it is not "complete".
nlohmann::ordered_json turn_facts(const Turn& turn);
void read_turn_facts(const nlohmann::ordered_json& facts, const std::string& name, const std::string& where,
                     Turn& turn);

// On one line, all text valid UTF-8.
std::string dump(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace warpchat
