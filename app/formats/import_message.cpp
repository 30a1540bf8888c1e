#include "app/formats/import_message.h"

#include <algorithm>
#include <optional>

#include "app/platform/text/timestamp.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

using Json = nlohmann::json;

constexpr double kLastTime = 253'402'300'799'000;  // ms since 1970: the end of the year 9999

// "2025-11-21T19:12:03.123456+01:00", the fraction and the offset may be missing.
std::optional<StoreTime> iso_time(const std::string& text) {
  constexpr size_t kSeconds = 19;  // characters up to them
  const std::optional<StoreTime> seconds =
      text.size() < kSeconds ? std::nullopt : parse_timestamp(text.substr(0, 10) + "T" + text.substr(11, 8) + "Z");
  if (!seconds) return std::nullopt;
  size_t at = kSeconds;
  StoreTime time = *seconds;
  if (at < text.size() && text[at] == '.')
    for (StoreTime unit = 100; ++at < text.size() && text[at] >= '0' && text[at] <= '9'; unit /= 10)
      time += unit * (text[at] - '0');
  const auto is_digit = [&](size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  const bool has_offset = text.size() >= at + 6 && (text[at] == '+' || text[at] == '-') && is_digit(at + 1) &&
                          is_digit(at + 2) && is_digit(at + 4) && is_digit(at + 5);
  if (!has_offset) return time;
  const auto two = [&](size_t i) { return (text[i] - '0') * 10 + (text[i + 1] - '0'); };
  const StoreTime offset = (two(at + 1) * 60 + two(at + 4)) * StoreTime{60'000};
  return text[at] == '+' ? time - offset : time + offset;
}

struct PartKind {
  const char* word;  // in the name of its type
  LeftOut kind;
};
constexpr PartKind kPartKinds[] = {
    {"image", LeftOut::kPicture}, {"picture", LeftOut::kPicture},   {"audio", LeftOut::kSound},
    {"speech", LeftOut::kSound},  {"video", LeftOut::kVideo},       {"result", LeftOut::kToolResult},
    {"tool", LeftOut::kToolCall}, {"function", LeftOut::kToolCall}, {"file", LeftOut::kFile},
    {"document", LeftOut::kFile},
};

LeftOut kind_of(const Json& part) {
  for (const char* key : {"fileType", "type", "content_type"}) {
    const std::string type = lower_case(text_of(member(part, key)));
    for (const PartKind& kind : kPartKinds)
      if (type.find(kind.word) != std::string::npos) return kind.kind;
  }
  return LeftOut::kPart;
}

void read_part(const Json& part, Message& message, ImportNotes& notes) {
  if (part.is_string()) return append_paragraph(message.content, part.get_ref<const std::string&>());
  const std::string type = text_of(member(part, "type"));
  const Json &text = member(part, "text"), &thinking = member(part, "thinking");
  if (type == "thinking" || type == "reasoning")
    append_paragraph(message.reasoning, text_of(thinking.is_string() ? thinking : text));
  else if (type == "file" && text.is_string())
    message.files.push_back({text_of(member(part, "name")), text_of(text)});
  else if (text.is_string() && kind_of(part) == LeftOut::kPart)
    append_paragraph(message.content, text.get_ref<const std::string&>());
  else if (type != "token_budget" && !part.is_null())
    notes.leave_out(kind_of(part));
}

struct RoleName {
  std::string_view name, role;
};
constexpr RoleName kRoles[] = {
    {"user", "user"},          {"human", "user"},        {"assistant", "assistant"},    {"model", "assistant"},
    {"gpt", "assistant"},      {"chatgpt", "assistant"}, {"bot", "assistant"},          {"ai", "assistant"},
    {"bing", "assistant"},     {"bard", "assistant"},    {"system", "system"},          {"developer", "system"},
    {"tool", "tool"},          {"function", "tool"},     {"observation", "tool"},       {"tool_response", "tool"},
    {"function_call", "call"}, {"tool_call", "call"},    {"function_response", "tool"},
};

std::string_view role_of(const Json& message) {
  for (const char* key : {"role", "from", "sender"}) {
    const std::string name = lower_case(text_of(member(message, key)));
    for (const RoleName& role : kRoles)
      if (role.name == name) return role.role;
  }
  return "";
}

// The content, or the text that a list without parts stands beside.
const Json& content_of(const Json& message) {
  for (const char* key : {"content", "value", "text"}) {
    const Json& content = member(message, key);
    if (content.is_string() || (content.is_array() && !content.empty())) return content;
  }
  return member(Json(), "");
}

// Claude's attachments and Open WebUI's files: {"file_name", "extracted_content"}, {"name", "type", "file": {"data":
// {"content"}}}. Claude lists a file with a text among both.
void read_files(const Json& source, Message& message, ImportNotes& notes) {
  const auto is_here = [&](const std::string& name) {
    return std::ranges::any_of(message.files, [&](const AttachedFile& file) { return file.name == name; });
  };
  for (const char* key : {"attachments", "files"}) {
    const Json& files = member(source, key);
    if (!files.is_array()) continue;
    for (const Json& file : files) {
      std::string name = text_of(member(file, "file_name"));
      if (name.empty()) name = text_of(member(file, "name"));
      std::string text = text_of(member(file, "extracted_content"));
      if (text.empty()) text = text_of(member(member(member(file, "file"), "data"), "content"));
      if (!text.empty())
        message.files.push_back({name.empty() ? "file" : name, std::move(text)});
      else if (!is_here(name))
        notes.leave_out(kind_of(file) == LeftOut::kPicture ? LeftOut::kPicture : LeftOut::kFile);
    }
  }
}

}  // namespace

const Json& member(const Json& object, const char* key) {
  static const Json kNone;
  if (!object.is_object()) return kNone;
  const auto found = object.find(key);
  return found == object.end() ? kNone : *found;
}

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : ""; }

StoreTime time_of(const Json& value, StoreTime otherwise) {
  if (value.is_string()) return iso_time(value.get_ref<const std::string&>()).value_or(otherwise);
  if (!value.is_number()) return otherwise;
  double time = value.get<double>();  // in seconds, if it is small enough
  if (!(time > 0)) return otherwise;
  if (time < 1e11) return static_cast<StoreTime>(time * 1000);
  while (time >= 1e14) time /= 1000;  // micro- or nanoseconds
  return time < kLastTime ? static_cast<StoreTime>(time) : otherwise;
}

StoreTime time_in(const Json& object, std::initializer_list<const char*> keys, StoreTime otherwise) {
  for (const char* key : keys)
    if (const StoreTime time = time_of(member(object, key), 0); time != 0) return time;
  return otherwise;
}

void append_paragraph(std::string& text, std::string_view more) {
  if (more.empty()) return;
  if (!text.empty()) text += "\n\n";
  text += more;
}

void read_parts(const Json& content, Message& message, ImportNotes& notes) {
  if (!content.is_array()) return read_part(content, message, notes);
  for (const Json& part : content) read_part(part, message, notes);
}

bool is_foreign_message(const Json& value) {
  for (const char* key : {"role", "from", "sender"})
    if (member(value, key).is_string()) return true;
  return false;
}

Message read_foreign_message(const Json& value, ImportNotes& notes) {
  Message message;
  const std::string_view role = role_of(value);
  if (role.empty()) {
    notes.leave_out(LeftOut::kMessage);
    return message;
  }
  if (role == "tool" || role == "call") {
    notes.leave_out(role == "tool" ? LeftOut::kToolResult : LeftOut::kToolCall);
    return message;
  }
  message.role = role;
  read_parts(content_of(value), message, notes);
  read_files(value, message, notes);
  if (const Json& calls = member(value, "tool_calls"); calls.is_array())
    notes.leave_out(LeftOut::kToolCall, calls.size());
  if (role != "assistant") return message;
  for (const char* key : {"reasoning", "reasoning_content"})
    if (message.reasoning.empty()) message.reasoning = text_of(member(value, key));
  message.model = text_of(member(value, "model"));
  if (message.reasoning.empty()) part_reasoning(message);
  return message;
}

}  // namespace warpchat
