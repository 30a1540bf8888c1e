// One kernel launch: a grid of blocks that runs step by step, on as many threads as call step().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ptx/emulator/code.h"
#include "ptx/emulator/counters.h"
#include "ptx/emulator/fault.h"
#include "ptx/emulator/memory.h"
#include "ptx/emulator/profile.h"

namespace ptx::emulator {

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

// Which checks observe a launch. All off: nothing is observed, and nothing is paid.
struct Checks {
  bool bounds = false;         // accesses outside an allocation, or to freed memory
  bool uninitialised = false;  // reads of registers, shared or global memory never written
  bool shared_races = false;
  bool global_races = false;
  bool barriers = false;      // divergent or mismatched barriers
  bool read_only = false;     // ld.global.nc of memory written during the launch
  bool equal_stores = false;  // with the races: plain stores of the value that another thread has stored there, too
  bool any() const { return bounds || uninitialised || shared_races || global_races || barriers || read_only; }
  static Checks all() { return {true, true, true, true, true, true, true}; }
};

// "all" or a comma-separated list of field names; throws std::invalid_argument that names the unknown one.
Checks checks_named(std::string_view text);

struct LaunchOptions {
  Checks checks;
  bool cooperative = false;           // every block resident; refused if the device has no room
  uint64_t seed = 0;                  // other than 0: schedules, weak memory and approximations vary by it
  bool weak_memory = false;           // delayed stores and stale loads, by seed
  bool jitter = false;                // approximations move within their error, by seed
  uint64_t most_blocks = UINT64_MAX;  // of the grid, its first ones run; the others are as if they had nothing to do
  bool alone = false;  // nobody else writes meanwhile: with checks or weak memory, polls in vain are a deadlock
  bool count = false;  // all of Counters, not the totals alone
};

struct LaunchRequest {
  const Code* code = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> parameters;  // as the kernel's parameters lie, by natural alignment
  LaunchOptions options;
};

enum class LaunchState : uint8_t { kRunning, kWaiting, kDone, kFaulted };

class Launch {
 public:
  // Throws std::invalid_argument with a sentence if the request breaks a limit of the profile.
  Launch(LaunchRequest request, const Module& module, const Profile& profile, Memory& memory);
  ~Launch();
  Launch(const Launch&) = delete;

  // Runs some blocks for a while; several threads may call it at once. kWaiting: every resident block polls memory
  // and nothing else can run, so the caller may rest a little before the next call. Throws std::bad_alloc, and has then
  // ended as faulted.
  LaunchState step();

  // Steps on `threads` threads (this one included; fewer if the system refuses some) until the end.
  LaunchState run(uint32_t threads = 1);

  void cancel();               // the next steps end the launch as faulted, without a description
  const Fault& fault() const;  // valid once a step returned kFaulted
  Counters counters() const;   // complete once the launch has ended

 private:
  friend struct Executor;
  struct State;
  std::unique_ptr<State> state_;
};

// Blocks of `block_threads` threads that one processor holds at once; 0 if not even one fits.
uint32_t max_resident_blocks(const Code& code, uint32_t block_threads, uint32_t dynamic_shared_bytes,
                             const Profile& profile);

}  // namespace ptx::emulator
