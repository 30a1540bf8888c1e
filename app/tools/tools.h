// All that a model may call in a conversation: one list of the tools of all sources, and calls that run side by side.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/tools/tool.h"

namespace warpchat {

// A call on a thread of its own. Its end stops the call and waits for the thread.
class RunningCall {
 public:
  using OnDone = std::function<void()>;  // on the call's thread: the result is there. Short; does not end the call

  RunningCall(ToolSource& source, std::string name, nlohmann::json arguments,
              std::function<void(const ToolProgress&)> on_progress, OnDone on_done);
  ~RunningCall();
  RunningCall(const RunningCall&) = delete;
  RunningCall& operator=(const RunningCall&) = delete;

  void stop() { stop_.request_stop(); }  // from any thread, also twice
  bool is_done() const;
  ToolResult wait() const;  // until it is done; then at once

 private:
  void finish(ToolResult result);

  const OnDone on_done_;
  std::stop_source stop_;
  mutable std::mutex mutex_;
  mutable std::condition_variable done_;
  std::optional<ToolResult> result_;
  std::thread thread_;
};

class Tools {
 public:
  // The sources have been opened. Where names are equal the earlier source has it.
  explicit Tools(std::vector<std::shared_ptr<ToolSource>> sources);

  const std::vector<Tool>& list() const { return tools_; }  // by name: the same bytes for a model whatever was first
  const Tool* find(std::string_view name) const;            // null: there is none
  std::vector<std::string> names() const;

  // The call does not outlive this. One of an unknown name is done at once, with a result that names the tools. Never
  // throws for want of a thread: the result says so.
  std::unique_ptr<RunningCall> start(std::string_view name, nlohmann::json arguments,
                                     std::function<void(const ToolProgress&)> on_progress = {},
                                     RunningCall::OnDone on_done = {});

 private:
  std::vector<Tool> tools_;
  std::vector<std::shared_ptr<ToolSource>> source_of_;  // of each
  std::unique_ptr<ToolSource> unknown_;
};

}  // namespace warpchat
