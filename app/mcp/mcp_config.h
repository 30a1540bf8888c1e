// The servers of the Model Context Protocol (MCP) that the user configures, from mcp.json. The form is that of other
// programs: {"mcpServers": {NAME: {"command": ..., "args": [...]} or {"url": ...}}}.
#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

struct McpServerConfig {
  std::string name;     // as the file spells it: any text
  std::string command;  // empty: a server that is reached by `url`
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;    // besides the few variables that every server gets
  std::string folder;                                // in which it begins; empty: this program's
  std::string url;                                   // http or https
  std::map<std::string, std::string> headers;        // sent to the origin of url alone
  std::optional<std::chrono::milliseconds> timeout;  // of a call and of opening; none: the defaults
  bool is_disabled = false;
  bool has_old_transport = false;  // "type": "sse", which is not supported

  std::chrono::milliseconds call_timeout() const;     // default 60 s
  std::chrono::milliseconds opening_timeout() const;  // default 10 s
  std::string address() const;  // for people: the command, or the URL without user, query and fragment
  // SHA-256 of what decides which program answers, and with which rights: not of the timeout and `is_disabled`.
  std::string fingerprint() const;
};

struct McpConfig {
  std::string path;
  std::vector<McpServerConfig> servers;  // in the file's order
  std::vector<std::string> warnings;     // a sentence each
};

std::string mcp_config_file();  // $XDG_CONFIG_HOME/warpchat/mcp.json

// named: the file of --mcp-config; empty: the default one, which may be missing. Error that names the file, and the
// server where one has a fault.
McpConfig read_mcp_config(const std::string& named);

// All that starting it means, for a person: the command with its arguments as they are, or the address; names of
// variables and headers without values, and the folder. What would be hidden is written as escapes.
std::string shown_server(const McpServerConfig& server);

// Adds them to mcp.json, where all else stays. Error that names the file: it has another server of the name, has a
// fault, or cannot be written; nothing has changed then.
void keep_servers(const std::vector<McpServerConfig>& servers);

// The values of a server's headers and variables, which no message and no log may show.
class McpSecrets {
 public:
  explicit McpSecrets(const McpServerConfig& config);
  std::string hide(std::string text) const;  // each value, and each word of one, becomes ***

 private:
  std::vector<std::string> values_;  // the longest first
};

}  // namespace warpchat
