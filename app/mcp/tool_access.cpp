#include "app/mcp/tool_access.h"

#include <utility>
#include <vector>

#include "app/tools/tool_responder.h"
#include "models/error.h"

namespace warpchat {

namespace {

std::optional<ToolPermissions> lasting_permissions() {
  try {
    return ToolPermissions(ToolPermissions::usual_path());
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

ToolSources tool_sources(const ToolFlags& flags) {
  ToolSources sources;
  sources.approved = ApprovedNames::parse(flags.approve);
  if (flags.no_mcp && !flags.mcp_config.empty())
    throw UsageError("--mcp-config names servers, --no-mcp starts none; use one or the other");
  if (!flags.no_mcp) sources.servers = read_mcp_config(flags.mcp_config);
  if (flags.tools || !flags.open_folders.empty()) sources.own = std::make_unique<BuiltInTools>(flags.open_folders);
  return sources;
}

ToolAccess::ToolAccess(ToolSources sources, const ToolFlags& flags, bool can_ask, McpServer::OnNotice on_notice,
                       std::stop_token stop)
    : own_(std::move(sources.own)),
      servers_(std::move(sources.servers), std::move(on_notice)),
      lasting_(lasting_permissions()),
      approval_(std::move(sources.approved), can_ask, lasting_ ? &*lasting_ : nullptr),
      max_rounds_(flags.max_tool_rounds),
      holds_arguments_(!flags.no_tool_grammar) {
  servers_.open(std::move(stop));
  std::vector<ToolSource*> all;
  if (own_) all.push_back(own_.get());
  all.push_back(&servers_);
  tools_.emplace(std::move(all));
}

std::shared_ptr<Responder> ToolAccess::answers_of(std::shared_ptr<Responder> model) {
  return std::make_shared<ToolResponder>(std::move(model), *tools_, approval_,
                                         ToolResponder::Limits{max_rounds_, holds_arguments_});
}

}  // namespace warpchat
