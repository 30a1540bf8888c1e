// The tools of this run: those of MCP servers and the program's own, with permissions and limits.
#pragma once
#include <memory>
#include <optional>
#include <stop_token>

#include "app/mcp/mcp_servers.h"
#include "app/settings/options.h"
#include "app/tools/approval.h"
#include "app/tools/built_in_tools.h"
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

// Servers run until its end.
class ToolAccess {
 public:
  // Opens the servers. can_ask: the user can be asked about a call. McpStopped.
  ToolAccess(ToolSources sources, const ToolFlags& flags, bool can_ask, McpServer::OnNotice on_notice,
             std::stop_token stop = {});

  bool is_empty() const { return tools_->list().empty(); }
  // Answers of the model, which may call the tools. It must not outlive this.
  std::shared_ptr<Responder> answers_of(std::shared_ptr<Responder> model);

 private:
  std::unique_ptr<BuiltInTools> own_;
  McpServers servers_;
  std::optional<ToolPermissions> lasting_;  // none: there is no home
  Approval approval_;
  std::optional<Tools> tools_;
  uint32_t max_rounds_;
  bool holds_arguments_;
};

}  // namespace warpchat
