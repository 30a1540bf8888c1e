// A table of what was measured. Every row is written at once: as a line of Markdown to stdout, under the table's head,
// and where WARPCHAT_RESULTS names a file as a line of JSON to its end, {"table": ..., "device": ..., column: value}.
#pragma once
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace warpchat {

class ResultTable {
 public:
  struct Number {
    double value;
    int digits;  // behind the point, in Markdown
  };
  using Cell = std::variant<std::string, uint64_t, Number>;

  // columns: with their units, "tokens/s". device: what all rows were measured on.
  ResultTable(std::string name, std::string device, std::vector<std::string> columns);
  void row(const std::vector<Cell>& cells);  // one for each column

 private:
  std::string name_, device_;
  std::vector<std::string> columns_;
  bool has_head_ = false;
};

inline ResultTable::Number number(double value, int digits) { return {value, digits}; }
inline ResultTable::Number microseconds(double seconds, int digits = 2) { return {seconds * 1e6, digits}; }

// A line of Markdown, at once.
void say(std::string_view line);

// The middle one, or the mean of the two in the middle; of at least one.
double median(std::vector<double> values);

}  // namespace warpchat
