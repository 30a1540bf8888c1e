// Starts threads, which the system may refuse (ulimit -u, container limits). Parallel work continues with fewer; a
// required thread throws. No exception leaves a thread started here: it would end the program.
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>

namespace warpchat {

// Calls work on this thread and on up to n - 1 others, fewer if the system refuses, and returns when all calls have
// returned. Rethrows the first exception.
void run_on_threads(size_t n, const std::function<void()>& work);

// A thread's last catch: ends the thread's jobs with the sentence of what body threw. Called on that thread, within the
// catch; what it throws itself is dropped.
using OnThreadFailure = std::function<void(const char* sentence)>;

// For a thread whose end nothing waits for.
inline void ends_unnoticed(const char*) {}

// std::system_error if the system refuses.
std::thread guarded_thread(std::function<void()> body, OnThreadFailure failed);

// Error if the system refuses; purpose: for the message, as in "to answer".
std::thread start_thread(std::string_view purpose, std::function<void()> body, OnThreadFailure failed);

// The sentence of the exception that is being handled. Allocates no memory; valid until the catch ends.
const char* sentence_of_current_exception() noexcept;

}  // namespace warpchat
