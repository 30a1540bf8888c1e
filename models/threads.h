// Threads that the system may refuse (ulimit -u, a container's limit): work goes on with those it gives, and what needs
// one of its own says so.
#pragma once
#include <cstddef>
#include <functional>
#include <string_view>
#include <thread>

namespace warpchat {

// Calls work on this thread and on up to n - 1 others, fewer if the system gives no more, and returns when all calls
// have. What one of them throws first is thrown here.
void run_on_threads(size_t n, const std::function<void()>& work);

// Error if the system refuses; purpose: what the thread is for, as in "to answer".
std::thread start_thread(std::string_view purpose, std::function<void()> body);

}  // namespace warpchat
