// The tools of this run: those of MCP servers and the program's own, with permissions and limits.
#pragma once
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/mcp/mcp_servers.h"
#include "app/settings/options.h"
#include "app/tools/approval.h"
#include "app/tools/built_in_tools.h"
#include "app/tools/tool_responder.h"
#include "app/tools/tools.h"
#include "engine/session/responder.h"

namespace warpchat {

// The flags' faults show before anything is loaded. UsageError; Error for a faulty file or folder.
struct ToolSources {
  McpConfig servers;  // without --no-mcp
  ApprovedNames approved;
  std::unique_ptr<BuiltInTools> own;  // null: not asked for
  bool is_empty() const { return servers.servers.empty() && !own; }
};
ToolSources tool_sources(const ToolFlags& flags);

// Servers run until its end, or that of the last answer that may call them. On one thread, but for open_servers().
class ToolAccess {
 public:
  // Without the servers' tools. can_ask: the user can be asked about a call.
  ToolAccess(ToolSources sources, const ToolFlags& flags, bool can_ask, McpServer::OnNotice on_notice);

  bool has_servers() const { return !servers_.empty(); }
  // Opens those that were added, lists the tools of those that have told of other ones, and waits; in one thread at a
  // time. list_again() takes their tools. McpStopped.
  void open_servers(std::stop_token stop = {});
  bool have_other_tools() const;
  void add_servers(McpConfig config);  // to be opened
  void list_again();

  // The program's own tools may read it, too. Error: it is no folder.
  void open_folder(const std::string& folder);
  std::vector<std::string> folders() const;  // real paths

  const Tools& tools() const { return *tools_; }
  std::vector<McpServerState> servers() const;

  std::shared_ptr<Approval> new_approval() const;  // for a conversation. It must not outlive this

  // Answers of the model, which may call the tools that there are now.
  std::shared_ptr<Responder> answers_of(std::shared_ptr<Responder> model, std::shared_ptr<Approval> approval) const;

 private:
  std::shared_ptr<BuiltInTools> own_;  // null: not asked for
  const McpServer::OnNotice on_notice_;
  std::vector<std::shared_ptr<McpServers>> servers_;
  size_t n_opened_ = 0;  // of them
  const ApprovedNames approved_;
  const bool can_ask_;
  mutable std::optional<ToolPermissions> lasting_;  // none: there is no home
  std::shared_ptr<Tools> tools_;
  const ToolResponder::Limits limits_;
};

}  // namespace warpchat
