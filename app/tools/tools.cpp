#include "app/tools/tools.h"

#include <algorithm>
#include <utility>

#include "app/tools/tool_texts.h"
#include "models/error.h"
#include "models/threads.h"

namespace warpchat {

namespace {

// Answers calls of tools that do not exist.
class UnknownTools : public ToolSource {
 public:
  explicit UnknownTools(std::vector<std::string> known) : known_(std::move(known)) {}
  std::vector<Tool> declarations() const override { return {}; }
  ToolResult call(std::string_view name, const nlohmann::json&, const ToolCallControl&) override {
    return unknown_tool_result(name, known_);
  }

 private:
  const std::vector<std::string> known_;
};

}  // namespace

RunningCall::RunningCall(ToolSource& source, std::string name, nlohmann::json arguments,
                         std::function<void(const ToolProgress&)> on_progress, OnDone on_done)
    : on_done_(std::move(on_done)) {
  const auto run = [this, &source, name = std::move(name), arguments = std::move(arguments),
                    control = ToolCallControl{stop_.get_token(), std::move(on_progress)}] {
    finish(source.call(name, arguments, control));
  };
  try {
    thread_ = start_thread("to call a tool", run, [this](const char* sentence) { finish(failed_result(sentence)); });
  } catch (const Error& error) {
    finish(failed_result(error.what()));
  }
}

RunningCall::~RunningCall() {
  stop();
  if (thread_.joinable()) thread_.join();
}

bool RunningCall::is_done() const {
  const std::lock_guard lock(mutex_);
  return result_.has_value();
}

ToolResult RunningCall::wait() const {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return result_.has_value(); });
  return *result_;
}

void RunningCall::finish(ToolResult result) {
  {
    const std::lock_guard lock(mutex_);
    if (result_) return;  // on_done has thrown
    result_ = std::move(result);
  }
  done_.notify_all();
  if (on_done_) on_done_();
}

Tools::Tools(std::vector<std::shared_ptr<ToolSource>> sources) {
  std::vector<std::pair<Tool, std::shared_ptr<ToolSource>>> all;
  for (const std::shared_ptr<ToolSource>& source : sources)
    for (Tool& tool : source->declarations()) all.emplace_back(std::move(tool), source);
  const auto name_of = [](const auto& entry) -> const std::string& { return entry.first.name; };
  std::ranges::stable_sort(all, {}, name_of);
  const auto same = std::ranges::unique(all, {}, name_of);
  all.erase(same.begin(), same.end());
  for (auto& [tool, source] : all) {
    tools_.push_back(std::move(tool));
    source_of_.push_back(std::move(source));
  }
  unknown_ = std::make_unique<UnknownTools>(names());
}

const Tool* Tools::find(std::string_view name) const {
  const auto found = std::ranges::lower_bound(tools_, name, {}, &Tool::name);
  return found != tools_.end() && found->name == name ? &*found : nullptr;
}

std::vector<std::string> Tools::names() const {
  std::vector<std::string> names;
  for (const Tool& tool : tools_) names.push_back(tool.name);
  return names;
}

std::unique_ptr<RunningCall> Tools::start(std::string_view name, nlohmann::json arguments,
                                          std::function<void(const ToolProgress&)> on_progress,
                                          RunningCall::OnDone on_done) {
  const Tool* tool = find(name);
  ToolSource& source = tool != nullptr ? *source_of_[static_cast<size_t>(tool - tools_.data())] : *unknown_;
  return std::make_unique<RunningCall>(source, std::string(name), std::move(arguments), std::move(on_progress),
                                       std::move(on_done));
}

}  // namespace warpchat
