// Thrown when the loader refuses a text: every problem with its line, column and text.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptx::emulator {

struct Position {
  uint32_t line = 0;    // from 1
  uint32_t column = 0;  // from 1
};

struct Problem {
  Position at;              // line 0: not in a text, but between modules being linked
  std::string message;      // one clause: what is wrong, and what was expected
  std::string text;         // the offending line of the source, trimmed
  bool is_too_new = false;  // .version is newer than the loader supports
};

class LoadError : public std::runtime_error {
 public:
  explicit LoadError(std::vector<Problem> found) : std::runtime_error(describe(found)), problems(std::move(found)) {}
  std::vector<Problem> problems;  // never empty

 private:
  static std::string describe(const std::vector<Problem>& found);
};

// One problem found while parsing; the loader collects them and throws a LoadError with the source lines.
struct ParseProblem {
  Position at;
  std::string message;
  bool is_too_new = false;
};

[[noreturn]] inline void refuse(Position at, std::string message) { throw ParseProblem{at, std::move(message)}; }

}  // namespace ptx::emulator
