// Each request has a connection of its own, which is closed as soon as its response is there.
#include "app/mcp/http_transport.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "app/mcp/json_rpc.h"
#include "app/platform/version.h"
#include "engine/http/http_client.h"
#include "engine/http/http_url.h"
#include "engine/remote/sse_parser.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
constexpr milliseconds kLongestNotice{2000};  // for messages whose failure changes nothing
constexpr std::string_view kFirstVersionSent = "2025-06-18";
constexpr std::chrono::hours kNoLimit{24};  // deadlines limit requests
constexpr long kGood = 200, kNotFound = 404;
constexpr size_t kMaxSessionBytes = 1024, kMaxErrorBytes = 300;

struct Answered {};  // ends a stream once the response is there

std::string header_line(const std::string& name, const std::string& value) {
  return value.empty() ? name + ";" : name + ": " + value;  // libcurl's form of an empty one
}

bool is_own_header(const std::string& name) {
  static const std::set<std::string> kOwn = {"accept",     "content-type",   "content-length",
                                             "host",       "mcp-session-id", "mcp-protocol-version",
                                             "mcp-method", "mcp-name",       "transfer-encoding"};
  return kOwn.contains(lower_case(name));
}

std::string media_type(const HttpAnswer& answer) {
  const std::string type = answer.header("content-type");
  return lower_case(trimmed(std::string_view(type).substr(0, type.find(';'))));
}

bool is_visible_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7F; });
}

[[noreturn]] void throw_redirect(const HttpAnswer& answer) {
  const std::string target = resolve_url(answer.url, answer.header("location"));
  throw McpHttpError(answer.status, "it redirects to " +
                                        (origin_of(target).empty() ? "no address" : origin_of(target)) +
                                        ", another server, which is not followed; use the new address as \"url\"");
}

// Statuses that say the same of every request.
void throw_refusal(const HttpAnswer& answer) {
  const std::string status = " (HTTP " + std::to_string(answer.status) + ")";
  if (answer.status == 401 && !answer.header("www-authenticate").empty())
    throw McpHttpError(401, "it needs signing in" + status + "; set a key in its \"headers\"");
  if (answer.status == 401) throw McpHttpError(401, "it does not accept the key" + status + "; see its \"headers\"");
  if (answer.status == 403) throw McpHttpError(403, "it refuses access" + status);
  if (answer.status / 100 == 3) throw_redirect(answer);
}

}  // namespace

// What comes back for one request: the response is looked for in a body of JSON, or in a stream.
class HttpTransport::Exchange {
 public:
  Exchange(const HttpTransport& transport, const McpRequest& request, int64_t id, Deadline& deadline)
      : transport_(transport), request_(request), id_(id), deadline_(deadline) {}

  void on_answer(const HttpAnswer& answer) {
    is_stream_ = media_type(answer) == "text/event-stream";
    is_page_ = media_type(answer) == "text/html";
  }

  void on_body(std::string_view bytes) {
    if (is_page_) throw Error("it answers with a web page instead of JSON; is the address right?");
    if (is_stream_) return events_.add(bytes);
    if (body_.size() + bytes.size() > kMaxMessageBytes)
      throw Error("it answers with more than " + grouped(kMaxMessageBytes) + " bytes");
    body_ += bytes;
  }

  void finish_body() {
    if (is_stream_) return events_.finish();
    if (!trimmed(body_).empty()) read(body_);
  }

  void read(std::string_view text) {
    if (trimmed(text).empty()) return;
    try {
      read_messages(text, [this](json message) { on_message(std::move(message)); });
    } catch (const Error& error) {
      transport_.log_.add("unreadable", std::string(error.what()) + ": " + std::string(text.substr(0, kMaxErrorBytes)));
      unreadable_ = error.what();
    }
  }

  bool has_response() const { return response_.has_value(); }
  McpResponse response(long status) { return checked_response(std::move(*response_), status); }

  // What was wrong where no response came.
  std::string fault() const {
    if (is_stream_) return "its stream ended before the answer";
    return unreadable_.empty() ? "its answer has no message for the request"
                               : "it does not answer with JSON-RPC: " + unreadable_;
  }

 private:
  void on_message(json message) {
    const MessageKind kind = kind_of(message);
    if (kind == MessageKind::kNotification) {
      if (!handle_progress(message, id_, request_, deadline_)) transport_.on_notification(message);
    } else if (kind == MessageKind::kRequest) {
      if (!transport_.is_modern())
        transport_.send_alone(answer_to_server(message));
      else
        transport_.log_.add("unreadable", "a server of MCP 2026-07-28 must not send requests");
    } else if (answers(message, id_) || is_refusal(message)) {
      response_ = std::move(message);
    } else {
      transport_.log_.add("unreadable", "it is not the answer to the request");
    }
  }

  // An error for a request that the server could not read has no id. It is the body's only message.
  bool is_refusal(const json& message) const {
    return !is_stream_ && message.contains("error") && (!message.contains("id") || message["id"].is_null());
  }

  void on_event(std::string_view data) {
    read(data);
    if (response_) throw Answered();
  }

  const HttpTransport& transport_;
  const McpRequest& request_;
  int64_t id_;
  Deadline& deadline_;
  bool is_stream_ = false, is_page_ = false;
  std::string body_, unreadable_;
  std::optional<json> response_;
  SseParser events_{[this](std::string_view data) { on_event(data); }, kMaxMessageBytes};
};

McpResponse HttpTransport::request(McpRequest request, Deadline& deadline, std::stop_token stop) {
  const int64_t id = next_request_id();
  if (request.wants_progress) request.params["_meta"]["progressToken"] = id;
  const bool opens = request.method == "initialize";
  Exchange exchange(*this, request, id, deadline);
  HttpRequest sent = post(request_message(id, request.method, request.params), request.headers);
  HttpAnswer answer;
  sent.on_answer = [&](const HttpAnswer& head) {
    if (head.status / 100 != 2) return;
    exchange.on_answer(head);
    if (opens) store_session(head);
  };
  sent.on_body = [&](std::span<const std::byte> bytes) {
    exchange.on_body({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  };
  try {
    answer = send(std::move(sent), deadline, stop);
    if (answer.status / 100 == 2) exchange.finish_body();
  } catch (const Answered&) {
    answer.status = kGood;
  } catch (const McpStopped&) {
    if (request.can_cancel) cancel(id, "stopped by the user");
    throw;
  } catch (const McpTimeout&) {
    if (request.can_cancel) cancel(id, "timeout");
    throw;
  }
  throw_refusal(answer);
  const bool is_good = answer.status / 100 == 2;
  if (answer.status == kNotFound && has_session() && !opens) throw McpSessionLost();
  if (!is_good && media_type(answer) != "text/html") exchange.read(answer.body);
  if (exchange.has_response()) return exchange.response(answer.status);
  if (is_good) throw McpNoResponse(exchange.fault());
  const std::string text = media_type(answer) == "text/html" ? "" : printable(trimmed(answer.body), kMaxErrorBytes);
  throw McpHttpError(answer.status,
                     "it answers with HTTP " + std::to_string(answer.status) + (text.empty() ? "" : ": " + text));
}

HttpRequest HttpTransport::post(const json& message, const std::vector<std::string>& more_headers) const {
  HttpRequest request{.url = config_.url, .json = message_text(message), .headers = headers()};
  request.headers.insert(request.headers.end(), more_headers.begin(), more_headers.end());
  return request;
}

HttpAnswer HttpTransport::send(HttpRequest request, Deadline& deadline, std::stop_token stop) const {
  {
    const std::lock_guard lock(mutex_);
    if (has_ended_) throw McpEnded("it is closed");
  }
  request.deadline = [&deadline] { return deadline.end(); };
  request.longest_silence = [] { return milliseconds(kNoLimit); };
  HttpClient client({.token = "",
                     .origin = origin_of(config_.url),
                     .user_agent = std::string("warpchat/") + kVersion,
                     .stall = kNoLimit,
                     .max_text_bytes = kMaxMessageBytes});
  const std::stop_callback on_stop(stop, [&client] { client.stop(); });
  try {
    return client.send(request);
  } catch (const HttpStopped&) {
    throw McpStopped();
  } catch (const HttpBroken&) {
    if (deadline.is_over()) throw deadline.timeout();
    throw;
  }
}

void HttpTransport::send_alone(const json& message) const {
  try {
    Deadline deadline(kLongestNotice);
    const HttpAnswer answer = send(post(message, {}), deadline, {});
    if (answer.status / 100 != 2) log_.add("refused", "a notification, with HTTP " + std::to_string(answer.status));
  } catch (const Error& error) {
    log_.add("refused", std::string("a notification: ") + error.what());
  }
}

void HttpTransport::notify(const std::string& method, json params) {
  send_alone(notification_message(method, std::move(params)));
}

// A modern server sees that the connection is closed.
void HttpTransport::cancel(int64_t id, const std::string& reason) {
  if (!is_modern()) notify("notifications/cancelled", {{"requestId", id}, {"reason", reason}});
}

std::vector<std::string> HttpTransport::headers() const {
  std::vector<std::string> lines = {"Accept: application/json, text/event-stream"};
  for (const auto& [name, value] : config_.headers)
    if (!is_own_header(name)) lines.push_back(header_line(name, value));
  const std::lock_guard lock(mutex_);
  if (is_modern_) return lines;
  if (!session_.empty()) lines.push_back(header_line("Mcp-Session-Id", session_));
  if (version_ >= kFirstVersionSent) lines.push_back(header_line("MCP-Protocol-Version", version_));
  return lines;
}

void HttpTransport::store_session(const HttpAnswer& answer) {
  const std::string session = answer.header("mcp-session-id");
  if (session.size() > kMaxSessionBytes || !is_visible_ascii(session)) throw Error("it gives an invalid session id");
  const std::lock_guard lock(mutex_);
  session_ = session;
}

void HttpTransport::set_version(const std::string& version, bool is_modern) {
  const std::lock_guard lock(mutex_);
  version_ = version;
  is_modern_ = is_modern;
}

bool HttpTransport::is_modern() const {
  const std::lock_guard lock(mutex_);
  return is_modern_;
}

bool HttpTransport::has_session() const {
  const std::lock_guard lock(mutex_);
  return !session_.empty();
}

bool HttpTransport::has_ended() const {
  const std::lock_guard lock(mutex_);
  return has_ended_;
}

// Servers may refuse to end a session.
void HttpTransport::end() {
  if (has_ended()) return;
  if (has_session()) {
    try {
      Deadline deadline(kLongestNotice);
      send({.url = config_.url, .remove = true, .headers = headers()}, deadline, {});
    } catch (const Error& error) {
      log_.add("refused", std::string("to end the session: ") + error.what());
    }
  }
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
}

}  // namespace warpchat
