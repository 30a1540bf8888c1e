// Reads files that go with a message on a thread of its own: a disk can be slow, and so can what makes text of a PDF.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace warpchat {

constexpr uint64_t kMostAttachedBytes = 4 << 20;  // of one file's text

class FileReader {
 public:
  struct File {
    uint64_t id;
    std::string path;
    std::string text = {};
    std::string fault = {};  // one sentence; empty: the text is there
  };
  explicit FileReader(std::function<void(File)> tell) : tell_(std::move(tell)) {}  // called from the thread
  ~FileReader();                                                                   // what is being read is given up

  void read(uint64_t id, const std::string& path);  // one after the other
  void cancel(uint64_t id);

 private:
  void run();

  const std::function<void(File)> tell_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<File> wanted_;
  uint64_t now_ = 0;  // that is being read
  bool ending_ = false;
  std::atomic<bool> stops_ = false;
  std::thread thread_;
};

}  // namespace warpchat
