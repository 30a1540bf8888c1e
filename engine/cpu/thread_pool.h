// A fixed set of threads for one parallel loop at a time. Between a token's loops they spin, so that starting a loop
// costs about a microsecond; after a short idle time they sleep. On a processor with fast and slow cores, started
// threads stay on the fast ones if there are enough.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <type_traits>
#include <vector>

namespace warpchat {

class ThreadPool {
 public:
  static constexpr uint32_t kMaxThreads = 1024;

  explicit ThreadPool(uint32_t n_threads);  // 1 .. kMaxThreads, with the calling thread; Error if the system refuses
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  uint32_t n_threads() const { return static_cast<uint32_t>(shares_.size()); }

  // Calls body(task) or body(task, thread) once for every task in 0..n_tasks-1, in any order and on any thread, and
  // returns when all are done. thread is below n_threads(), and runs one task at a time. One caller at a time; body
  // must not start a loop. Rethrows the first exception; tasks not begun by then are skipped.
  template <class Body>
  void for_each(uint32_t n_tasks, const Body& body) {
    const auto call = [](const void* b, uint32_t task, uint32_t thread) {
      if constexpr (std::is_invocable_v<Body, uint32_t, uint32_t>) {
        (*static_cast<const Body*>(b))(task, thread);
      } else {
        (*static_cast<const Body*>(b))(task);
      }
    };
    run({call, &body, n_tasks});
  }

 private:
  struct Job {
    void (*call)(const void* body, uint32_t task, uint32_t thread) = nullptr;
    const void* body = nullptr;
    uint32_t n_tasks = 0;
  };

  void run(const Job& job);
  void stop();
  void work(uint32_t thread);  // runs tasks until none is left, or one throws
  void take_tasks(uint32_t thread);
  void worker(uint32_t thread);
  uint32_t wait_for_change(uint32_t seen);

  // A thread's contiguous share of the tasks, so that it reads memory in order. Idle threads steal from other shares.
  struct alignas(64) Share {
    std::atomic<uint32_t> next{0};
    uint32_t end = 0;
  };

  std::vector<std::thread> workers_;
  std::vector<Share> shares_;
  bool is_on_fast_cores_;
  int64_t spin_nanoseconds_;  // before an idle worker sleeps
  Job job_;                   // written only while no worker is inside
  // Low half: workers inside the job; above it, whether the job is open; above that, the job's number. Entering is one
  // compare-and-swap, so nothing waits for a worker that sleeps through a job.
  alignas(64) std::atomic<uint32_t> state_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<bool> has_failed_{false};  // a task of this job threw
  std::exception_ptr failure_;           // written before the workers leave the job
};

}  // namespace warpchat
