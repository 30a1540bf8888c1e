// One kernel launch: a grid of blocks that runs in steps, on every thread that calls step().
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

// Checks to apply to a launch. With all off there is no overhead.
struct Checks {
  bool bounds = false;         // accesses outside allocations, or to freed memory
  bool uninitialised = false;  // reads of unwritten registers, shared or global memory
  bool shared_races = false;
  bool global_races = false;
  bool barriers = false;      // divergent or mismatched barriers
  bool read_only = false;     // ld.global.nc of memory written during the launch
  bool equal_stores = false;  // for races: allow plain stores of a value that another thread also stored
  bool any() const { return bounds || uninitialised || shared_races || global_races || barriers || read_only; }
  static Checks all() { return {true, true, true, true, true, true, true}; }
};

// Parses "all" or a comma-separated list of field names; throws std::invalid_argument that names an unknown one.
Checks checks_named(std::string_view text);

struct LaunchOptions {
  Checks checks;
  bool cooperative = false;           // every block resident; refused if they do not fit
  uint64_t seed = 0;                  // nonzero: varies schedules, weak memory and approximations
  bool weak_memory = false;           // delayed stores and stale loads, by seed
  bool jitter = false;                // approximations vary within their error, by seed
  uint64_t max_blocks = UINT64_MAX;   // runs only this many blocks of the grid; the others do nothing
  bool alone = false;  // no other agent writes memory: with checks or weak memory, a poll in vain is a deadlock
  bool count = false;  // keep all of Counters, not just the totals
};

struct LaunchRequest {
  const Code* code = nullptr;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  std::vector<uint8_t> parameters;  // laid out like the kernel's parameters, with natural alignment
  LaunchOptions options;
};

enum class LaunchState : uint8_t { kRunning, kWaiting, kDone, kFaulted };

class Launch {
 public:
  // Throws std::invalid_argument with a message if the request exceeds a limit of the profile.
  Launch(LaunchRequest request, const Module& module, const Profile& profile, Memory& memory);
  ~Launch();
  Launch(const Launch&) = delete;

  // Runs some blocks for a while; several threads may call it concurrently. kWaiting: every resident block polls memory
  // and nothing else can run, so the caller may pause before the next call. If it throws std::bad_alloc, the launch has
  // ended as faulted.
  LaunchState step();

  // Runs to the end on `threads` threads, including this one; fewer if the system refuses some.
  LaunchState run(uint32_t threads = 1);

  void cancel();               // later steps end the launch as faulted, without a description
  const Fault& fault() const;  // valid after a step returned kFaulted
  Counters counters() const;   // complete once the launch has ended

 private:
  friend struct Executor;
  struct State;
  std::unique_ptr<State> state_;
};

// Number of blocks of `block_threads` threads that fit on one multiprocessor; 0 if none does.
uint32_t max_resident_blocks(const Code& code, uint32_t block_threads, uint32_t dynamic_shared_bytes,
                             const Profile& profile);

}  // namespace ptx::emulator
