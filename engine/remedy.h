// What a user can do about an error, as data. The engine names no flag, command or button; each view has its own text
// (app/chat/state/remedies.h).
#pragma once
#include <cstdint>
#include <string>

#include "models/error.h"

namespace warpchat {

struct Remedy {
  enum class Kind : uint8_t {
    kNone,  // nothing, or the message says it
    kSmallerContext,
    kUseCpu,
    kCheckDevice,  // or use the CPU
    kListDevices,
    kLaunchGraph,
    kFewerThreads,
    kOtherTemplate,
    kEndpointKey,
    kChooseServed,  // one of a server's models
  };
  Kind kind = Kind::kNone;
  uint32_t context = 0;  // kSmallerContext: maximum tokens that fit and that the model supports
  bool operator==(const Remedy&) const = default;
};

class ErrorWithRemedy : public Error {
 public:
  ErrorWithRemedy(const std::string& sentence, Remedy way) : Error(sentence), remedy(way) {}
  ErrorWithRemedy(const std::string& sentence, Remedy::Kind kind) : ErrorWithRemedy(sentence, Remedy{kind}) {}
  const Remedy remedy;
};

// The remedy of any exception; kNone if it has none.
inline Remedy remedy_of(const std::exception& error) {
  const auto* with = dynamic_cast<const ErrorWithRemedy*>(&error);
  return with != nullptr ? with->remedy : Remedy();
}

}  // namespace warpchat
