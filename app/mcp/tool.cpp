// Everything here is the server's text: it is checked for its shape and never believed.
#include "app/mcp/tool.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "app/mcp/json_rpc.h"
#include "app/platform/clipboard.h"
#include "app/tools/built_in_tools.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

using nlohmann::json;
constexpr size_t kMaxNameBytes = 64;
constexpr std::string_view kBase64Begin = "=?base64?", kBase64End = "?=";

bool is_token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return is_word_character(c) || std::string_view("!#$%&'*+-.^`|~").find(c) != std::string_view::npos;
  });
}

// Finds the annotations of a schema. They may stand where a chain of "properties" leads, and nowhere else.
class HeaderFinder {
 public:
  std::vector<McpHeaderParameter> find(const json& schema) {
    look_at(schema, /*is_reachable=*/true);
    return std::move(found_);
  }

 private:
  void look_at(const json& schema, bool is_reachable) {
    if (schema.is_array())
      for (const json& value : schema) look_at(value, false);
    if (!schema.is_object()) return;
    if (const auto header = schema.find("x-mcp-header"); header != schema.end()) add(schema, *header, is_reachable);
    for (const auto& [keyword, value] : schema.items()) {
      if (kData.contains(keyword)) continue;
      if (!kMaps.contains(keyword)) {
        look_at(value, false);
        continue;
      }
      if (!value.is_object()) continue;
      for (const auto& [name, part] : value.items()) {
        path_.push_back(name);
        look_at(part, is_reachable && keyword == "properties");
        path_.pop_back();
      }
    }
  }

  void add(const json& schema, const json& header, bool is_reachable) {
    const std::string type = text_member(schema, "type");
    if (!is_reachable || path_.empty()) throw Error("has \"x-mcp-header\" at a place that no argument is at");
    if (!header.is_string() || !is_token(header.get_ref<const std::string&>()))
      throw Error("has an \"x-mcp-header\" that is no name of a header");
    if (type != "string" && type != "integer" && type != "boolean")
      throw Error("has \"x-mcp-header\" at a parameter that is no text, integer or boolean");
    if (!used_.insert(lower_case(header.get_ref<const std::string&>())).second)
      throw Error("has the same \"x-mcp-header\" twice");
    found_.push_back({header.get<std::string>(), path_});
  }

  // Keywords whose members have names of their own, and those that hold values.
  inline static const std::set<std::string> kMaps = {"properties", "patternProperties", "$defs", "definitions",
                                                     "dependentSchemas"};
  inline static const std::set<std::string> kData = {"default", "const", "enum", "examples", "example", "x-mcp-header"};
  std::vector<std::string> path_;
  std::set<std::string> used_;
  std::vector<McpHeaderParameter> found_;
};

// None for a value that is missing, null, or no text, number or boolean.
std::optional<std::string> argument_text(const json& arguments, const std::vector<std::string>& path) {
  const json* value = &arguments;
  for (const std::string& name : path) {
    const auto found = value->find(name);
    if (!value->is_object() || found == value->end()) return std::nullopt;
    value = &*found;
  }
  if (value->is_string()) return value->get<std::string>();
  if (value->is_number_float()) {
    constexpr double kMaxExact = 9007199254740992.0;  // 2^53
    const auto number = value->get<double>();
    if (number == std::floor(number) && std::abs(number) < kMaxExact)
      return std::to_string(static_cast<int64_t>(number));
  }
  if (value->is_number() || value->is_boolean()) return value->dump();
  return std::nullopt;
}

std::string with_kind(std::string kind, const std::string& detail) {
  return "[" + std::move(kind) + (detail.empty() ? "" : " " + printable(detail, 400)) + "]";
}

uint64_t decoded_bytes(const json& part, const char* member) {
  const auto found = part.find(member);
  return found != part.end() && found->is_string() ? found->get_ref<const std::string&>().size() / 4 * 3 : 0;
}

std::string note_of_data(const char* kind, const json& part, const char* member) {
  const std::string size = counted(decoded_bytes(part, member), "byte");
  const std::string type = text_member(part, "mimeType");
  return with_kind(kind, (type.empty() ? "" : type + ", ") + size);
}

std::string note_of_link(const json& part) {
  const std::string title = text_member(part, "title"), name = title.empty() ? text_member(part, "name") : title;
  const std::string uri = text_member(part, "uri");
  return name.empty() ? uri : name + ": " + uri;
}

std::string text_of_resource(json& part) {
  json& resource = part["resource"];
  if (!resource.is_object()) return with_kind("resource", "");
  if (const auto text = resource.find("text"); text != resource.end() && text->is_string())
    return std::move(text->get_ref<std::string&>());
  const std::string uri = text_member(resource, "uri");
  return with_kind("resource", uri + (uri.empty() ? "" : ", ") + counted(decoded_bytes(resource, "blob"), "byte"));
}

std::string text_of_part(json& part, ToolResult& result) {
  if (!part.is_object()) return with_kind("unknown part", "");
  const std::string type = text_member(part, "type");
  if (type == "text" && part.contains("text") && part["text"].is_string())
    return std::move(part["text"].get_ref<std::string&>());
  if (type == "resource_link") return note_of_link(part);
  if (type == "resource") return text_of_resource(part);
  if (type == "audio") return note_of_data("audio", part, "data");
  if (type != "image") return with_kind("unknown part", type);
  std::string note = note_of_data("image", part, "data");
  if (part.contains("data") && part["data"].is_string())
    result.images.push_back({text_member(part, "mimeType"), std::move(part["data"].get_ref<std::string&>())});
  return note;
}

}  // namespace

McpTool read_tool(const json& entry, const std::string& server) {
  if (!entry.is_object()) throw Error("an entry of its list of tools is no object");
  McpTool tool{.server = server, .tool = text_member(entry, "name")};
  if (tool.tool.empty()) throw Error("a tool of its list has no text as name");
  tool.title = text_member(entry, "title");
  tool.description = text_member(entry, "description");
  tool.annotations = object_member(entry, "annotations");
  const auto schema = entry.find("inputSchema");
  if (schema == entry.end()) {
    tool.schema = {{"type", "object"}};
  } else {
    if (!schema->is_object()) throw Error("the tool '" + printable(tool.tool) + "' has a schema that is no object");
    tool.schema = *schema;
  }
  return tool;
}

std::vector<McpHeaderParameter> header_parameters_of(const json& schema) { return HeaderFinder().find(schema); }

std::string header_value(std::string_view text) {
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < 0x7F; }) &&
                        trimmed(text) == text && !(text.starts_with(kBase64Begin) && text.ends_with(kBase64End));
  return is_plain ? std::string(text) : std::string(kBase64Begin) + base64_of(text) + std::string(kBase64End);
}

std::vector<std::string> call_headers(const McpTool& tool, const json& arguments) {
  std::vector<std::string> lines = {"Mcp-Name: " + header_value(tool.tool)};
  for (const McpHeaderParameter& parameter : tool.header_parameters)
    if (const auto text = argument_text(arguments, parameter.path))
      lines.push_back("Mcp-Param-" + parameter.header + (text->empty() ? ";" : ": " + header_value(*text)));
  return lines;
}

ToolResult read_result(json result) {
  ToolResult read;
  const auto is_error = result.find("isError");
  if (is_error != result.end() && is_error->is_boolean() && is_error->get<bool>()) read.status = ToolStatus::kError;
  const auto content = result.find("content");
  const bool has_content = content != result.end() && content->is_array() && !content->empty();
  if (content != result.end() && !content->is_array() && !content->is_null())
    return {ToolStatus::kError, "the server's result has a \"content\" that is no list", {}};
  if (has_content) {
    for (json& part : *content) {
      if (&part != &content->front()) read.text += '\n';
      read.text += text_of_part(part, read);
    }
  } else if (const auto structured = result.find("structuredContent"); structured != result.end()) {
    read.text = message_text(*structured);
  }
  read.text = cut_result(std::move(read.text));
  return read;
}

std::string ToolNames::add(std::string_view server, std::string_view tool) {
  std::string& distinct = names_[{std::string(server), std::string(tool)}];
  if (!distinct.empty()) return distinct;
  const std::string whole = std::string(server) + "__" + std::string(tool);
  std::string name;
  for (size_t at = 0; at < whole.size() && name.size() < kMaxNameBytes;) {  // one _ for a character of several bytes
    name += is_word_character(whole[at]) || whole[at] == '-' ? whole[at] : '_';
    at += first_character(std::string_view(whole).substr(at)).bytes;
  }
  if (lower_case(name).starts_with(kBuiltInPrefix)) name = ("mcp_" + name).substr(0, kMaxNameBytes);
  distinct = name;
  while (!used_.insert(lower_case(distinct)).second) {
    const std::string suffix = "_" + std::to_string(++n_same_[lower_case(name)] + 1);
    distinct = name.substr(0, kMaxNameBytes - suffix.size()) + suffix;
  }
  return distinct;
}

}  // namespace warpchat
