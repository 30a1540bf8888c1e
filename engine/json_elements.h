// Cuts a long JSON text into the values that it lists, without parsing them. So a fault in one leaves the others
// readable, and only one at a time needs memory. Reads each byte a bounded number of times.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

class JsonElements {
 public:
  // The elements of an array; else the values that follow each other. text must outlive it.
  explicit JsonElements(std::string_view text);

  struct Element {
    std::string_view text;  // one value, to be parsed by parse_untrusted_json()
    size_t at;              // its offset
    bool is_whole;          // false: the text ends within it
  };
  std::optional<Element> next();                           // nullopt: the end
  bool is_list() const { return is_array_ || is_lines_; }  // false: one value, or several without line breaks
  bool ends_in_array() const { return in_array_; }         // at the end: the array was never closed

  size_t n_read() const { return n_read_; }  // bytes gone over

 private:
  Element cut(size_t end, bool is_whole);

  std::string_view text_;
  size_t at_ = 0, n_read_ = 0;
  bool is_array_ = false, in_array_ = false;
  bool is_lines_ = false;  // JSON lines: a value ends with its line, whatever it has
};

// A text that ends within an array or object, up to the last array or object that ended inside, with the brackets that
// are missing. Empty if none ended there, or if the text is nested deeper than parse_untrusted_json() allows.
std::string close_cut_json(std::string_view text);

}  // namespace warpchat
