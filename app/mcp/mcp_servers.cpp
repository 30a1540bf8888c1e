// A thread per server while they open and while they end, since each may take seconds.
#include "app/mcp/mcp_servers.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
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
  lists_.resize(servers_.size());
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
  for (std::vector<McpTool>& list : lists)
    for (McpTool& tool : list) tool.name = names_.add(tool.server, tool.tool);
  size_t n_failed = 0;
  for (const std::string& fault : faults) {  // in the file's order, whatever was first
    if (fault.empty()) continue;
    ++n_failed;
    on_notice_(fault);
  }
  const std::lock_guard lock(mutex_);
  lists_ = std::move(lists);
  return n_failed;
}

bool McpServers::have_other_tools() const {
  return std::ranges::any_of(servers_, [](const auto& server) { return server->has_other_tools(); });
}

void McpServers::list_again(std::stop_token stop) {
  std::vector<std::optional<std::vector<McpTool>>> lists(servers_.size());
  for_each_index(servers_.size(), [&](size_t i) {
    if (!servers_[i]->has_other_tools()) return;
    try {
      lists[i] = servers_[i]->list_again(stop);
    } catch (const McpStopped&) {
    }
  });
  if (stop.stop_requested()) throw McpStopped();
  for (size_t i = 0; i < lists.size(); ++i) {
    if (!lists[i]) continue;
    for (McpTool& tool : *lists[i]) tool.name = names_.add(tool.server, tool.tool);
    const std::lock_guard lock(mutex_);
    lists_[i] = std::move(*lists[i]);
  }
}

std::vector<McpServerState> McpServers::states() const {
  std::vector<McpServerState> states;
  for (const auto& server : servers_) states.push_back(server->state());
  return states;
}

std::vector<McpTool> McpServers::tools() const {
  std::vector<McpTool> tools;
  const std::lock_guard lock(mutex_);
  for (const std::vector<McpTool>& list : lists_) tools.insert(tools.end(), list.begin(), list.end());
  return tools;
}

std::vector<Tool> McpServers::declarations() const {
  std::map<std::string, std::string> configurations;
  for (const auto& server : servers_) configurations[server->config().name] = server->config().fingerprint();
  std::vector<Tool> declarations;
  for (const McpTool& tool : tools())
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
  std::optional<McpTool> called;
  std::vector<std::string> names;
  {
    const std::lock_guard lock(mutex_);
    for (const std::vector<McpTool>& list : lists_)
      for (const McpTool& tool : list) {
        names.push_back(tool.name);
        if (tool.name == name) called = tool;
      }
  }
  if (!called) return unknown_tool_result(name, names);
  const auto server =
      std::ranges::find_if(servers_, [&](const auto& one) { return one->config().name == called->server; });
  return (*server)->call(*called, arguments, control);
}

void McpServers::end() {
  for_each_index(servers_.size(), [&](size_t i) { servers_[i]->end(); });
}

}  // namespace warpchat
