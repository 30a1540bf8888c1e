// Only the last of several changes during a write is written next.
#include "app/gui/desktop/memory_keeper.h"

#include <utility>

#include "models/threads.h"

namespace warpchat::gui {

MemoryKeeper::MemoryKeeper(std::string folder, const WindowMemory& as_stored)
    : folder_(std::move(folder)),
      last_(as_stored),
      thread_(start_thread(
          "to keep the window's state", [this] { write(); }, ends_unnoticed)) {}

MemoryKeeper::~MemoryKeeper() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void MemoryKeeper::keep(const WindowMemory& memory) {
  if (memory == last_) return;
  last_ = memory;
  {
    const std::lock_guard lock(mutex_);
    waiting_ = memory;
  }
  changed_.notify_one();
}

void MemoryKeeper::write() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return waiting_ || ends_; });
    if (!waiting_) return;
    const WindowMemory memory = *std::exchange(waiting_, std::nullopt);
    lock.unlock();
    save_window_memory(memory, folder_);
    lock.lock();
  }
}

}  // namespace warpchat::gui
