// Writes the window's state on its own thread: a slow disk costs no frame.
#pragma once
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "app/gui/desktop/window_memory.h"

namespace warpchat::gui {

class MemoryKeeper {
 public:
  MemoryKeeper(std::string folder, const WindowMemory& as_stored);
  ~MemoryKeeper();                        // writes the last state before it returns
  void keep(const WindowMemory& memory);  // writes it soon if it differs from what was kept before

 private:
  void write();
  const std::string folder_;
  WindowMemory last_;  // of the caller's thread
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<WindowMemory> waiting_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace warpchat::gui
