// Messages of JSON-RPC 2.0 (https://www.jsonrpc.org/specification) as a server of MCP sends them, within limits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace warpchat {

inline constexpr size_t kMaxMessageBytes = size_t{16} << 20;  // a line or a body

// Codes of MCP 2026-07-28.
inline constexpr int64_t kHeaderMismatch = -32020, kMissingCapability = -32021, kUnsupportedVersion = -32022;
inline constexpr int64_t kMethodNotFound = -32601;

enum class MessageKind { kRequest, kNotification, kResponse, kNone };
MessageKind kind_of(const nlohmann::json& message);

// Calls on_message for the message in a text, or for each of a batch (2025-03-26 has them). Error, part of a sentence,
// for a text that is no JSON, is nested too deep, has too many values or holds anything but objects.
void read_messages(std::string_view text, const std::function<void(nlohmann::json message)>& on_message);

// Whether it is the response to the request with this id.
bool answers(const nlohmann::json& message, int64_t id);

nlohmann::json request_message(int64_t id, const std::string& method, nlohmann::json params);
nlohmann::json notification_message(const std::string& method, nlohmann::json params);

// The answer of a client without capabilities to a request of a legacy server: {} for ping, a refusal for others.
nlohmann::json answer_to_server(const nlohmann::json& request);

// One line of UTF-8.
std::string message_text(const nlohmann::json& message);

// A member's text, or an empty one where there is none.
std::string text_member(const nlohmann::json& object, const char* name);
// A member that is an object, or an empty object.
const nlohmann::json& object_member(const nlohmann::json& object, const char* name);

// The "error" of a response for people: its message, and its data if they are a text; printable, at most 1,000 bytes.
std::string error_text(const nlohmann::json& error);
int64_t error_code(const nlohmann::json& error);  // 0: it has none

}  // namespace warpchat
