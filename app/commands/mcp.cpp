// chat mcp: opens the servers of the Model Context Protocol, and lists them or their tools, a line each.
#include <algorithm>

#include "app/commands/commands.h"
#include "app/formats/shown_call.h"
#include "app/mcp/mcp_servers.h"
#include "app/platform/output.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxShown = 2000;  // bytes of a foreign text

void keep_server(McpConfig& config, const std::string& name) {
  const std::string names =
      word_list(config.servers, ", ", [](const McpServerConfig& server) { return printable(server.name); });
  const auto found = std::ranges::find(config.servers, name, &McpServerConfig::name);
  if (found == config.servers.end())
    throw Error(config.path + " has no server '" + printable(name) + "'; " +
                (names.empty() ? "it has none" : "it has " + names));
  if (found->is_disabled) throw Error(config.path + ": server '" + printable(name) + "' is disabled");
  config.servers = {*found};
}

std::string server_lines(const McpServers& servers) {
  std::string lines;
  for (const McpServerState& state : servers.states())
    if (state.state == McpState::kOpen)
      lines += printable(state.name, kMaxShown) + "  " + state.version + "  " + counted(state.n_tools, "tool") + "  " +
               printable(state.address, kMaxShown) + "\n";
  return lines;
}

std::string tool_lines(const McpServers& servers) {
  std::string lines;
  for (const McpTool& tool : servers.tools()) {
    const std::string line = first_line(tool.description, kMaxShown);
    lines += tool.name + (line.empty() ? "" : "  " + line) + "\n";
  }
  return lines;
}

}  // namespace

int run_command(const McpOptions& options) {
  const bool lists_tools = options.action == "tools";
  if (!lists_tools && !options.server.empty()) throw UsageError("mcp list takes no server; mcp tools SERVER does");
  McpConfig config = read_mcp_config(options.mcp_config);
  for (const std::string& warning : config.warnings) print_error(warning);
  if (!options.server.empty()) keep_server(config, options.server);
  if (config.servers.empty()) print_error("no MCP server is configured; " + config.path + " may list some");
  McpServers servers(std::move(config), [](const std::string& sentence) { print_error(sentence); });
  const size_t n_failed = servers.open();
  write_output(lists_tools ? tool_lines(servers) : server_lines(servers));
  servers.end();
  return n_failed == 0 ? 0 : 1;
}

}  // namespace warpchat
