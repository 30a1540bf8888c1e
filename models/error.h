// The exception for all errors that reach the user.
#pragma once
#include <stdexcept>
#include <string>

namespace warpchat {

// what(): one lower-case sentence without a final full stop: what failed, where, what was found and expected, and what
// to do. The program prints it after "chat: " and exits with code 1.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpchat
