#include "app/mcp/tool_access.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/platform/log.h"
#include "engine/grammar/constraint.h"
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

void log_free_arguments(const McpServers& servers) {
  for (const Tool& tool : servers.declarations()) {
    try {
      grammar::Constraint::from_schema(tool.schema.dump());
    } catch (const Error& error) {
      log_line("the arguments of " + tool.name + " are not held to its schema: " + error.what());
    }
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

ToolAccess::ToolAccess(ToolSources sources, const ToolFlags& flags, bool can_ask, McpServer::OnNotice on_notice)
    : own_(std::move(sources.own)),
      on_notice_(std::move(on_notice)),
      approved_(std::move(sources.approved)),
      can_ask_(can_ask),
      lasting_(lasting_permissions()),
      limits_{flags.max_tool_rounds, !flags.no_tool_grammar} {
  if (!sources.servers.servers.empty()) add_servers(std::move(sources.servers));
  list_again();
}

void ToolAccess::add_servers(McpConfig config) {
  servers_.push_back(std::make_shared<McpServers>(std::move(config), on_notice_));
}

std::vector<McpServerState> ToolAccess::servers() const {
  std::vector<McpServerState> all;
  for (const auto& servers : servers_)
    for (McpServerState& state : servers->states()) all.push_back(std::move(state));
  return all;
}

void ToolAccess::open_servers(std::stop_token stop) {
  const size_t n_before = std::exchange(n_opened_, servers_.size());
  for (size_t i = 0; i < servers_.size(); ++i) {
    if (i >= n_before)
      servers_[i]->open(stop);
    else if (servers_[i]->have_other_tools())
      servers_[i]->list_again(stop);
    else
      continue;
    if (limits_.holds_arguments && has_log()) log_free_arguments(*servers_[i]);
  }
}

bool ToolAccess::have_other_tools() const {
  return std::ranges::any_of(servers_, [](const auto& servers) { return servers->have_other_tools(); });
}

void ToolAccess::list_again() {
  std::vector<std::shared_ptr<ToolSource>> all;
  if (own_) all.push_back(own_);
  for (const auto& servers : servers_) all.push_back(servers);
  tools_ = std::make_shared<Tools>(std::move(all));
}

// Answers that run keep the folders that they began with.
void ToolAccess::open_folder(const std::string& folder) {
  std::vector<std::string> all = folders();
  all.push_back(folder);
  own_ = std::make_shared<BuiltInTools>(all);
  list_again();
}

std::vector<std::string> ToolAccess::folders() const { return own_ ? own_->folders() : std::vector<std::string>(); }

std::shared_ptr<Approval> ToolAccess::new_approval() const {
  return std::make_shared<Approval>(approved_, can_ask_, lasting_ ? &*lasting_ : nullptr);
}

std::shared_ptr<Responder> ToolAccess::answers_of(std::shared_ptr<Responder> model,
                                                  std::shared_ptr<Approval> approval) const {
  return std::make_shared<ToolResponder>(std::move(model), tools_, std::move(approval), limits_);
}

}  // namespace warpchat
