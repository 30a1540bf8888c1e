// What an action that must be refused says.
#pragma once
#include <functional>
#include <string>

#include "models/error.h"

namespace warpchat {

// The sentence of the Error that action throws; "no error" if it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace warpchat
