// Lines end with \n, \r\n or \r; \r\n may be split between two pieces.
#include "engine/remote/sse_parser.h"

#include <algorithm>
#include <utility>

#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {
constexpr std::string_view kFields[] = {"event", "id", "retry"};

struct Field {
  std::string_view name, value;
};

Field field_of(std::string_view line) {
  const size_t colon = line.find(':');
  std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  return {line.substr(0, colon), value};
}

uint64_t payload_bytes_of(std::string_view line) {
  const Field field = field_of(line);
  return field.name == "data" && is_payload(field.value) ? line.size() : 0;
}
}  // namespace

bool is_payload(std::string_view data) {
  const std::string_view text = trimmed(data);
  return !text.empty() && text.front() != ':';
}

uint64_t SseParser::payload_bytes() const { return payload_bytes_ + payload_bytes_of(line_); }

void SseParser::add(std::string_view bytes) {
  if (skips_newline_ && bytes.starts_with('\n')) bytes.remove_prefix(1), skips_newline_ = false;
  while (!bytes.empty()) {
    skips_newline_ = false;
    const size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    if (line_.size() + piece.size() > max_event_bytes_)
      throw Error("a line is longer than " + grouped(max_event_bytes_) + " bytes");
    if (end == std::string_view::npos) {
      line_ += piece;
      return;
    }
    if (line_.empty()) {
      take_line(piece);
    } else {
      line_ += piece;
      const std::string line = std::exchange(line_, {});
      take_line(line);
    }
    skips_newline_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (skips_newline_ && bytes.starts_with('\n')) bytes.remove_prefix(1), skips_newline_ = false;
  }
}

void SseParser::finish() {
  if (!line_.empty()) {
    const std::string line = std::exchange(line_, {});
    take_line(line);
  }
  dispatch();
}

void SseParser::take_line(std::string_view line) {
  if (std::exchange(is_first_line_, false)) line = without_byte_order_mark(line);
  if (line.empty()) return dispatch();
  if (line.front() == ':') return;
  const auto [field, value] = field_of(line);
  payload_bytes_ += payload_bytes_of(line);
  if (field == "event") event_ = value;
  if (field == "data") {
    if (data_.size() + value.size() + 1 > max_event_bytes_)
      throw Error("an event is longer than " + grouped(max_event_bytes_) + " bytes");
    if (std::exchange(has_data_, true)) data_ += '\n';
    data_ += value;
    return;
  }
  if (has_event_ || std::find(std::begin(kFields), std::end(kFields), field) != std::end(kFields)) return;
  foreign_bytes_ += line.size();
  if (foreign_bytes_ > kMaxForeignBytes) throw Error("it is not an event stream");
}

void SseParser::dispatch() {
  if (std::exchange(has_data_, false)) {
    has_event_ = true;
    const std::string data = std::exchange(data_, {});
    on_data_(data);
  }
  event_.clear();
}

}  // namespace warpchat
