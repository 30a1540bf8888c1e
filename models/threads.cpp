// Every thread of the program begins here, but for those of the emulator, which is a library of its own.
#include "models/threads.h"

#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "models/error.h"
#include "models/fault_stack.h"
#include "models/out_of_memory.h"

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

std::thread guarded_thread(std::function<void()> body, OnThreadFailure failed) {
  return std::thread([body = std::move(body), failed = std::move(failed)] {
    const FaultStack stack;
    try {
      body();
    } catch (...) {
      try {
        failed(sentence_of_current_exception());
      } catch (...) {  // the last catch itself needs memory that is not there
      }
    }
  });
}

std::thread start_thread(std::string_view purpose, std::function<void()> body, OnThreadFailure failed) {
  try {
    return guarded_thread(std::move(body), std::move(failed));
  } catch (const std::system_error& error) {
    throw Error("the system gives no thread " + std::string(purpose) + " (" + error.what() +
                "); end other programs or raise the limits on threads (ulimit -u) and memory (ulimit -v)");
  }
}

const char* sentence_of_current_exception() noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an unknown error ended a thread of the program; start it again";
  }
}

}  // namespace warpchat
