// Threads that help the one that runs a launch. They stay from launch to launch, and nobody waits for one that has not
// begun: a short launch is over before it wakes.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace ptx::emulator {

class Crew {
 public:
  // The threads start with the first job; where the system refuses some, there are fewer.
  explicit Crew(uint32_t n_members) : n_members_(n_members) {}
  ~Crew();
  Crew(const Crew&) = delete;

  // Calls work on this thread and on members that are free; returns when every call has returned, or throws what one of
  // them threw first. A job that finds another one under way runs on this thread alone.
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
