// The tools that answers may call, as a front end lists them. Names, descriptions and reasons are foreign text.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/tool_permissions.h"

namespace warpchat {

struct ToolServerLine {
  std::string name;       // as the configuration spells it
  std::string address;    // its command, or its URL without secrets
  std::string condition;  // "3 tools, MCP 2025-06-18", "cannot be used: ..."
  bool is_open = false;
  std::vector<std::string> log = {};  // its newest lines
  bool operator==(const ToolServerLine&) const = default;
};

struct OfferedTool {
  std::string name;  // server__tool
  std::string description;
  std::string schema;                        // of the arguments: JSON on several lines
  Permission permission = Permission::kAsk;  // in the open conversation
  bool operator==(const OfferedTool&) const = default;
};

// Servers of a file that the user has chosen, to be asked about before they are started.
struct ServerImport {
  std::string path;
  std::string shown;  // all of them, as shown_server() has them
  size_t n_servers = 0;
  bool operator==(const ServerImport&) const = default;
};

struct OfferedTools {
  bool is_opening = false;  // the servers are
  std::vector<ToolServerLine> servers;
  std::vector<OfferedTool> tools;
  std::vector<std::string> folders;  // that the program's own tools may read: real paths
  uint32_t tokens = 0;               // that they take of each prompt; 0: not counted
  std::optional<ServerImport> import;
  bool operator==(const OfferedTools&) const = default;
};

}  // namespace warpchat
