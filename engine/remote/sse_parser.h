// Parser of server-sent events (text/event-stream of the WHATWG HTML standard) in pieces of any length, with bounded
// memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace warpchat {

// False for blank payloads, and for comments that a server sends as payloads (": waiting").
bool is_payload(std::string_view data);

class SseParser {
 public:
  static constexpr size_t kMaxEventBytes = size_t{4} << 20;     // default per event, and per line
  static constexpr size_t kMaxForeignBytes = size_t{64} << 10;  // unknown lines before the first event

  // on_data: gets an event's data lines, joined by \n. Its exceptions leave add(); the parser is then unusable. Ignores
  // events without data, comments, ids and retry times.
  explicit SseParser(std::function<void(std::string_view data)> on_data, size_t max_event_bytes = kMaxEventBytes)
      : on_data_(std::move(on_data)), max_event_bytes_(max_event_bytes) {}

  // Error if a line or an event is too long, or if this is no event stream: part of a sentence, after "cannot use what
  // HOST answers: ".
  void add(std::string_view bytes);
  void finish();  // end of the stream; an event that lacks only its empty line counts

  const std::string& event() const { return event_; }  // during on_data: the event's name; empty: none
  uint64_t payload_bytes() const;                      // so far, of lines that carry a payload

 private:
  void take_line(std::string_view line);
  void dispatch();

  std::function<void(std::string_view)> on_data_;
  size_t max_event_bytes_;
  std::string line_, data_, event_;
  uint64_t payload_bytes_ = 0;
  size_t foreign_bytes_ = 0;
  bool is_first_line_ = true, has_data_ = false, has_event_ = false;
  bool skips_newline_ = false;  // the previous byte was \r
};

}  // namespace warpchat
