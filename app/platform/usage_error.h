// The command line does not say enough: exit code 2.
#pragma once
#include "models/error.h"

namespace warpchat {

class UsageError : public Error {
 public:
  using Error::Error;
};

}  // namespace warpchat
