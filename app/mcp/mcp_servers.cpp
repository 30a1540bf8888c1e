// A thread per server while they open and while they end, since each may take seconds.
#include "app/mcp/mcp_servers.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <utility>

#include "app/tools/tool_texts.h"
#include "models/threads.h"

namespace warpchat {

namespace {

void for_each_index(size_t n, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  run_on_threads(n, [&] {
    for (size_t i; (i = next++) < n;) work(i);
  });
}

}  // namespace

McpServers::McpServers(McpConfig config, McpServer::OnNotice on_notice)
    : on_notice_([this, on_notice = std::move(on_notice)](const std::string& sentence) {
        const std::lock_guard lock(notice_mutex_);
        if (on_notice) on_notice(sentence);
      }) {
  for (McpServerConfig& server : config.servers)
    if (!server.is_disabled) servers_.push_back(std::make_unique<McpServer>(std::move(server), on_notice_));
}

McpServers::~McpServers() { end(); }

size_t McpServers::open(std::stop_token stop) {
  std::vector<std::vector<McpTool>> lists(servers_.size());
  std::vector<std::string> faults(servers_.size());
  for_each_index(servers_.size(), [&](size_t i) {
    try {
      lists[i] = servers_[i]->open(stop);
    } catch (const Error& error) {
      faults[i] = error.what();
    }
  });
  if (stop.stop_requested()) throw McpStopped();
  ToolNames names;
  std::vector<McpTool> tools;
  for (std::vector<McpTool>& list : lists)
    for (McpTool& tool : list) {
      tool.name = names.add(tool.server, tool.tool);
      tools.push_back(std::move(tool));
    }
  size_t n_failed = 0;
  for (const std::string& fault : faults) {  // in the file's order, whatever was first
    if (fault.empty()) continue;
    ++n_failed;
    on_notice_(fault);
  }
  const std::lock_guard lock(mutex_);
  tools_ = std::move(tools);
  return n_failed;
}

std::vector<McpServerState> McpServers::states() const {
  std::vector<McpServerState> states;
  for (const auto& server : servers_) states.push_back(server->state());
  return states;
}

std::vector<McpTool> McpServers::tools() const {
  const std::lock_guard lock(mutex_);
  return tools_;
}

std::vector<Tool> McpServers::declarations() const {
  std::map<std::string, std::string> configurations;
  for (const auto& server : servers_) configurations[server->config().name] = server->config().fingerprint();
  std::vector<Tool> declarations;
  const std::lock_guard lock(mutex_);
  for (const McpTool& tool : tools_)
    declarations.push_back({.name = tool.name,
                            .source = tool.server,
                            .own_name = tool.tool,
                            .title = tool.title,
                            .description = tool.description,
                            .schema = tool.schema,
                            .configuration = configurations[tool.server]});
  return declarations;
}

ToolResult McpServers::call(std::string_view name, const nlohmann::json& arguments, const ToolCallControl& control) {
  McpTool called;
  {
    const std::lock_guard lock(mutex_);
    const auto tool = std::ranges::find(tools_, name, &McpTool::name);
    if (tool == tools_.end()) {
      std::vector<std::string> names;
      for (const McpTool& known : tools_) names.push_back(known.name);
      return unknown_tool_result(name, names);
    }
    called = *tool;
  }
  const auto server =
      std::ranges::find_if(servers_, [&](const auto& one) { return one->config().name == called.server; });
  return (*server)->call(called, arguments, control);
}

void McpServers::end() {
  for_each_index(servers_.size(), [&](size_t i) { servers_[i]->end(); });
}

}  // namespace warpchat
