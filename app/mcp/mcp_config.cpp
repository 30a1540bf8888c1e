// Every fault of the file is one sentence with the file's name. Values are never part of it: they may be keys.
#include "app/mcp/mcp_config.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "app/formats/shown_call.h"
#include "app/platform/directories.h"
#include "app/platform/file_lock.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "app/tools/tool.h"
#include "engine/http/http_url.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using std::chrono::milliseconds;
using Json = nlohmann::ordered_json;

constexpr uint64_t kMaxFileBytes = 1 << 20;
constexpr double kMaxSeconds = 86400;
constexpr milliseconds kCallTimeout{60'000}, kOpeningTimeout{10'000};
constexpr size_t kMinSecretBytes = 6;  // shorter values are words such as "true", which texts have anyway

bool has_control(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7F; });
}

// A name of RFC 9110: a token.
bool is_header_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_word_character(c) || std::string_view("!#$%&'*+-.^`|~").find(c) != std::string_view::npos;
  });
}

class ServerReader {
 public:
  ServerReader(const std::string& path, const std::string& name, const Json& fields)
      : where_(path + ": server '" + printable(name) + "' "), fields_(fields) {
    server_.name = name;
  }

  McpServerConfig read() {
    if (server_.name.empty()) fail("has an empty name; give it one");
    if (!fields_.is_object()) fail("is no object such as {\"command\": \"npx\"} or {\"url\": \"https://...\"}");
    read_type();
    const bool has_command = fields_.contains("command"), has_url = fields_.contains("url");
    if (has_command == has_url)
      fail(has_url ? "has both \"command\" and \"url\"; keep one of them"
                   : "has neither \"command\" nor \"url\"; a server needs one of them");
    server_.command = text("command");
    server_.url = text("url");
    if (has_command && server_.command.empty()) fail("has an empty \"command\"");
    if (has_url && origin_of(server_.url).empty()) fail("has a \"url\" that is no http or https address");
    server_.arguments = texts("args");
    server_.environment = named_texts("env");
    server_.headers = named_texts("headers");
    server_.folder = text("cwd");
    check_names();
    read_timeout();
    if (const Json* disabled = find("disabled", "true or false", &Json::is_boolean)) server_.is_disabled = *disabled;
    return std::move(server_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(where_ + what); }

  // Null: there is no such field.
  const Json* find(const char* field, const std::string& wanted, bool (Json::*is_right)() const noexcept) const {
    const auto found = fields_.find(field);
    if (found == fields_.end()) return nullptr;
    if (!((*found).*is_right)()) fail(std::string("has a \"") + field + "\" that is not " + wanted);
    return &*found;
  }

  std::string checked_text(const char* field, const Json& value) const {
    if (!value.is_string()) fail(std::string("has a value in \"") + field + "\" that is not a text in quotes");
    const auto& text = value.get_ref<const std::string&>();
    if (text.find('\0') != std::string::npos) fail(std::string("has a NUL character in \"") + field + "\"");
    return text;
  }

  std::string text(const char* field) const {
    const Json* value = find(field, "a text in quotes", &Json::is_string);
    return value == nullptr ? "" : checked_text(field, *value);
  }

  std::vector<std::string> texts(const char* field) const {
    std::vector<std::string> all;
    if (const Json* list = find(field, "a list of texts", &Json::is_array))
      for (const Json& value : *list) all.push_back(checked_text(field, value));
    return all;
  }

  std::map<std::string, std::string> named_texts(const char* field) const {
    std::map<std::string, std::string> all;
    if (const Json* object = find(field, "an object of texts", &Json::is_object))
      for (const auto& [name, value] : object->items()) all[name] = checked_text(field, value);
    return all;
  }

  void read_type() {
    const std::string type = lower_case(text("type"));
    server_.has_old_transport = type == "sse";
    if (!std::set<std::string>{"", "stdio", "http", "streamable-http", "streamablehttp", "sse"}.contains(type))
      fail("has the unknown \"type\" '" + printable(type) + "'; known are stdio and http");
  }

  void check_names() const {
    for (const auto& [name, value] : server_.environment)
      if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos)
        fail("has '" + printable(name) + "' in \"env\", which is no name of a variable");
    for (const auto& [name, value] : server_.headers) {
      if (!is_header_name(name)) fail("has '" + printable(name) + "' in \"headers\", which is no name of a header");
      if (has_control(value)) fail("has a control character in the header '" + printable(name) + "'");
    }
  }

  void read_timeout() {
    const Json* value = find("timeout", "a number of seconds", &Json::is_number);
    if (value == nullptr) return;
    const auto seconds = value->get<double>();
    if (!(seconds > 0 && seconds <= kMaxSeconds)) fail("has a \"timeout\" that is not between 0 and 86,400 seconds");
    server_.timeout = std::max(milliseconds(1), milliseconds(std::llround(seconds * 1000)));
  }

  std::string where_;
  const Json& fields_;
  McpServerConfig server_;
};

size_t line_of(std::string_view text, size_t byte) {
  return static_cast<size_t>(std::ranges::count(text.substr(0, std::min(byte, text.size())), '\n')) + 1;
}

Json parse_file(const std::string& path, std::string_view text) {
  if (trimmed(text).empty())
    throw Error(path + " is empty; it needs one JSON object: {\"mcpServers\": {NAME: {\"command\": ...}}}");
  try {
    return parse_untrusted_json<Json>(text);
  } catch (const JsonError& error) {
    throw Error(path + ", line " + std::to_string(line_of(text, error.byte)) + ": " + error.what());
  }
}

const Json& servers_of(const std::string& path, const Json& file) {
  if (!file.is_object()) throw Error(path + " is no JSON object such as {\"mcpServers\": {NAME: {\"command\": ...}}}");
  const auto found = file.find("mcpServers");
  if (found == file.end())
    throw Error(path + (file.contains("servers")
                            ? " has \"servers\", as VS Code writes it; rename it to \"mcpServers\""
                            : " has no \"mcpServers\"; it needs {\"mcpServers\": {NAME: {\"command\": ...}}}"));
  if (!found->is_object()) throw Error(path + " has an \"mcpServers\" that is no object of servers");
  return *found;
}

Json fields_of(const McpServerConfig& server) {
  Json fields = Json::object();
  const auto add = [&](const char* field, const auto& value) {
    if (!value.empty()) fields[field] = value;
  };
  add("command", server.command);
  add("args", server.arguments);
  add("env", server.environment);
  add("cwd", server.folder);
  add("url", server.url);
  add("headers", server.headers);
  if (server.timeout) fields["timeout"] = static_cast<double>(server.timeout->count()) / 1000;
  if (server.is_disabled) fields["disabled"] = true;
  return fields;
}

std::string names_of(const std::map<std::string, std::string>& values) {
  return word_list(values, ", ", [](const auto& value) { return value.first; });
}

bool has_placeholder(const std::string& text) { return text.find("${") != std::string::npos; }

bool has_placeholder(const McpServerConfig& server) {
  const auto in_value = [](const auto& entry) { return has_placeholder(entry.second); };
  const auto in_text = [](const std::string& text) { return has_placeholder(text); };
  return has_placeholder(server.command) || has_placeholder(server.url) || has_placeholder(server.folder) ||
         std::ranges::any_of(server.arguments, in_text) || std::ranges::any_of(server.environment, in_value) ||
         std::ranges::any_of(server.headers, in_value);
}

}  // namespace

milliseconds McpServerConfig::call_timeout() const { return timeout.value_or(kCallTimeout); }
milliseconds McpServerConfig::opening_timeout() const { return timeout.value_or(kOpeningTimeout); }

std::string McpServerConfig::fingerprint() const {
  return sha256_of_json({{"name", name},
                         {"command", command},
                         {"args", arguments},
                         {"env", environment},
                         {"cwd", folder},
                         {"url", url},
                         {"headers", headers}});
}

std::string McpServerConfig::address() const {
  if (!command.empty()) return command;
  const size_t authority = url.find("://") + 3, path = std::min(url.find('/', authority), url.size());
  const std::string_view rest = std::string_view(url).substr(path);
  return origin_of(url) + std::string(rest.substr(0, rest.find_first_of("?#")));
}

std::string mcp_config_file() { return config_directory() + "/mcp.json"; }

McpConfig read_mcp_config(const std::string& named) {
  McpConfig config{.path = named.empty() ? mcp_config_file() : named};
  struct stat status;
  if (named.empty() && stat(config.path.c_str(), &status) != 0 && errno == ENOENT) return config;
  const Json file = parse_file(config.path, read_regular_file(config.path, kMaxFileBytes));
  for (const auto& [name, fields] : servers_of(config.path, file).items()) {
    config.servers.push_back(ServerReader(config.path, name, fields).read());
    if (config.warnings.empty() && has_placeholder(config.servers.back()))
      config.warnings.push_back(config.path + ": server '" + printable(name) +
                                "' has a value with ${...}, which is passed on as it is");
  }
  return config;
}

std::string shown_server(const McpServerConfig& server) {
  const bool is_process = !server.command.empty();
  Json command = {server.command};
  for (const std::string& argument : server.arguments) command.push_back(argument);
  std::string text = server.name + "\n  " +
                     (is_process ? "runs " + command.dump(-1, ' ', false, Json::error_handler_t::replace)
                                 : "is at " + server.address()) +
                     "\n";
  if (!server.folder.empty()) text += "  in " + server.folder + "\n";
  if (!server.environment.empty()) text += "  with the variables " + names_of(server.environment) + "\n";
  if (!server.headers.empty()) text += "  with the headers " + names_of(server.headers) + "\n";
  return shown_text(text);
}

void keep_servers(const std::vector<McpServerConfig>& servers) {
  const std::string path = mcp_config_file();
  if (!make_private_directory(config_directory())) throw Error("cannot create " + config_directory());
  const FileLock lock(path + ".lock");
  const McpConfig known = read_mcp_config("");
  struct stat status;
  Json file = {{"mcpServers", Json::object()}};
  if (stat(path.c_str(), &status) == 0) file = parse_file(path, read_regular_file(path, kMaxFileBytes));
  for (const McpServerConfig& server : servers) {
    const auto same = std::ranges::find(known.servers, server.name, &McpServerConfig::name);
    if (same != known.servers.end() && same->fingerprint() != server.fingerprint())
      throw Error(path + " has another server '" + printable(server.name) + "'; rename one of them");
    if (same == known.servers.end()) file["mcpServers"][server.name] = fields_of(server);
  }
  write_file(behind_links(path), file.dump(2, ' ', false, Json::error_handler_t::replace) + "\n",
             OutputFile::Readers::kOwner);
}

McpSecrets::McpSecrets(const McpServerConfig& config) {
  std::set<std::string> values;
  const auto add = [&](const std::map<std::string, std::string>& texts) {
    for (const auto& [name, text] : texts) {
      if (name == "PATH" || name == "HOME") continue;  // sentences name folders
      values.insert(text);
      for (std::string_view rest = text; !rest.empty();) {
        const size_t end = std::min(rest.find(' '), rest.size());
        values.emplace(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
  };
  add(config.environment);
  add(config.headers);
  for (const std::string& value : values)
    if (value.size() >= kMinSecretBytes) values_.push_back(value);
  std::ranges::stable_sort(values_, std::greater(), &std::string::size);
}

std::string McpSecrets::hide(std::string text) const {
  constexpr std::string_view kHidden = "***";
  for (const std::string& value : values_)
    for (size_t at = 0; (at = text.find(value, at)) != std::string::npos; at += kHidden.size())
      text.replace(at, value.size(), kHidden);
  return text;
}

}  // namespace warpchat
