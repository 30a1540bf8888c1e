// The JSON form of messages, and the split of reasoning from answers.
#include "engine/message.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/reasoning_splitter.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr char kTokenLimit[] = "token_limit", kContextFull[] = "context_full";

[[noreturn]] void fail(std::string_view key, std::string_view wanted) {
  throw Error("a message's \"" + std::string(key) + "\" must be " + std::string(wanted));
}

const nlohmann::json* find(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const nlohmann::json* value = find(object, key);
  if (value == nullptr) return "";
  if (!value->is_string()) fail(key, "a text");
  return value->get<std::string>();
}

template <class T>
T number_of(const nlohmann::json& object, const char* key) {
  const nlohmann::json* value = find(object, key);
  if (value == nullptr) return 0;
  if (!value->is_number() || value->get<double>() < 0 || value->get<double>() > 4e9) fail(key, "a number from 0");
  return value->get<T>();
}

ordered_json parts_of(const Message& message) {
  if (message.files.empty()) return message.content;
  ordered_json parts = ordered_json::array();
  for (const AttachedFile& file : message.files) {
    parts.push_back({{"type", "file"}, {"name", file.name}, {"text", file.text}});
    if (file.tokens > 0) parts.back()["tokens"] = file.tokens;
  }
  if (!message.content.empty()) parts.push_back({{"type", "text"}, {"text", message.content}});
  return parts;
}

void read_parts(const nlohmann::json& content, Message& message) {
  if (content.is_string()) {
    message.content = content.get<std::string>();
    return;
  }
  if (!content.is_array()) fail("content", "a text or a list of parts");
  for (const nlohmann::json& part : content) {
    if (!part.is_object()) fail("content", "a text or a list of parts");
    const std::string type = text_of(part, "type");
    if (type == "file")
      message.files.push_back({text_of(part, "name"), text_of(part, "text"), number_of<uint32_t>(part, "tokens")});
    if (type == "text") message.content += (message.content.empty() ? "" : "\n\n") + text_of(part, "text");
  }
}

ordered_json timings_json(const Timings& t) {
  ordered_json json = {
      {"prompt_tokens", t.prompt_tokens},       {"reused_tokens", t.reused_tokens},
      {"generated_tokens", t.generated_tokens}, {"prompt_seconds", t.prompt_seconds},
      {"generate_seconds", t.generate_seconds}, {"first_token_seconds", t.first_token_seconds},
  };
  if (t.drafted_tokens > 0) json["drafted_tokens"] = t.drafted_tokens, json["accepted_tokens"] = t.accepted_tokens;
  return json;
}

Timings timings_of(const nlohmann::json& json) {
  if (!json.is_object()) fail("timings", "an object");
  return {number_of<uint32_t>(json, "prompt_tokens"),    number_of<uint32_t>(json, "reused_tokens"),
          number_of<uint32_t>(json, "generated_tokens"), number_of<double>(json, "prompt_seconds"),
          number_of<double>(json, "generate_seconds"),   number_of<double>(json, "first_token_seconds"),
          number_of<uint32_t>(json, "drafted_tokens"),   number_of<uint32_t>(json, "accepted_tokens")};
}

ordered_json calls_json(const std::vector<ToolCall>& calls) {
  ordered_json list = ordered_json::array();
  for (const ToolCall& call : calls) {
    list.push_back({{"id", call.id}, {"name", call.name}, {"arguments", call.arguments}});
    if (!call.result.empty()) list.back()["result"] = call.result;
    if (const std::string_view status = name_of(call.status); !status.empty()) list.back()["status"] = status;
  }
  return list;
}

std::vector<ToolCall> read_calls(const nlohmann::json& object) {
  std::vector<ToolCall> read;
  const nlohmann::json* calls = find(object, "tool_calls");
  if (calls == nullptr) return read;
  if (!calls->is_array()) fail("tool_calls", "a list");
  for (const nlohmann::json& call : *calls) {
    if (!call.is_object()) fail("tool_calls", "a list of objects");
    read.push_back({text_of(call, "id"), text_of(call, "name"), text_of(call, "arguments"), text_of(call, "result")});
    const std::string status = text_of(call, "status");
    for (const CallStatus known : {CallStatus::kOk, CallStatus::kError, CallStatus::kDenied})
      if (status == name_of(known)) read.back().status = known;
  }
  return read;
}

std::vector<ToolRound> read_rounds(const nlohmann::json& object) {
  std::vector<ToolRound> read;
  const nlohmann::json* rounds = find(object, "rounds");
  if (rounds == nullptr) return read;
  if (!rounds->is_array()) fail("rounds", "a list");
  for (const nlohmann::json& round : *rounds) {
    if (!round.is_object()) fail("rounds", "a list of objects");
    read.push_back({text_of(round, "content"), text_of(round, "reasoning"), read_calls(round)});
  }
  return read;
}

// An answer's rounds as messages, then what followed them.
std::vector<Message> with_rounds_apart(const std::vector<Message>& messages) {
  std::vector<Message> apart;
  for (const Message& message : messages) {
    for (const ToolRound& round : message.rounds) {
      apart.push_back({.role = message.role, .content = round.content, .reasoning = round.reasoning});
      apart.back().tool_calls = round.calls;
      for (const ToolCall& call : round.calls)
        apart.push_back({.role = "tool", .content = call.result, .tool_call_id = call.id, .tool_name = call.name});
    }
    apart.push_back(message);
    apart.back().rounds.clear();
  }
  return apart;
}

bool is_blank(std::string_view text) { return trimmed(text).empty(); }

// The messages with the results of the calls follow the message with the calls.
bool calls_are_answered(const std::vector<Message>& messages, size_t i) {
  std::set<std::string> open;
  for (const ToolCall& call : messages[i].tool_calls) open.insert(call.id);
  for (size_t next = i + 1; next < messages.size() && messages[next].role == "tool"; ++next)
    open.erase(messages[next].tool_call_id);
  return open.empty();
}

bool can_join(const Message& a, const Message& b) {
  return a.role == b.role && a.role != "tool" && a.tool_calls.empty() && b.tool_calls.empty();
}

void append_joined(std::vector<Message>& messages, Message message) {
  if (messages.empty() || !can_join(messages.back(), message)) return messages.push_back(std::move(message));
  Message& last = messages.back();
  last = {.role = last.role, .content = text_for_model(last) + "\n\n" + text_for_model(message)};
}

}  // namespace

std::string_view name_of(CallStatus status) {
  switch (status) {
    case CallStatus::kOk:
      return "ok";
    case CallStatus::kError:
      return "error";
    case CallStatus::kDenied:
      return "denied";
    case CallStatus::kNone:
    case CallStatus::kAsking:
    case CallStatus::kRunning:
      break;
  }
  return "";
}

ordered_json to_json(const Message& message) {
  ordered_json json = {{"role", message.role}, {"content", parts_of(message)}};
  const auto add = [&](const char* key, const std::string& text) {
    if (!text.empty()) json[key] = text;
  };
  add("reasoning", message.reasoning);
  if (message.reasoning_ended) json["reasoning_ended"] = true;
  for (const ToolRound& round : message.rounds) {
    json["rounds"].push_back({{"content", round.content}, {"tool_calls", calls_json(round.calls)}});
    if (!round.reasoning.empty()) json["rounds"].back()["reasoning"] = round.reasoning;
  }
  if (!message.tool_calls.empty()) json["tool_calls"] = calls_json(message.tool_calls);
  add("tool_call_id", message.tool_call_id);
  add("model", message.model);
  add("endpoint", message.endpoint);
  if (message.timings) json["timings"] = timings_json(*message.timings);
  if (message.cut == AnswerCut::kTokenLimit) json["cut"] = kTokenLimit;
  if (message.cut == AnswerCut::kContextFull) json["cut"] = kContextFull;
  add("failure", message.failure);
  return json;
}

Message message_from_json(const nlohmann::json& json) {
  if (!json.is_object()) throw Error("a message must be an object");
  Message message;
  message.role = text_of(json, "role");
  if (const nlohmann::json* content = find(json, "content")) read_parts(*content, message);
  message.reasoning = text_of(json, "reasoning");
  if (const nlohmann::json* ended = find(json, "reasoning_ended")) {
    if (!ended->is_boolean()) fail("reasoning_ended", "true or false");
    message.reasoning_ended = ended->get<bool>();
  }
  message.rounds = read_rounds(json);
  message.tool_calls = read_calls(json);
  message.tool_call_id = text_of(json, "tool_call_id");
  message.model = text_of(json, "model");
  message.endpoint = text_of(json, "endpoint");
  if (const nlohmann::json* timings = find(json, "timings")) message.timings = timings_of(*timings);
  const std::string cut = text_of(json, "cut");
  if (cut == kTokenLimit) message.cut = AnswerCut::kTokenLimit;
  if (cut == kContextFull) message.cut = AnswerCut::kContextFull;
  message.failure = text_of(json, "failure");
  return message;
}

bool is_empty(const Message& message) {
  return message.content.empty() && message.reasoning.empty() && message.files.empty() && message.rounds.empty() &&
         message.tool_calls.empty();
}

std::string text_for_model(const Message& message) {
  std::string text;
  for (const AttachedFile& file : message.files) {
    const std::string fence = fence_around(file.text);
    text += file.name + ":\n\n" + fence + "\n" + file.text + (file.text.ends_with('\n') ? "" : "\n") + fence + "\n\n";
  }
  return text + message.content;
}

std::vector<Message> messages_for_model(const std::vector<Message>& conversation) {
  const std::vector<Message> messages = with_rounds_apart(conversation);
  std::vector<Message> kept;
  std::set<std::string> calls;  // ids that have been answered, of the last message with calls
  for (size_t i = 0; i < messages.size(); ++i) {
    Message message = messages[i];
    const bool is_answer = message.role == "assistant", is_result = message.role == "tool";
    if (!calls_are_answered(messages, i)) message.tool_calls.clear();
    if (is_result && !calls.contains(message.tool_call_id)) continue;
    if (!is_result) calls.clear();
    for (const ToolCall& call : message.tool_calls) calls.insert(call.id);
    const bool goes_on = i + 1 == messages.size() && !is_blank(message.reasoning);
    if (is_answer && message.tool_calls.empty() && is_blank(text_for_model(message)) && !goes_on) continue;
    if (!is_answer && !is_result && is_empty(message)) continue;
    append_joined(kept, std::move(message));
  }
  return kept;
}

std::string joined(const std::vector<ToolRound>& rounds, std::string ToolRound::*part, const std::string& last) {
  std::string all;
  for (const ToolRound& round : rounds) {
    const std::string& text = round.*part;
    if (const size_t end = text.find_last_not_of(" \t\r\n"); end != std::string::npos)
      all.append(text, 0, end + 1) += "\n\n";
  }
  if (rounds.empty() || !trimmed(last).empty()) return all + last;
  return all.substr(0, all.find_last_not_of('\n') + 1);
}

void reclassify(std::string& content, std::string& reasoning, bool thinking) {
  std::string text = std::exchange(reasoning, {}) + std::exchange(content, {});
  if (thinking) text.resize(text.find_last_not_of(" \t\r\n") + 1);
  (thinking ? reasoning : content) = std::move(text);
}

ReasoningSplitter::Begin begin_behind(const Message& answer) {
  using State = ReasoningSplitter::State;
  if (answer.content.empty() && !answer.reasoning_ended) return {.state = State::kThinking, .has_text = true};
  ReasoningSplitter::Begin begin{
      .state = State::kAnswer, .has_thought = !answer.reasoning.empty(), .has_text = !answer.content.empty()};
  begin.code.add(answer.content);
  return begin;
}

void part_reasoning(Message& message) {
  ReasoningSplitter splitter({&kUsualMarks, 1}, {}, /*finds_unopened=*/false);
  std::vector<ReasoningSplitter::Piece> pieces = splitter.add(std::exchange(message.content, {}));
  for (auto& piece : splitter.finish()) pieces.push_back(std::move(piece));
  for (const auto& piece : pieces) (piece.thinking ? message.reasoning : message.content) += piece.text;
}

}  // namespace warpchat
