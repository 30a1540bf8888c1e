// A server of the OpenAI protocol in a process of its own, since a process that forks has no threads. It streams one
// short answer to every request, and ends with the test.
#pragma once
#include <sys/types.h>

#include <string>

namespace warpchat {

class SmallServer {
 public:
  static constexpr char kAnswer[] = "one two three";

  SmallServer();  // Error if it cannot listen
  ~SmallServer();
  SmallServer(const SmallServer&) = delete;
  SmallServer& operator=(const SmallServer&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

 private:
  pid_t process_ = -1;
  int port_ = 0;
};

}  // namespace warpchat
