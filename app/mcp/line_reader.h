// Lines out of pieces of any length, in bounded memory.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace warpchat {

class LineReader {
 public:
  explicit LineReader(size_t max_bytes) : max_bytes_(max_bytes) {}

  // on_line(text, is_whole): each line, without its end. A longer one comes once, as soon as it is too long, with as
  // many bytes as may be kept.
  template <class OnLine>
  void add(std::string_view bytes, const OnLine& on_line) {
    while (!bytes.empty()) {
      const size_t end = bytes.find('\n');
      const std::string_view piece = bytes.substr(0, end);
      if (!skips_) {
        line_ += piece.substr(0, max_bytes_ + 1 - line_.size());
        if (line_.size() > max_bytes_) {
          line_.pop_back();
          skips_ = true;
          finish_line(on_line, false);
        }
      }
      if (end == std::string_view::npos) return;
      if (!std::exchange(skips_, false)) finish_line(on_line, true);
      bytes.remove_prefix(end + 1);
    }
  }

  template <class OnLine>
  void finish(const OnLine& on_line) {  // the last line may lack its end
    if (!line_.empty()) finish_line(on_line, true);
  }

 private:
  template <class OnLine>
  void finish_line(const OnLine& on_line, bool is_whole) {
    const std::string line = std::exchange(line_, {});
    on_line(std::string_view(line), is_whole);
  }

  size_t max_bytes_;
  std::string line_;
  bool skips_ = false;  // the rest of a line that is too long
};

}  // namespace warpchat
