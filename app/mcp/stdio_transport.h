// MCP over the standard streams of a process: one message a line
// (https://modelcontextprotocol.io/specification, "Transports", "stdio").
#pragma once
#include <condition_variable>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include "app/mcp/line_reader.h"
#include "app/mcp/server_process.h"
#include "app/mcp/transport.h"

namespace warpchat {

class StdioTransport : public McpTransport {
 public:
  // Starts the process. Error, part of a sentence, if it cannot be started.
  StdioTransport(const McpServerConfig& config, McpLog& log);
  ~StdioTransport() override;

  McpResponse request(McpRequest request, Deadline& deadline, std::stop_token stop) override;
  void notify(const std::string& method, nlohmann::json params) override;
  void set_version(const std::string& version, bool is_modern) override;
  bool has_ended() const override;
  void end() override;

 private:
  enum class Phase { kRunning, kInputClosed, kTerminated, kKilled };
  struct Pending {
    const McpRequest& request;
    Deadline& deadline;
    std::optional<McpResponse> response = {};
    std::exception_ptr fault = {};  // instead of a response
  };

  void run();
  void wait_for_events();
  void read_streams();
  void write_input();
  void change_phase();
  void mark_ended(const std::string& how);
  void on_line(std::string_view line, bool is_whole);
  void on_message(nlohmann::json message);
  void on_response(nlohmann::json message);
  void queue(const nlohmann::json& message);  // the mutex is held
  void wake() const;

  ServerProcess process_;
  int wake_ = -1;              // an eventfd
  LineReader lines_, errors_;  // of the thread, like the next three
  bool has_out_ = true, has_err_ = true;
  Phase phase_ = Phase::kRunning;
  Deadline::Clock::time_point phase_end_ = {};

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable_any changed_;
  std::map<int64_t, Pending*> pending_;
  std::string outgoing_;
  bool is_modern_ = false, ends_ = false, has_ended_ = false;
  std::string how_;  // it ended
  std::thread thread_;
};

}  // namespace warpchat
