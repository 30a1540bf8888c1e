// Times kernels with events: one before the first launch of a pass, one after each launch. The times reach the profile
// once the host has waited for the stream, so that nothing waits for them.
#pragma once
#include <cstdint>
#include <vector>

#include "engine/driver/context.h"
#include "engine/profile.h"

namespace warpchat {

class LaunchTimer {
 public:
  LaunchTimer(const Stream& stream, Profile& profile) : stream_(stream), profile_(profile) {}

  // Waits for the stream if very many launches have not been collected yet. Nothing is timed while the profile is off.
  void begin_pass();
  void launched(uint32_t operation, uint64_t bytes);  // the work just enqueued
  void collect();                                     // what has ended since the last call

 private:
  struct Mark {  // an event and what ended with it
    static constexpr uint32_t kNothing = UINT32_MAX;
    uint32_t operation = kNothing;
    uint64_t bytes = 0;
  };
  void mark(const Mark& mark);

  const Stream& stream_;
  Profile& profile_;
  std::vector<Event> events_;  // made as they are needed, used again after collect
  std::vector<Mark> marks_;    // of the events in use
  size_t collected_ = 0;       // of them
  double began_ = 0;           // the first mark's time by the profile's clock
};

}  // namespace warpchat
