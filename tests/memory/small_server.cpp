#include "tests/memory/small_server.h"

#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string_view>

#include "models/error.h"

namespace warpchat {

namespace {

constexpr std::string_view kModels =
    R"({"object":"list","data":[{"id":"small","object":"model","max_model_len":4096}]})";

// All of a request; empty if its sender has gone.
std::string read_request(int connection) {
  std::string request;
  char buffer[4096];
  for (;;) {
    const size_t end = request.find("\r\n\r\n");
    if (end != std::string::npos) {
      const char* length = strcasestr(request.c_str(), "content-length:");
      if (request.size() >= end + 4 + (length ? strtoull(length + 15, nullptr, 10) : 0)) return request;
    }
    const ssize_t n = read(connection, buffer, sizeof buffer);
    if (n <= 0) return "";
    request.append(buffer, static_cast<size_t>(n));
  }
}

std::string stream() {
  std::string events;
  const auto add = [&](const std::string& delta, const std::string& end) {
    events += R"(data: {"id":"1","object":"chat.completion.chunk","model":"small","choices":[{"index":0,"delta":)" +
              delta + R"(,"finish_reason":)" + end + "}]}\n\n";
  };
  add(R"({"role":"assistant","content":""})", "null");
  for (const char* piece : {"one", " two", " three"}) add(R"({"content":")" + std::string(piece) + R"("})", "null");
  add("{}", R"("stop")");
  return events + "data: [DONE]\n\n";
}

std::string answer_to(std::string_view request) {
  const bool is_list = request.starts_with("GET ") && request.find("/models ") != std::string_view::npos;
  const bool is_chat = request.starts_with("POST ");
  const std::string body = is_list ? std::string(kModels) : is_chat ? stream() : "{}";
  return std::string("HTTP/1.1 ") + (is_list || is_chat ? "200 OK" : "404 Not Found") +
         "\r\nContent-Type: " + (is_chat ? "text/event-stream" : "application/json") +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" + body;
}

[[noreturn]] void serve(int listener) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGCHLD, SIG_IGN);
  for (;;) {
    const int connection = accept(listener, nullptr, nullptr);
    if (connection < 0) continue;
    if (fork() != 0) {  // a client that lacks memory may leave a connection open, and another one comes
      close(connection);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (const std::string request = read_request(connection); !request.empty()) {
      const std::string answer = answer_to(request);
      for (size_t at = 0; at < answer.size();) {
        const ssize_t n = write(connection, answer.data() + at, answer.size() - at);
        if (n <= 0) break;
        at += static_cast<size_t>(n);
      }
    }
    _exit(0);
  }
}

}  // namespace

SmallServer::SmallServer() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (bind(listener, any, size) != 0 || listen(listener, 16) != 0 || getsockname(listener, any, &size) != 0)
    throw Error("the test's server cannot listen");
  port_ = ntohs(address.sin_port);
  process_ = fork();
  if (process_ == 0) serve(listener);
  close(listener);
}

SmallServer::~SmallServer() {
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

}  // namespace warpchat
