// A program for tests: opens the servers of a file, calls tools, and prints a line of JSON per result.
//
// usage: mcp_call CONFIG [--at-once] [--stop-after SECONDS] [NAME ARGUMENTS]...
#include <sys/resource.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "app/mcp/mcp_servers.h"

namespace {

using namespace warpchat;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr const char* kStatuses[] = {"ok", "error", "stopped"};
constexpr const char* kStates[] = {"waiting", "opening", "open", "failed", "ended"};

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

json call(McpServers& servers, const std::string& name, const std::string& arguments, std::stop_token stop) {
  const Clock::time_point begin = Clock::now();
  json progress = json::array();
  const ToolCallControl control{std::move(stop), [&](const ToolProgress& step) {
                                  progress.push_back({step.done, step.total, step.message});
                                }};
  const ToolResult result = servers.call(name, json::parse(arguments), control);
  return {{"status", kStatuses[static_cast<size_t>(result.status)]},
          {"text", result.text},
          {"images", result.images.size()},
          {"progress", progress},
          {"seconds", seconds_since(begin)}};
}

int run(std::vector<std::string> words) {
  McpServers servers(read_mcp_config(words.at(0)), [](const std::string& notice) { std::cerr << notice << std::endl; });
  words.erase(words.begin());
  bool is_at_once = false;
  std::stop_source stop;
  std::jthread stopping;
  servers.open();
  for (; !words.empty() && words[0].starts_with("--"); words.erase(words.begin())) {
    if (words[0] == "--at-once") is_at_once = true;
    if (words[0] == "--stop-after") {
      words.erase(words.begin());
      stopping = std::jthread([&stop, time = std::stod(words.at(0))] {
        std::this_thread::sleep_for(std::chrono::duration<double>(time));
        stop.request_stop();
      });
    }
  }
  std::vector<std::future<json>> results;
  for (size_t i = 0; i + 1 < words.size(); i += 2)
    results.push_back(std::async(is_at_once ? std::launch::async : std::launch::deferred, call, std::ref(servers),
                                 words[i], words[i + 1], stop.get_token()));
  for (std::future<json>& result : results) std::cout << result.get().dump() << std::endl;
  json last = {{"tools", json::array()}, {"states", json::array()}};
  for (const McpTool& tool : servers.tools()) last["tools"].push_back({tool.name, tool.server, tool.tool});
  for (const McpServerState& state : servers.states())
    last["states"].push_back({{"name", state.name},
                              {"state", kStates[static_cast<size_t>(state.state)]},
                              {"reason", state.reason},
                              {"instructions", state.instructions},
                              {"log", state.log}});
  const Clock::time_point end = Clock::now();
  servers.end();
  last["end_seconds"] = seconds_since(end);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  last["max_rss_mib"] = usage.ru_maxrss / 1024;
  std::cout << last.dump() << std::endl;
  return 0;
}

}  // namespace

int main(int n, char** words) {
  try {
    return run({words + 1, words + n});
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
