// What a user can do about an error, as data: the engine names no flag, command or button; a view has its own words for
// each (app/ways_out.h).
#pragma once
#include <cstdint>
#include <string>

#include "models/error.h"

namespace warpchat {

struct WayOut {
  enum class Kind : uint8_t {
    kNone,  // or the sentence says it
    kSmallerContext,
    kUseCpu,
    kCheckDevice,  // or use the CPU
    kListDevices,
    kLaunchGraph,
    kFewerThreads,
    kOtherTemplate,
    kEndpointKey,
  };
  Kind kind = Kind::kNone;
  uint32_t context = 0;  // kSmallerContext: tokens, the most that fit and that the model was made for
  bool operator==(const WayOut&) const = default;
};

class ErrorWithWayOut : public Error {
 public:
  ErrorWithWayOut(const std::string& sentence, WayOut way) : Error(sentence), way_out(way) {}
  ErrorWithWayOut(const std::string& sentence, WayOut::Kind kind) : ErrorWithWayOut(sentence, WayOut{kind}) {}
  const WayOut way_out;
};

// Of any exception; kNone where it has none.
inline WayOut way_out_of(const std::exception& error) {
  const auto* with = dynamic_cast<const ErrorWithWayOut*>(&error);
  return with != nullptr ? with->way_out : WayOut();
}

}  // namespace warpchat
