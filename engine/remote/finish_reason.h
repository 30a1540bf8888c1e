// The reasons that servers give for an answer's end.
#pragma once
#include <string_view>

namespace warpchat {

enum class Finish {
  kNone,      // the answer goes on
  kComplete,  // the model ended it
  kLength,    // cut at a limit of tokens
  kFiltered,  // cut by a content filter
  kUnknown,   // anything else, e.g. that the server gave up: the answer may be incomplete
};

// Servers differ in names and in case.
Finish finish_of(std::string_view reason);

}  // namespace warpchat
