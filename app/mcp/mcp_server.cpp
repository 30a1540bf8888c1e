// MCP has two eras: since 2026-07-28 requests stand alone and carry their version, before it a session is opened by
// "initialize" (https://modelcontextprotocol.io/specification). Which one a server speaks is asked first.
#include "app/mcp/mcp_server.h"

#include <algorithm>
#include <set>
#include <utility>

#include "app/mcp/http_transport.h"
#include "app/mcp/json_rpc.h"
#include "app/mcp/stdio_transport.h"
#include "app/platform/log.h"
#include "app/platform/version.h"
#include "app/tools/tool_texts.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr const char* kLegacyVersions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
constexpr milliseconds kMaxProbe{2500};  // then the server is taken for one that does not answer unknown requests
constexpr size_t kMaxPages = 100, kMaxTools = 10'000;
constexpr int kMaxInputRounds = 3, kMaxRestarts = 1;
constexpr char kMetaPrefix[] = "io.modelcontextprotocol/";

json client_info() { return {{"name", "warpchat"}, {"version", kVersion}}; }

// Every modern request names the client and the version; over HTTP headers repeat it.
McpRequest make_modern(McpRequest request, const std::string& version) {
  json& meta = request.params["_meta"];
  meta[std::string(kMetaPrefix) + "protocolVersion"] = version;
  meta[std::string(kMetaPrefix) + "clientCapabilities"] = json::object();
  meta[std::string(kMetaPrefix) + "clientInfo"] = client_info();
  request.headers = {"MCP-Protocol-Version: " + version, "Mcp-Method: " + request.method};
  return request;
}

bool is_legacy(const std::string& version) {
  return std::ranges::find(kLegacyVersions, version) != std::end(kLegacyVersions);
}

std::vector<std::string> texts_of(const json& object, const char* member) {
  std::vector<std::string> texts;
  const auto found = object.find(member);
  if (object.is_object() && found != object.end() && found->is_array())
    for (const json& value : *found)
      if (value.is_string()) texts.push_back(value.get<std::string>());
  return texts;
}

std::string unsupported(const std::string& versions) {
  return "it speaks MCP " + printable(versions.empty() ? "of an unnamed version" : versions, 200) +
         "; this program speaks " + kModernVersion + " and 2024-11-05 to 2025-11-25";
}

// What repeats a call whose result asks for input: every question is declined. Error for one that is not a question to
// the user, since this client has no capabilities.
json declined_input(const json& result) {
  json answered = json::object();
  for (const auto& [key, question] : object_member(result, "inputRequests").items()) {
    if (text_member(question, "method") != "elicitation/create")
      throw Error("it wants input that this program does not give: " + printable(text_member(question, "method")));
    answered["inputResponses"][key] = {{"action", "decline"}};
  }
  if (result.contains("requestState")) answered["requestState"] = result["requestState"];
  if (answered.empty()) throw Error("it wants input, but does not say which");
  return answered;
}

// A stop token for what either of two asks to stop.
class EitherStop {
 public:
  EitherStop(std::stop_token one, std::stop_token other)
      : on_one_(std::move(one), Request{&source_}), on_other_(std::move(other), Request{&source_}) {}
  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Request {
    std::stop_source* source;
    void operator()() const { source->request_stop(); }
  };
  std::stop_source source_;
  std::stop_callback<Request> on_one_, on_other_;
};

}  // namespace

McpServer::McpServer(McpServerConfig config, OnNotice on_notice)
    : config_(std::move(config)), on_notice_(std::move(on_notice)), log_(config_) {}

McpServer::~McpServer() { end(); }

McpServerState McpServer::state() const {
  const std::lock_guard lock(mutex_);
  McpState state = state_;
  if (state == McpState::kOpen && transport_ && transport_->has_ended()) state = McpState::kEnded;
  return {.name = config_.name,
          .address = config_.address(),
          .state = state,
          .reason = reason_,
          .version = opened_.version,
          .instructions = opened_.instructions,
          .n_tools = n_tools_,
          .log = log_.lines()};
}

std::vector<McpTool> McpServer::open(std::stop_token stop) {
  const EitherStop either(std::move(stop), closing_.get_token());
  const std::lock_guard lock(opening_mutex_);
  set_state(McpState::kOpening);
  std::string reason;
  try {
    if (config_.has_old_transport)
      throw Error("it uses the old transport \"sse\", which is not supported; its streamable HTTP address may work");
    Deadline deadline(config_.opening_timeout());
    connect(deadline, either.token());
    std::vector<McpTool> tools = list_tools(deadline, either.token());
    set_state(McpState::kOpen);
    return tools;
  } catch (const McpStopped&) {
    reason = "it was stopped";
  } catch (const McpEnded& ended) {
    reason = std::string("it ends before it answers (") + ended.what() + "); the log has what it writes";
  } catch (const Error& error) {
    reason = error.what();
  }
  if (const auto transport = current_transport()) transport->end();
  reason = log_.secrets().hide(reason);
  set_state(McpState::kFailed, reason);
  if (either.token().stop_requested()) throw McpStopped();
  throw Error(name() + " cannot be used: " + reason);
}

std::shared_ptr<McpTransport> McpServer::make_transport() {
  std::shared_ptr<McpTransport> made;
  if (config_.url.empty())
    made = std::make_shared<StdioTransport>(config_, log_);
  else
    made = std::make_shared<HttpTransport>(config_, log_);
  const std::lock_guard lock(mutex_);
  return transport_ = made;
}

std::shared_ptr<McpTransport> McpServer::current_transport() const {
  const std::lock_guard lock(mutex_);
  return transport_;
}

void McpServer::connect(Deadline& deadline, std::stop_token stop) {
  make_transport();
  if (is_known_legacy_)
    initialize(/*was_silent=*/false, deadline, stop);
  else
    detect_era(deadline, stop);
  log_line("mcp " + printable(config_.name) + ": MCP " + opened_.version);
}

void McpServer::detect_era(Deadline& deadline, std::stop_token stop) {
  bool is_silent = false;
  try {
    try {
      if (probe(std::min(kMaxProbe, config_.opening_timeout() / 3), deadline, stop)) return;
    } catch (const McpTimeout&) {
      is_silent = true;
    } catch (const McpNoResponse&) {  // it does not understand the request
    } catch (const McpHttpError& error) {
      constexpr long kUnauthorized = 401, kForbidden = 403;
      if (error.status / 100 != 4 || error.status == kUnauthorized || error.status == kForbidden) throw;
    }
    initialize(is_silent, deadline, stop);
  } catch (const McpEnded& ended) {  // old servers may end at a request that they do not know
    const std::string how = ended.what();
    make_transport();
    try {
      initialize(/*was_silent=*/false, deadline, stop);
    } catch (const McpTimeout&) {
      throw McpEnded(how);
    }
  }
  is_known_legacy_ = !opened_.is_modern;
}

// Whether the server is modern; false: it is to be asked by initialize.
bool McpServer::probe(milliseconds limit, Deadline& deadline, std::stop_token stop) {
  Deadline until(deadline, limit);
  const McpResponse response =
      current_transport()->request(make_modern({.method = "server/discover"}, kModernVersion), until, std::move(stop));
  Opened found{.version = kModernVersion, .is_modern = true};
  if (!response.has_error()) {
    const json& result = response.message["result"];
    const std::vector<std::string> versions = texts_of(result, "supportedVersions");
    if (std::ranges::find(versions, kModernVersion) == versions.end()) return false;
    found.instructions = text_member(result, "instructions");
    found.has_tools = object_member(result, "capabilities").contains("tools");
    set_opened(std::move(found));
    return true;
  }
  const json& error = response.message["error"];
  constexpr long kServerFault = 500;
  if (response.status >= kServerFault)
    throw McpHttpError(response.status,
                       "it answers with HTTP " + std::to_string(response.status) + ": " + error_text(error));
  const int64_t code = error_code(error);
  const bool is_http_400 = response.status == 400;
  if (code != kUnsupportedVersion && !(is_http_400 && (code == kHeaderMismatch || code == kMissingCapability)))
    return false;
  if (code == kUnsupportedVersion) {
    const std::vector<std::string> versions = texts_of(object_member(error, "data"), "supported");
    const bool has_modern = std::ranges::find(versions, kModernVersion) != versions.end();
    if (!has_modern && std::ranges::any_of(versions, is_legacy)) return false;
    if (!has_modern) throw Error(unsupported(word_list(versions)));
  }
  set_opened(std::move(found));
  return true;
}

// was_silent: the probe had no answer. Such a server may be a slow modern one.
void McpServer::initialize(bool was_silent, Deadline& deadline, std::stop_token stop) {
  const std::shared_ptr<McpTransport> transport = current_transport();
  const McpResponse response = transport->request({.method = "initialize",
                                                   .params = {{"protocolVersion", kLegacyVersions[0]},
                                                              {"capabilities", json::object()},
                                                              {"clientInfo", client_info()}}},
                                                  deadline, stop);
  if (response.has_error()) {
    const json& error = response.message["error"];
    const bool is_version = error_code(error) == kUnsupportedVersion;
    try {
      if ((is_version || was_silent) && probe(is_version ? deadline.limit() : kMaxProbe, deadline, stop)) return;
    } catch (const McpTimeout&) {
      if (is_version) throw;
    }  // else its error says more
    if (is_version) throw Error(unsupported(word_list(texts_of(object_member(error, "data"), "supported"))));
    throw Error("it refuses to open: " + error_text(error));
  }
  const json& result = response.message["result"];
  const std::string version = text_member(result, "protocolVersion");
  if (version == kModernVersion && probe(deadline.limit(), deadline, stop)) return;
  if (!is_legacy(version)) throw Error(unsupported(version));
  set_opened({.version = version,
              .instructions = text_member(result, "instructions"),
              .has_tools = object_member(result, "capabilities").contains("tools")});
  transport->notify("notifications/initialized", json::object());
}

void McpServer::set_opened(Opened opened) {
  const std::lock_guard lock(mutex_);
  opened_ = std::move(opened);
  transport_->set_version(opened_.version, opened_.is_modern);
}

McpRequest McpServer::make_request(const std::string& method, json params) const {
  McpRequest request{.method = method, .params = std::move(params)};
  const std::lock_guard lock(mutex_);
  return opened_.is_modern ? make_modern(std::move(request), opened_.version) : request;
}

std::vector<McpTool> McpServer::list_tools(Deadline& deadline, std::stop_token stop) {
  std::vector<McpTool> tools;
  std::set<std::string> cursors;
  std::optional<std::string> cursor;
  size_t bytes = 0;
  const auto end_list = [&](const std::string& why) {
    notice("it has a list of tools that " + why + "; the rest is left out");
  };
  for (size_t n = 1;; ++n) {
    json params = json::object();
    if (cursor) params["cursor"] = *cursor;
    const McpResponse response =
        current_transport()->request(make_request("tools/list", std::move(params)), deadline, stop);
    if (response.has_error()) {
      const std::lock_guard lock(mutex_);
      if (!opened_.has_tools) break;
      throw Error("it does not list its tools: " + error_text(response.message["error"]));
    }
    const json& page = response.message["result"];
    if (!add_tools(page, tools, bytes)) {
      end_list("has more than " + grouped(kMaxTools) + " tools or " + grouped(kMaxMessageBytes) + " bytes");
      break;
    }
    const auto next = page.find("nextCursor");
    if (next == page.end() || !next->is_string()) break;
    cursor = next->get<std::string>();
    if (!cursors.insert(*cursor).second) {
      end_list("comes back to a page that it had before");
      break;
    }
    if (n == kMaxPages) {
      end_list("has more than " + std::to_string(kMaxPages) + " pages");
      break;
    }
  }
  std::set<std::string> names;
  std::erase_if(tools, [&](const McpTool& tool) { return !names.insert(tool.tool).second; });  // some list one twice
  const std::lock_guard lock(mutex_);
  n_tools_ = tools.size();
  return tools;
}

// False: there are more than may be kept.
bool McpServer::add_tools(const json& page, std::vector<McpTool>& tools, size_t& bytes) {
  const auto entries = page.find("tools");
  if (!page.is_object() || entries == page.end() || !entries->is_array())
    throw Error("it answers tools/list without a list of tools");
  const bool has_headers = !config_.url.empty() && is_modern();
  for (const json& entry : *entries) {
    try {
      McpTool tool = read_tool(entry, config_.name);
      if (has_headers) {
        try {
          tool.header_parameters = header_parameters_of(tool.schema);
        } catch (const Error& error) {
          throw Error("the tool '" + printable(tool.tool) + "' " + error.what());
        }
      }
      bytes += message_text(entry).size();
      if (tools.size() == kMaxTools || bytes > kMaxMessageBytes) return false;
      tools.push_back(std::move(tool));
    } catch (const Error& error) {
      log_.add("left out", error.what());
    }
  }
  return true;
}

bool McpServer::has_other_tools() const {
  const auto transport = current_transport();
  return transport && transport->has_other_tools();
}

std::optional<std::vector<McpTool>> McpServer::list_again(std::stop_token stop) {
  const EitherStop either(std::move(stop), closing_.get_token());
  const auto transport = current_transport();
  transport->forget_other_tools();  // it may tell again while it lists them
  if (transport->has_ended()) return std::nullopt;
  try {
    Deadline deadline(config_.opening_timeout());
    return list_tools(deadline, either.token());
  } catch (const McpStopped&) {
    throw;
  } catch (const Error& error) {
    notice(std::string("its tools have changed, but cannot be listed: ") + error.what());
    return std::nullopt;
  }
}

ToolResult McpServer::call(const McpTool& tool, const json& arguments, const ToolCallControl& control) {
  const EitherStop either(control.stop, closing_.get_token());
  const ToolCallControl controlled{either.token(), control.on_progress};
  const auto failed = [&](const std::string& sentence) { return failed_result(log_.secrets().hide(sentence)); };
  try {
    const std::shared_ptr<McpTransport> before = current_transport();
    try {
      return call_once(tool, arguments, controlled);
    } catch (const McpSessionLost&) {  // the server has not carried the call out
      const std::lock_guard lock(opening_mutex_);
      Deadline deadline(config_.opening_timeout());
      if (current_transport() == before) connect(deadline, either.token());  // else another call has done it
    }
    return call_once(tool, arguments, controlled);
  } catch (const McpStopped&) {
    return stopped_result();
  } catch (const Error& error) {
    return failed(name() + ": " + error.what());
  }
}

ToolResult McpServer::call_once(const McpTool& tool, const json& arguments, const ToolCallControl& control) {
  const std::shared_ptr<McpTransport> transport = usable_transport(control.stop);
  Deadline deadline(config_.call_timeout());
  json answered = json::object();
  for (int round = 0;; ++round) {
    json params = {{"name", tool.tool}, {"arguments", arguments}};
    params.update(answered);
    McpRequest request = make_request("tools/call", std::move(params));
    if (!request.headers.empty()) std::ranges::copy(call_headers(tool, arguments), std::back_inserter(request.headers));
    request.can_cancel = request.wants_progress = true;
    request.on_progress = control.on_progress;
    McpResponse response;
    try {
      response = transport->request(std::move(request), deadline, control.stop);
    } catch (const McpEnded& ended) {
      on_ended_in_call(transport, ended.what());
      throw Error(std::string("it ended during the call (") + ended.what() + ")");
    }
    if (response.has_error()) return {ToolStatus::kError, error_text(response.message["error"]), {}};
    json& result = response.message["result"];
    if (!result.is_object()) throw Error("it answers the call with a result that is no object");
    const auto type = result.find("resultType");
    if (!is_modern() || type == result.end() || *type == "complete") return read_result(std::move(result));
    if (*type != "input_required") throw Error("it answers the call with a result of an unknown type");
    if (round == kMaxInputRounds) throw Error("it keeps asking for input, which this program does not give");
    answered = declined_input(result);
  }
}

// The transport for a call; a process that has ended is started again, once.
std::shared_ptr<McpTransport> McpServer::usable_transport(std::stop_token stop) {
  const std::lock_guard lock(opening_mutex_);
  if (const auto transport = current_transport(); transport && !transport->has_ended()) return transport;
  if (closing_.stop_requested()) throw McpStopped();
  if (!current_transport() || state().state == McpState::kFailed) throw Error("it has not been opened");
  if (++n_restarts_ > kMaxRestarts) throw Error("it has ended, and is not started again");
  try {
    Deadline deadline(config_.opening_timeout());
    connect(deadline, std::move(stop));
  } catch (const McpStopped&) {
    throw;
  } catch (const Error& error) {
    n_restarts_ = kMaxRestarts;
    current_transport()->end();
    set_state(McpState::kEnded, error.what());
    throw Error(std::string("it has ended and cannot be started again: ") + error.what());
  }
  set_state(McpState::kOpen);
  return current_transport();
}

// Several calls may see the same end, of which the user is told once.
void McpServer::on_ended_in_call(const std::shared_ptr<McpTransport>& transport, const std::string& how) {
  if (closing_.stop_requested()) throw McpStopped();
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(told_, transport) == transport) return;
  }
  set_state(McpState::kEnded, how);
  notice("it ended during a call (" + how + ")");
}

void McpServer::end() {
  closing_.request_stop();
  const std::lock_guard lock(opening_mutex_);
  if (const auto transport = current_transport()) transport->end();
  if (state().state != McpState::kFailed) set_state(McpState::kEnded);
}

void McpServer::set_state(McpState state, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  state_ = state;
  reason_ = reason;
}

void McpServer::notice(const std::string& sentence) const {
  if (on_notice_) on_notice_(name() + ": " + log_.secrets().hide(sentence));
}

std::string McpServer::name() const { return "MCP server '" + printable(config_.name) + "'"; }

bool McpServer::is_modern() const {
  const std::lock_guard lock(mutex_);
  return opened_.is_modern;
}

}  // namespace warpchat
