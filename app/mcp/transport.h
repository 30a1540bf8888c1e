// How requests of MCP reach a server and come back: one implementation for a process, one for HTTP. Safe to use from
// several threads at once.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/mcp/mcp_config.h"
#include "app/tools/tool.h"
#include "models/error.h"

namespace warpchat {

class McpTimeout : public Error {  // no answer in time
 public:
  using Error::Error;
};

class McpStopped : public Error {  // the caller asked for it
 public:
  McpStopped() : Error("stopped") {}
};

class McpEnded : public Error {  // the server's process has ended; what(): how, "exit code 1"
 public:
  using Error::Error;
};

class McpSessionLost : public Error {  // an HTTP server no longer knows the session: open again
 public:
  McpSessionLost() : Error("the server has forgotten the session") {}
};

class McpNoResponse : public Error {  // something came that is no response to the request
 public:
  using Error::Error;
};

class McpHttpError : public Error {  // an answer of HTTP without a message of JSON-RPC
 public:
  McpHttpError(long http_status, const std::string& sentence) : Error(sentence), status(http_status) {}
  long status;
};

// When a request is given up. Progress of the server moves the end, up to five times the limit from the start.
class Deadline {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Deadline(std::chrono::milliseconds limit);
  Deadline(const Deadline& whole, std::chrono::milliseconds limit);  // the earlier one of both

  Clock::time_point end() const { return Clock::time_point(Clock::duration(end_.load())); }
  bool is_over() const { return Clock::now() >= end(); }
  std::chrono::milliseconds limit() const { return limit_; }
  McpTimeout timeout() const;
  void extend();

 private:
  std::chrono::milliseconds limit_;
  Clock::time_point last_;
  std::atomic<Clock::rep> end_;
};

struct McpRequest {
  std::string method;
  nlohmann::json params = nlohmann::json::object();
  std::vector<std::string> headers = {};                      // of HTTP, "Name: value"
  bool can_cancel = false;                                    // the server is told when it is given up
  bool wants_progress = false;                                // params._meta gets a progressToken
  std::function<void(const ToolProgress&)> on_progress = {};  // on any thread; short, and calls nothing here
};

struct McpResponse {
  nlohmann::json message;  // an object with "result", or with "error", which is an object
  long status = 200;       // of HTTP
  bool has_error() const { return message.contains("error"); }
};

// What a server writes to standard error, and what of its messages cannot be read: the newest lines, and all of them
// for the log file. Without secrets and control characters.
class McpLog {
 public:
  explicit McpLog(const McpServerConfig& config);
  void add(std::string_view what, std::string_view text);  // what: "stderr", "unreadable", "notification"
  std::vector<std::string> lines() const;                  // at most 200 of at most 1,000 bytes
  const McpSecrets& secrets() const { return secrets_; }

 private:
  std::string name_;
  McpSecrets secrets_;
  mutable std::mutex mutex_;
  std::deque<std::string> lines_;
};

class McpTransport {
 public:
  explicit McpTransport(McpLog& log) : log_(log) {}  // which must outlive this
  virtual ~McpTransport() = default;

  // Throws McpTimeout, McpStopped, McpEnded, McpSessionLost, McpNoResponse, McpHttpError, Error: parts of a sentence
  // without the server's name.
  virtual McpResponse request(McpRequest request, Deadline& deadline, std::stop_token stop) = 0;
  virtual void notify(const std::string& method, nlohmann::json params) = 0;  // its failure is logged

  // After opening. A modern server (2026-07-28) gets no responses, and its HTTP has no sessions.
  virtual void set_version(const std::string& version, bool is_modern) = 0;
  virtual bool has_ended() const = 0;  // the process; false over HTTP
  virtual void end() = 0;              // orderly; waits for at most some four seconds. Later requests throw McpEnded

  // The server has said that its list of tools is another.
  bool has_other_tools() const { return has_other_tools_; }
  void forget_other_tools() { has_other_tools_ = false; }

 protected:
  void on_notification(const nlohmann::json& message) const;  // about no request; on any thread

  McpLog& log_;

 private:
  mutable std::atomic<bool> has_other_tools_ = false;
};

// The response, if it is one. McpNoResponse, part of a sentence: it has neither "result" nor an object as "error".
McpResponse checked_response(nlohmann::json message, long status = 200);

// Handles a notification about the progress of the request with this token: moves the deadline, tells on_progress.
// False: it is another notification.
bool handle_progress(const nlohmann::json& notification, int64_t token, const McpRequest& request, Deadline& deadline);

int64_t next_request_id();  // used once in this program

}  // namespace warpchat
