// The examples of ptx/README.md work together: the kernel of the first is run by the second.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include "ptx/builder.h"
#include "ptx/emulator/emulator.h"

namespace readme {
#include "tests/ptx/readme_kernel.h"
#include "tests/ptx/readme_run.h"
}  // namespace readme

namespace {

std::string contents(const char* path) {
  std::stringstream text;
  text << std::ifstream(std::filesystem::path(WARPCHAT_SOURCE_DIR) / path).rdbuf();
  return text.str();
}

TEST(Readme, SecondExampleIsThisOne) {
  const std::string page = contents("ptx/README.md"), code = contents("tests/ptx/readme_run.h");
  const size_t first_end = page.find("```\n", page.find("```cpp\n") + 7), start = page.find("```cpp\n", first_end) + 7;
  const std::string shown = page.substr(start, page.find("```", start) - start);
  EXPECT_EQ(shown, code.substr(code.find("#include")));
  EXPECT_LT(std::count(shown.begin(), shown.end(), '\n'), 40);
}

TEST(Readme, ExamplesMultiply) {
  const size_t rows = 10, k = 64;
  std::vector<float> w(rows * k), x(k);
  std::iota(w.begin(), w.end(), -300.0f);
  std::iota(x.begin(), x.end(), -20.0f);
  testing::internal::CaptureStdout();
  const std::vector<float> y = readme::run_gemv(w, x);
  EXPECT_EQ(testing::internal::GetCapturedStdout().substr(0, 1).find_first_of("0123456789"), 0u);
  ASSERT_EQ(y.size(), rows);
  for (size_t row = 0; row < rows; ++row)
    EXPECT_EQ(y[row], std::inner_product(x.begin(), x.end(), w.begin() + static_cast<ptrdiff_t>(row * k), 0.0f)) << row;
}

}  // namespace
