// Tools of servers, and what a call of one gives.
#pragma once
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/tools/tool.h"

namespace warpchat {

// A parameter that HTTP repeats as a header: "x-mcp-header" in its schema (MCP 2026-07-28).
struct McpHeaderParameter {
  std::string header;             // without "Mcp-Param-"
  std::vector<std::string> path;  // of names in the arguments
};

struct McpTool {
  std::string name;         // server__tool, for models and approval: at most 64 of A-Za-z0-9_-, different from others
  std::string server;       // as the configuration spells it
  std::string tool;         // as the server spells it
  std::string title;        // empty: none. Like the description the server's words, which decide nothing
  std::string description;  // whole
  nlohmann::json schema = nlohmann::json::object();  // of the arguments; {"type": "object"}: any object
  nlohmann::json annotations = nlohmann::json::object();
  std::vector<McpHeaderParameter> header_parameters = {};
};

// The tool that an entry of tools/list describes. Error, part of a sentence: it is none.
McpTool read_tool(const nlohmann::json& entry, const std::string& server);

// Error, part of a sentence, for an annotation that MCP does not allow.
std::vector<McpHeaderParameter> header_parameters_of(const nlohmann::json& schema);

// "Mcp-Name: TOOL" and "Mcp-Param-X: VALUE" of a call.
std::vector<std::string> call_headers(const McpTool& tool, const nlohmann::json& arguments);

// A header's value: the text, or =?base64?...?= where it is not plain.
std::string header_value(std::string_view text);

// What the "result" of tools/call says: texts joined by newlines, notes for other parts. It is consumed.
ToolResult read_result(nlohmann::json result);

// Gives tools their names.
class ToolNames {
 public:
  // server__tool with _ for what is no letter, digit, _ or -; a suffix tells it apart from names of other tools, in
  // which case does not count. What would read as a tool of this program, warpchat__..., begins with mcp_. A tool that
  // was named before keeps its name.
  std::string add(std::string_view server, std::string_view tool);

 private:
  std::set<std::string> used_;                                        // in lower case
  std::map<std::string, size_t> n_same_;                              // suffixes so far
  std::map<std::pair<std::string, std::string>, std::string> names_;  // of servers' tools
};

}  // namespace warpchat
