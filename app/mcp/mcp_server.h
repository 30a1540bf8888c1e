// One server of the Model Context Protocol: finds out which era it speaks, lists its tools and calls them.
#pragma once
#include <functional>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/mcp/mcp_config.h"
#include "app/mcp/tool.h"
#include "app/mcp/transport.h"

namespace warpchat {

inline constexpr char kModernVersion[] = "2026-07-28";

enum class McpState : uint8_t {
  kWaiting,  // not opened yet, or disabled
  kOpening,
  kOpen,
  kFailed,  // it could not be opened: `reason`
  kEnded,   // by itself: `reason`; or by end()
};

struct McpServerState {
  std::string name;     // as the configuration spells it: any text
  std::string address;  // its command, or its URL without secrets
  McpState state = McpState::kWaiting;
  std::string reason;        // a part of a sentence
  std::string version;       // of the protocol; empty: not known yet
  std::string instructions;  // the server's words, for people
  size_t n_tools = 0;
  std::vector<std::string> log;  // see McpLog
};

// Thread-safe: calls may run side by side.
class McpServer {
 public:
  using OnNotice =
      std::function<void(const std::string& sentence)>;  // for the user, with the server's name; any thread

  McpServer(McpServerConfig config, OnNotice on_notice);
  ~McpServer();  // end()
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;

  const McpServerConfig& config() const { return config_; }
  McpServerState state() const;

  // Opens it and lists its tools, whose names are still empty. Error with its name and the reason, after which it has
  // no process; McpStopped.
  std::vector<McpTool> open(std::stop_token stop);

  // It has told of other tools than it listed last.
  bool has_other_tools() const;
  // Its tools then, as open() gives them. None: they cannot be listed, which the user is told; or it has ended.
  // McpStopped.
  std::optional<std::vector<McpTool>> list_again(std::stop_token stop);

  // The result of the tool, or the sentence that says why there is none. A server whose process has ended is started
  // once more.
  ToolResult call(const McpTool& tool, const nlohmann::json& arguments, const ToolCallControl& control);

  void end();  // waits until its process has ended, some four seconds at most; stops what runs

 private:
  struct Opened {  // what opening has found
    std::string version, instructions;
    bool is_modern = false, has_tools = true;
  };

  std::shared_ptr<McpTransport> make_transport();
  std::shared_ptr<McpTransport> current_transport() const;
  void connect(Deadline& deadline, std::stop_token stop);
  void detect_era(Deadline& deadline, std::stop_token stop);
  bool probe(std::chrono::milliseconds limit, Deadline& deadline, std::stop_token stop);
  void initialize(bool was_silent, Deadline& deadline, std::stop_token stop);
  void set_opened(Opened opened);
  McpRequest make_request(const std::string& method, nlohmann::json params) const;
  std::vector<McpTool> list_tools(Deadline& deadline, std::stop_token stop);
  bool add_tools(const nlohmann::json& page, std::vector<McpTool>& tools, size_t& bytes);
  std::shared_ptr<McpTransport> usable_transport(std::stop_token stop);
  ToolResult call_once(const McpTool& tool, const nlohmann::json& arguments, const ToolCallControl& control);
  void on_ended_in_call(const std::shared_ptr<McpTransport>& transport, const std::string& how);
  void set_state(McpState state, const std::string& reason = "");
  void notice(const std::string& sentence) const;
  std::string name() const;  // "MCP server 'NAME'", for sentences
  bool is_modern() const;

  const McpServerConfig config_;
  const OnNotice on_notice_;
  McpLog log_;
  std::stop_source closing_;

  std::mutex opening_mutex_;  // held while it is opened or started again; guards the next two
  int n_restarts_ = 0;
  bool is_known_legacy_ = false;  // it begins with initialize

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<McpTransport> transport_;
  std::shared_ptr<McpTransport> told_;  // the user knows that it has ended
  Opened opened_;
  McpState state_ = McpState::kWaiting;
  std::string reason_;
  size_t n_tools_ = 0;
};

}  // namespace warpchat
