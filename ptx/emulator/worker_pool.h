// Helper threads for launches, kept between launches. A job never waits for a helper that has not started: a short
// launch ends before any wakes.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ptx::emulator {

class WorkerPool {
 public:
  // Threads start with the first job; there are fewer if the system refuses some.
  explicit WorkerPool(uint32_t n_members) : n_members_(n_members) {}
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;

  // Calls work on this thread and on idle members. Returns when every call has returned, or rethrows the first
  // exception. While another job runs, it runs on this thread alone.
  void run(const std::function<void()>& work);

 private:
  void hire();
  void serve();
  void take_part(const std::function<void()>& work);

  const uint32_t n_members_;
  std::mutex mutex_;
  std::condition_variable has_job_, is_idle_;
  const std::function<void()>* job_ = nullptr;
  uint64_t n_jobs_ = 0;
  uint32_t n_working_ = 0;
  bool is_closing_ = false;
  std::exception_ptr failure_;  // of the job
  std::vector<std::thread> members_;
};

}  // namespace ptx::emulator
