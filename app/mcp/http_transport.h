// MCP over streamable HTTP: every message is a POST to one address, answered by one message of JSON or by a stream of
// server-sent events (https://modelcontextprotocol.io/specification, "Transports", "Streamable HTTP").
#pragma once
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "app/mcp/transport.h"
#include "engine/http/http_request.h"

namespace warpchat {

class HttpTransport : public McpTransport {
 public:
  HttpTransport(const McpServerConfig& config, McpLog& log)
      : McpTransport(log), config_(config) {}  // must outlive this

  McpResponse request(McpRequest request, Deadline& deadline, std::stop_token stop) override;
  void notify(const std::string& method, nlohmann::json params) override;
  void set_version(const std::string& version, bool is_modern) override;
  bool has_ended() const override;
  void end() override;

 private:
  class Exchange;
  HttpAnswer send(HttpRequest request, Deadline& deadline, std::stop_token stop) const;
  HttpRequest post(const nlohmann::json& message, const std::vector<std::string>& more_headers) const;
  void send_alone(const nlohmann::json& message) const;  // a message that gets no response
  void cancel(int64_t id, const std::string& reason);
  std::vector<std::string> headers() const;
  bool is_modern() const;
  bool has_session() const;
  void store_session(const HttpAnswer& answer);

  const McpServerConfig& config_;
  mutable std::mutex mutex_;
  std::string version_, session_;  // version_: sent from 2025-06-18 on
  bool is_modern_ = false, has_ended_ = false;
};

}  // namespace warpchat
