// A thread per server while they open and while they end, since each may take seconds.
#include "app/mcp/mcp_servers.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

#include "models/text_format.h"
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

McpResult McpServers::call(std::string_view name, const nlohmann::json& arguments, const McpCallControl& control) {
  McpTool called;
  {
    const std::lock_guard lock(mutex_);
    const auto tool = std::ranges::find(tools_, name, &McpTool::name);
    if (tool == tools_.end()) {
      std::string list;
      for (const McpTool& known : tools_) list += (list.empty() ? "" : ", ") + known.name;
      return {McpCallStatus::kError,
              cut_result("there is no tool '" + printable(name) + "'; " +
                         (list.empty() ? "there are no tools" : "the tools are " + list)),
              {}};
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
