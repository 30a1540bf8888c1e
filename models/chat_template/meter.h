// The work of a rendering. A template is a stranger's program: everything that reads or copies in proportion to a size
// charges the meter first, so that the template ends soon after its limit, its deadline or a stop.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace warpchat::jinja {

struct Limits {                      // exceeding one is an Error
  size_t bytes = size_t{512} << 20;  // all values at one time
  int64_t steps = 200'000'000;       // evaluated expressions and loop iterations
  int depth = 1000;                  // nesting of expressions, blocks and macros
  uint64_t work = 20'000'000'000;    // bytes read and copied; a value counts as kValueWork
  std::chrono::milliseconds time{30'000};
  std::function<bool()> is_stopped{};  // asked often, on the rendering thread; empty: never
};

constexpr uint64_t kValueWork = 16;  // looking at one value takes as long as copying so many bytes

class Meter {
 public:
  explicit Meter(const Limits& limits);  // of this thread until destroyed; limits must outlive it
  ~Meter();
  Meter(const Meter&) = delete;

  // To this thread's meter, if it has one: hashing and comparing values happens within containers, which know of no
  // interpreter. Fault beyond a limit.
  static void charge(uint64_t work);

 private:
  void check();
  const Limits& limits_;
  Meter* outer_;
  std::chrono::steady_clock::time_point end_;
  uint64_t work_ = 0, next_check_;
};

}  // namespace warpchat::jinja
