// What the program does where the system gives no memory. Its operator new (app/platform/memory_reserve.cpp) then
// serves small blocks from a reserve, since destructors and handlers of errors cannot do without. Work that can be
// given up is given up at its next checkpoint.
#pragma once
#include <atomic>
#include <new>

namespace warpchat {

inline constexpr char kOutOfMemory[] =
    "out of memory; close other programs, or use a smaller model or a smaller context";

// A bad_alloc whose what() is a sentence for users.
class OutOfMemory : public std::bad_alloc {
 public:
  const char* what() const noexcept override { return kOutOfMemory; }
};

// Set when the reserve is used, reset when all of it is back.
inline std::atomic<bool> reserve_was_used = false;

// A checkpoint: OutOfMemory if the reserve has been used since the last one and the system still gives no memory.
void throw_if_out_of_memory();

}  // namespace warpchat
