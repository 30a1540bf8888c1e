// All servers of a configuration: opened side by side, their tools under the program's names, calls, and the end.
#pragma once
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/mcp_config.h"
#include "app/mcp/mcp_server.h"
#include "app/mcp/tool.h"

namespace warpchat {

// Thread-safe: open() in one thread, calls in others, and end() in any.
class McpServers : public ToolSource {
 public:
  // on_notice: what the user is to know, a sentence at a time, from any thread: a server that cannot be used, one that
  // ended during a call, a list of tools that is cut.
  McpServers(McpConfig config, McpServer::OnNotice on_notice);
  ~McpServers() override;  // end()

  // Opens all that are not disabled, and waits for them. The number of servers that could not be opened, of each of
  // which on_notice has told. McpStopped.
  size_t open(std::stop_token stop = {});

  // Lists the tools of servers that have told of other ones, and waits. Tools keep their names. In one thread at a
  // time. McpStopped.
  bool have_other_tools() const;
  void list_again(std::stop_token stop = {});

  std::vector<McpServerState> states() const;  // in the file's order
  std::vector<McpTool> tools() const;          // of all open servers, in the file's and the servers' order
  std::vector<Tool> declarations() const override;

  // name: McpTool::name; arguments: an object. An unknown name gives an error that lists the tools. Blocks until the
  // result is there, which is at most five times the server's timeout where the server tells its progress.
  ToolResult call(std::string_view name, const nlohmann::json& arguments, const ToolCallControl& control) override;

  void end();  // all side by side; returns when no process is left, after some four seconds at most

 private:
  std::mutex notice_mutex_;
  McpServer::OnNotice on_notice_;
  std::vector<std::unique_ptr<McpServer>> servers_;  // without disabled ones
  ToolNames names_;
  mutable std::mutex mutex_;                 // guards lists_
  std::vector<std::vector<McpTool>> lists_;  // of each server
};

}  // namespace warpchat
