// What both transports share: deadlines, the log, checks of messages.
#include "app/mcp/transport.h"

#include <algorithm>
#include <utility>

#include "app/mcp/json_rpc.h"
#include "app/platform/log.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;
constexpr int kMaxExtensions = 5;  // of a deadline, in times of its limit
constexpr size_t kMaxLines = 200, kMaxShownBytes = 1000, kMaxLoggedBytes = 4096;

std::string seconds_text(std::chrono::milliseconds time) {
  std::string text = std::to_string(time.count() / 1000);
  if (const auto rest = time.count() % 1000; rest > 0) {
    std::string digits = std::to_string(1000 + rest).substr(1);
    while (digits.ends_with('0')) digits.pop_back();
    text += "." + digits;
  }
  return text + (text == "1" ? " second" : " seconds");
}

double number_member(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

Deadline::Deadline(std::chrono::milliseconds limit)
    : limit_(limit),
      last_(Clock::now() + limit * kMaxExtensions),
      end_((Clock::now() + limit).time_since_epoch().count()) {}

Deadline::Deadline(const Deadline& whole, std::chrono::milliseconds limit) : Deadline(limit) {
  end_ = std::min(end_.load(), whole.end_.load());
  last_ = whole.last_;
}

McpTimeout Deadline::timeout() const { return McpTimeout("it does not answer within " + seconds_text(limit_)); }

void Deadline::extend() { end_ = std::min(Clock::now() + limit_, last_).time_since_epoch().count(); }

McpLog::McpLog(const McpServerConfig& config) : name_(printable(config.name)), secrets_(config) {}

void McpLog::add(std::string_view what, std::string_view text) {
  const std::string hidden = secrets_.hide(std::string(text));
  log_line("mcp " + name_ + ": " + std::string(what) + ": " + printable(hidden, kMaxLoggedBytes));
  const std::lock_guard lock(mutex_);
  lines_.push_back(std::string(what) + ": " + printable(hidden, kMaxShownBytes));
  if (lines_.size() > kMaxLines) lines_.pop_front();
}

std::vector<std::string> McpLog::lines() const {
  const std::lock_guard lock(mutex_);
  return {lines_.begin(), lines_.end()};
}

McpResponse checked_response(json message, long status) {
  const auto error = message.find("error");
  const bool has_error = error != message.end() && !error->is_null();
  if (has_error ? !error->is_object() : !message.contains("result"))
    throw McpNoResponse("it answers with a message that is no response of JSON-RPC");
  if (!has_error) message.erase("error");
  return {std::move(message), status};
}

void McpTransport::on_notification(const json& message) const {
  const std::string method = text_member(message, "method");
  if (method == "notifications/tools/list_changed") has_other_tools_ = true;
  log_.add("notification", method);
}

bool handle_progress(const json& notification, int64_t token, const McpRequest& request, Deadline& deadline) {
  const json& params = object_member(notification, "params");
  const auto told = params.find("progressToken");
  if (text_member(notification, "method") != "notifications/progress" || told == params.end() || !told->is_number() ||
      *told != token)
    return false;
  deadline.extend();
  if (request.on_progress)
    request.on_progress({number_member(params, "progress"), number_member(params, "total"),
                         printable(text_member(params, "message"), kMaxShownBytes)});
  return true;
}

int64_t next_request_id() {
  static std::atomic<int64_t> n_used = 0;
  return ++n_used;
}

}  // namespace warpchat
