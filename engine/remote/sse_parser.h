// Server-sent events (the WHATWG HTML standard's text/event-stream), from pieces of any length, in bounded memory.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace warpchat {

class SseParser {
 public:
  static constexpr size_t kMostEventBytes = size_t{4} << 20;     // of one event's data, and of a line
  static constexpr size_t kMostForeignBytes = size_t{64} << 10;  // of lines that are no fields, before the first event

  // on_data: an event's data, its lines joined by \n; what it throws leaves add() and ends the parser's use. Events
  // without data, comments, names, ids and times to retry are passed over.
  explicit SseParser(std::function<void(std::string_view data)> on_data) : on_data_(std::move(on_data)) {}

  // Error if a line or an event is longer than it may be, or if this is no event stream: part of a sentence, for
  // "cannot use what HOST answers: ".
  void add(std::string_view bytes);
  void finish();  // the end: an event that lacks only its empty line counts

 private:
  void take_line(std::string_view line);
  void dispatch();

  std::function<void(std::string_view)> on_data_;
  std::string line_, data_;
  size_t foreign_bytes_ = 0;
  bool is_first_line_ = true, has_data_ = false, has_event_ = false;
  bool skips_newline_ = false;  // the byte before was \r
};

}  // namespace warpchat
