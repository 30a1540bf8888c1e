// A stack of their own for the handlers of a thread's fatal signals, so that one can speak after a stack overflow.
#pragma once
#include <signal.h>
#include <sys/mman.h>

#include <cstddef>

namespace warpchat {

// Sanitizers handle fatal signals themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kHandlesFatalSignals = false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
constexpr bool kHandlesFatalSignals = false;
#else
constexpr bool kHandlesFatalSignals = true;
#endif
#else
constexpr bool kHandlesFatalSignals = true;
#endif

class FaultStack {  // of the thread that makes it, while it lives; without memory for it, there is none
 public:
  FaultStack() {
    if (!kHandlesFatalSignals) return;
    void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return;
    stack_.ss_sp = memory;
    stack_.ss_size = kBytes;
    sigaltstack(&stack_, nullptr);
  }
  ~FaultStack() {
    if (stack_.ss_sp == nullptr) return;
    void* const memory = stack_.ss_sp;
    stack_ = {.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
    sigaltstack(&stack_, nullptr);
    munmap(memory, kBytes);
  }
  FaultStack(const FaultStack&) = delete;
  FaultStack& operator=(const FaultStack&) = delete;

 private:
  static constexpr size_t kBytes = 64 << 10;  // the kernel alone stores up to 11 KiB of registers there
  stack_t stack_ = {};
};

}  // namespace warpchat
