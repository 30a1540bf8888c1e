// Seeded faults: a kernel with exactly one fault, the whole sentence that reports it, and the mended twin that runs
// clean. `// HERE` ends the line that is to be reported, `// THERE` that of the other access; in the expected sentence
// {HERE} and {THERE} stand for their numbers.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {

struct SeededFault {
  const char* name;
  const char* before;  // module scope
  std::string broken, mended;
  Dim3 grid, block;
  const char* expected;  // after "emulator: k line {HERE}: "
  bool cooperative = false;
  uint32_t words = 64;  // of the buffer `out`
};

inline void PrintTo(const SeededFault& row, std::ostream* out) { *out << row.name; }

// Number of the line that ends with the mark, from 1; 0 if none.
inline size_t line_of(const std::string& text, const std::string& mark) {
  const size_t at = text.find("// " + mark + "\n");
  return at == std::string::npos
             ? 0
             : 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
}

inline std::string with_lines(std::string sentence, const std::string& text) {
  for (const char* mark : {"HERE", "THERE", "SENT"}) {
    const std::string placeholder = std::string("{") + mark + "}", line = std::to_string(line_of(text, mark));
    for (size_t at; (at = sentence.find(placeholder)) != std::string::npos;)
      sentence.replace(at, placeholder.size(), line);
  }
  return sentence;
}

inline void expect_found_and_mended(const SeededFault& row) {
  LaunchOptions options;
  options.checks = Checks::all();
  options.cooperative = row.cooperative;
  const std::string broken = kernel(row.broken, row.before), mended = kernel(row.mended, row.before);
  EXPECT_EQ(run_text(broken, row.grid, row.block, row.words, {5, 6}, options).fault,
            with_lines("emulator: k line {HERE}: " + std::string(row.expected), broken))
      << broken;
  EXPECT_EQ(run_text(mended, row.grid, row.block, row.words, {5, 6}, options).fault, "") << mended;
}

#define SEEDED_FAULTS(Suite, rows)                                                      \
  class Suite : public ::testing::TestWithParam<SeededFault> {};                        \
  TEST_P(Suite, IsReportedAndItsTwinRunsClean) { expect_found_and_mended(GetParam()); } \
  INSTANTIATE_TEST_SUITE_P(All, Suite, ::testing::ValuesIn(rows), [](const auto& row) { return row.param.name; })

inline std::string thread_zero(const std::string& body) {
  return "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra done;\n" + body + "\ndone:\n";
}

}  // namespace ptx::emulator
