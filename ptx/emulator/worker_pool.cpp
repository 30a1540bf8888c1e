#include "ptx/emulator/worker_pool.h"

#include <system_error>
#include <utility>

namespace ptx::emulator {

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  has_job_.notify_all();
  for (std::thread& member : members_) member.join();
}

void WorkerPool::hire() {
  members_.reserve(n_members_);
  try {
    while (members_.size() < n_members_) members_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {  // the next job tries again to start the others
  }
}

void WorkerPool::run(const std::function<void()>& work) {
  {
    std::unique_lock lock(mutex_);
    if (job_ != nullptr) {
      lock.unlock();
      return work();
    }
    hire();
    job_ = &work;
    ++n_jobs_;
  }
  has_job_.notify_all();
  take_part(work);
  std::unique_lock lock(mutex_);
  job_ = nullptr;
  is_idle_.wait(lock, [this] { return n_working_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void WorkerPool::take_part(const std::function<void()>& work) {
  try {
    work();
  } catch (...) {
    std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void WorkerPool::serve() {
  std::unique_lock lock(mutex_);
  for (uint64_t done = 0;;) {
    has_job_.wait(lock, [&] { return is_closing_ || (job_ != nullptr && n_jobs_ != done); });
    if (is_closing_) return;
    done = n_jobs_;
    const std::function<void()>& work = *job_;
    ++n_working_;
    lock.unlock();
    take_part(work);
    lock.lock();
    if (--n_working_ == 0) is_idle_.notify_all();
  }
}

}  // namespace ptx::emulator
