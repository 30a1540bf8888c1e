// A variable of the environment, for a test.
#pragma once
#include <cstdlib>
#include <optional>
#include <string>

namespace warpchat {

class Variable {  // set, or not set, while it lives
 public:
  Variable(const char* name, const std::optional<std::string>& value) : name_(name) {
    if (const char* now = std::getenv(name)) before_ = now;
    set(value);
  }
  ~Variable() { set(before_); }
  Variable(const Variable&) = delete;

 private:
  void set(const std::optional<std::string>& value) const {
    value ? setenv(name_, value->c_str(), 1) : unsetenv(name_);
  }
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace warpchat
