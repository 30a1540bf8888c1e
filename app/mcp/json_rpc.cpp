// A response needs an id and one of "result" and "error"; "jsonrpc" is not asked for, since some servers leave it out.
#include "app/mcp/json_rpc.h"

#include <utility>

#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;

// A message of 16 MiB may have millions of tiny values, each of which takes many times its text's memory.
constexpr JsonLimits kLimits{.depth = 128, .bytes = kMaxMessageBytes, .values = 500'000};

}  // namespace

MessageKind kind_of(const json& message) {
  const auto id = message.find("id"), method = message.find("method");
  const bool has_id = id != message.end() && (id->is_string() || id->is_number());
  if (method != message.end() && method->is_string())
    return has_id ? MessageKind::kRequest : MessageKind::kNotification;
  if (message.contains("result") || message.contains("error") || has_id) return MessageKind::kResponse;
  return MessageKind::kNone;
}

void read_messages(std::string_view text, const std::function<void(json message)>& on_message) {
  json value = parse_untrusted_json(text, kLimits);
  if (value.is_object()) return on_message(std::move(value));
  if (!value.is_array()) throw Error("it is JSON, but no object");
  for (json& message : value) {
    if (!message.is_object()) throw Error("it is a list with something that is no object");
    on_message(std::move(message));
  }
}

bool answers(const json& message, int64_t id) {
  const auto found = message.find("id");
  return kind_of(message) == MessageKind::kResponse && found != message.end() && found->is_number() && *found == id;
}

json request_message(int64_t id, const std::string& method, json params) {
  json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  return message;
}

json notification_message(const std::string& method, json params) {
  json message = {{"jsonrpc", "2.0"}, {"method", method}};
  if (!params.empty()) message["params"] = std::move(params);
  return message;
}

json answer_to_server(const json& request) {
  json answer = {{"jsonrpc", "2.0"}, {"id", request["id"]}};
  const std::string method = text_member(request, "method");
  if (method == "ping")
    answer["result"] = json::object();
  else if (method == "elicitation/create")
    answer["result"] = {{"action", "decline"}};
  else
    answer["error"] = {{"code", kMethodNotFound}, {"message", "this client does not have the method " + method}};
  return answer;
}

std::string message_text(const json& message) {
  return message.dump(-1, ' ', /*ensure_ascii=*/false, json::error_handler_t::replace);
}

std::string text_member(const json& object, const char* name) {
  const auto found = object.find(name);
  return object.is_object() && found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const json& object_member(const json& object, const char* name) {
  static const json kEmpty = json::object();
  const auto found = object.find(name);
  return object.is_object() && found != object.end() && found->is_object() ? *found : kEmpty;
}

std::string error_text(const json& error) {
  constexpr size_t kMaxBytes = 1000;
  std::string text = text_member(error, "message");
  if (const std::string data = text_member(error, "data"); !data.empty() && data != text) text += ": " + data;
  if (text.empty()) text = "error " + std::to_string(error_code(error)) + " without a message";
  return printable(trimmed(text), kMaxBytes);
}

int64_t error_code(const json& error) {
  const auto found = error.find("code");
  return error.is_object() && found != error.end() && found->is_number_integer() ? found->get<int64_t>() : 0;
}

}  // namespace warpchat
