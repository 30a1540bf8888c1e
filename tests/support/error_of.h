// The error of an action that must fail.
#pragma once
#include <functional>
#include <string>

#include "models/error.h"

namespace warpchat {

// The message of the Error that action throws; "no error" if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace warpchat
