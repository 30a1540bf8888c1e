// Translates std::system_error from a thread's constructor.
#include "models/threads.h"

#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <vector>

#include "models/error.h"

namespace warpchat {

void run_on_threads(size_t n, const std::function<void()>& work) {
  std::mutex mutex;
  std::exception_ptr failure;
  const auto guarded = [&] {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> others;
    others.reserve(n);
    try {
      while (others.size() + 1 < n) others.emplace_back(guarded);
    } catch (const std::system_error&) {  // continue with the threads that started
    }
    guarded();
  }
  if (failure) std::rethrow_exception(failure);
}

std::thread start_thread(std::string_view purpose, std::function<void()> body) {
  try {
    return std::thread(std::move(body));
  } catch (const std::system_error& error) {
    throw Error("the system gives no thread " + std::string(purpose) + " (" + error.what() +
                "); end other programs or raise the limits on threads (ulimit -u) and memory (ulimit -v)");
  }
}

}  // namespace warpchat
