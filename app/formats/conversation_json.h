// A conversation as JSON, and the facts about it and its turns that Markdown writes in the same words.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "engine/store/conversation_store.h"
#include "engine/untrusted_json.h"
#include "models/error.h"

namespace warpchat {

// "name: where what", where being a line or an element of the file.
class TransferError : public Error {
 public:
  TransferError(const std::string& name, const std::string& where, const std::string& what)
      : Error(name + ": " + (where.empty() ? "" : where + " ") + what), where_(where), what_(what) {}

  // The same as a clause: "conversation 2: messages[3] has no 'role'"; place: where in a file of several, or empty.
  std::string clause(const std::string& place) const {
    if (where_.empty()) return place.empty() ? what_ : place + " " + what_;
    return (place.empty() ? "" : place + ": ") + where_ + " " + what_;
  }

 private:
  std::string where_, what_;
};

constexpr size_t kMaxImportBytes = 256'000'000;

// Bounded in size, depth and number of values.
nlohmann::json parse_file_json(std::string_view text);  // JsonError
// The same as a TransferError, with line and column if it is the syntax. at: where the parsed text began in the whole.
TransferError transfer_error(const JsonError& error, std::string_view whole, size_t at, const std::string& name);

// What to_json() wrote. TransferError with the element at fault. Missing times are the current time.
// is_cut: it was closed by close_cut_json(), and the last message of each list is left out if it is not whole.
bool is_own_json(const nlohmann::json& root);
ConversationTree read_json_conversation(const nlohmann::json& root, const std::string& name, bool is_cut = false);

// {"version", "model", "created", "updated"}, and where the user has put it.
nlohmann::ordered_json conversation_facts(const ConversationTree& tree);
int64_t read_conversation_facts(const nlohmann::json& facts, const std::string& name, const std::string& where,
                                ConversationTree& tree);  // the version

// Reads a message of a file of this version (0: another program's), whose answer may begin with its reasoning.
void part_as_of(int64_t version, Message& message);

// {"created", "state"}; state only where it is not "complete".
nlohmann::ordered_json turn_facts(const Turn& turn);
void read_turn_facts(const nlohmann::json& facts, const std::string& name, const std::string& where, Turn& turn);

// On one line, all text valid UTF-8.
std::string dump(const nlohmann::ordered_json& value, int indent = -1);

}  // namespace warpchat
