// One file at a time, in the order in which they were attached.
#include "app/chat/file_reader.h"

#include <utility>

#include "app/formats/pdf_text.h"
#include "app/platform/text_input.h"
#include "models/error.h"
#include "models/threads.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

std::string text_of(const std::string& path, const std::atomic<bool>& stops) {
  if (is_pdf(path)) return text_of_pdf(path, kMaxAttachedBytes, stops);
  std::string text(without_byte_order_mark(read_regular_file(path, kMaxAttachedBytes)));
  require_text(text, path);
  if (text.empty()) throw Error(path + " is empty; nothing was attached");
  return text;
}

}  // namespace

FileReader::~FileReader() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = stops_ = true;
  }
  arrived_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void FileReader::read(uint64_t id, const std::string& path) {
  {
    const std::lock_guard lock(mutex_);
    wanted_.push_back({id, path});
  }
  arrived_.notify_one();
  if (thread_.joinable()) return;
  try {
    thread_ = start_thread(
        "to read files", [this] { run(); }, ends_unnoticed);
  } catch (const Error& error) {
    cancel(id);
    tell_({id, path, "", error.what()});
  }
}

void FileReader::cancel(uint64_t id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(wanted_, [&](const File& file) { return file.id == id; });
  if (now_ == id) stops_ = true;
}

void FileReader::run() {
  for (bool goes_on = true; goes_on;) {
    try {
      goes_on = read_next();
    } catch (const std::exception&) {
      fail(sentence_of_current_exception());
    }
  }
}

bool FileReader::read_next() {
  std::unique_lock lock(mutex_);
  arrived_.wait(lock, [this] { return !wanted_.empty() || ending_; });
  if (ending_) return false;
  File file = std::move(wanted_.front());
  wanted_.pop_front();
  now_ = file.id;
  stops_ = false;
  lock.unlock();
  try {
    file.text = text_of(file.path, stops_);
  } catch (const std::exception& error) {
    file.fault = error.what();
  }
  if (!stops_) tell_(std::move(file));
  lock.lock();
  now_ = 0;
  return true;
}

void FileReader::fail(const char* sentence) {
  uint64_t id = 0;
  {
    const std::lock_guard lock(mutex_);
    id = std::exchange(now_, 0);
  }
  if (id != 0) tell_({id, "", "", std::string("cannot read an attached file: ") + sentence});
}

}  // namespace warpchat
