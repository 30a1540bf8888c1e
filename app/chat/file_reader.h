// Reads attachments on its own thread, since disks and pdftotext can be slow.
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

constexpr uint64_t kMaxAttachedBytes = 4 << 20;  // of one file's text

class FileReader {
 public:
  struct File {
    uint64_t id;
    std::string path;
    std::string text = {};
    std::string fault = {};  // an error message; empty: the text is complete
  };
  explicit FileReader(std::function<void(File)> tell) : tell_(std::move(tell)) {}  // called from the thread
  ~FileReader();  // cancels the file that is being read

  void read(uint64_t id, const std::string& path);  // one after the other
  void cancel(uint64_t id);

 private:
  void run();
  bool read_next();  // waits; false: at the end
  void fail(const char* sentence);

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
