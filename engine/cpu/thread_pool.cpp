// Protocol: open a job, let workers enter, run tasks, close the job, wait until all workers have left.
#include "engine/cpu/thread_pool.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "engine/cpu/cores.h"
#include "engine/remedy.h"
#include "models/threads.h"

namespace warpchat {
namespace {

constexpr uint32_t kInside = 0xffff, kOpen = 0x10000, kNextJob = 0x20000;
constexpr int64_t kSpinNanoseconds = 100'000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

int64_t now_nanoseconds() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Spins until done() or the deadline; true if done.
template <class Done>
bool spin(int64_t nanoseconds, const Done& done) {
  for (int64_t start = 0;;) {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      relax();
    }
    const int64_t now = now_nanoseconds();
    if (start == 0) start = now;
    if (now - start >= nanoseconds) return done();
  }
}

}  // namespace

ThreadPool::ThreadPool(uint32_t n_threads) : shares_(n_threads) {
  static_assert(kMaxThreads <= kInside);
  assert(n_threads > 0 && n_threads <= kMaxThreads);
  is_on_fast_cores_ = n_threads <= fast_cores().n;
  spin_nanoseconds_ = n_threads <= n_usable_cpus() ? kSpinNanoseconds : 0;  // oversubscribed: sleep at once
  workers_.reserve(n_threads - 1);
  try {
    for (uint32_t i = 1; i < n_threads; ++i)
      workers_.push_back(guarded_thread([this, i] { worker(i); }, ends_unnoticed));
  } catch (const std::system_error& error) {
    const size_t started = workers_.size() + 1;
    stop();
    throw ErrorWithRemedy("cannot start " + std::to_string(n_threads) + " threads, the system stops at " +
                              std::to_string(started) + " (" + error.what() + ")",
                          Remedy::Kind::kFewerThreads);
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stopping_.store(true);
  state_.fetch_add(kNextJob);
  state_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

void ThreadPool::run(const Job& job) {
  if (workers_.empty() || job.n_tasks <= 1) {
    for (uint32_t task = 0; task < job.n_tasks; ++task) job.call(job.body, task, 0);
    return;
  }
  job_ = job;
  for (uint64_t i = 0; i < n_threads(); ++i) {
    shares_[i].next.store(static_cast<uint32_t>(i * job.n_tasks / n_threads()), std::memory_order_relaxed);
    shares_[i].end = static_cast<uint32_t>((i + 1) * job.n_tasks / n_threads());
  }
  state_.fetch_add(kNextJob + kOpen);
  state_.notify_all();
  work(0);
  state_.fetch_sub(kOpen);
  const auto all_left = [this] { return (state_.load(std::memory_order_acquire) & kInside) == 0; };
  while (!spin(kSpinNanoseconds, all_left)) std::this_thread::yield();
  if (has_failed_.exchange(false)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void ThreadPool::work(uint32_t thread) {
  try {
    take_tasks(thread);
  } catch (...) {
    if (!has_failed_.exchange(true)) failure_ = std::current_exception();
    for (Share& share : shares_) share.next.store(share.end, std::memory_order_relaxed);
  }
}

void ThreadPool::take_tasks(uint32_t thread) {
  const Job job = job_;
  for (uint32_t i = 0; i < n_threads(); ++i) {
    Share& share = shares_[(thread + i) % n_threads()];
    while (share.next.load(std::memory_order_relaxed) < share.end) {
      const uint32_t task = share.next.fetch_add(1, std::memory_order_relaxed);
      if (task < share.end) job.call(job.body, task, thread);
    }
  }
}

void ThreadPool::worker(uint32_t thread) {
  if (is_on_fast_cores_ && !fast_cores().cpus.empty()) stay_on(fast_cores().cpus);
  uint32_t last_job = 0;  // number of the last job joined, with the lower bits clear
  uint32_t state = state_.load();
  while (!stopping_.load()) {
    const uint32_t job = state & ~(kOpen | kInside);
    if (!(state & kOpen) || job == last_job) {
      state = wait_for_change(state);
    } else if (state_.compare_exchange_weak(state, state + 1)) {
      last_job = job;
      work(thread);
      state = state_.fetch_sub(1) - 1;
    }
  }
}

uint32_t ThreadPool::wait_for_change(uint32_t seen) {
  uint32_t state = seen;
  const auto changed = [&] { return (state = state_.load(std::memory_order_acquire)) != seen; };
  if (!spin(spin_nanoseconds_, changed)) {
    state_.wait(seen);
    state = state_.load();
  }
  return state;
}

}  // namespace warpchat
