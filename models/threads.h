// Starts threads, which the system may refuse (ulimit -u, container limits). Parallel work continues with fewer; a
// required thread throws.
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>

namespace warpchat {

// Calls work on this thread and on up to n - 1 others, fewer if the system refuses, and returns when all calls have
// returned. Rethrows the first exception.
void run_on_threads(size_t n, const std::function<void()>& work);

// Error if the system refuses; purpose: for the message, as in "to answer".
std::thread start_thread(std::string_view purpose, std::function<void()> body);

}  // namespace warpchat
