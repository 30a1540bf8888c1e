// A table of measurements. Every row is written at once: as Markdown to stdout, and as a line of JSON appended to the
// file WARPCHAT_RESULTS, if set: {"table": ..., "device": ..., column: value}.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpchat {

class ResultTable {
 public:
  struct Number {
    double value;
    int digits;  // decimals in Markdown
  };
  using Cell = std::variant<std::string, uint64_t, Number>;

  // columns: names with units, "tokens/s". device: where all rows were measured.
  ResultTable(std::string name, std::string device, std::vector<std::string> columns);
  void row(const std::vector<Cell>& cells);  // one cell per column

 private:
  std::string name_, device_;
  std::vector<std::string> columns_;
  bool has_head_ = false;
};

inline ResultTable::Number number(double value, int digits) { return {value, digits}; }
inline ResultTable::Number microseconds(double seconds, int digits = 2) { return {seconds * 1e6, digits}; }

// Prints a line of Markdown at once.
void say(std::string_view line);

// The middle value, or the mean of the two middle ones; values must not be empty.
double median(std::vector<double> values);

}  // namespace warpchat
