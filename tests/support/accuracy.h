// Accuracy that every decoder must keep: measured values per model, with room only for another machine's order of
// summation. Tables hold the worst of all launch modes and instruction sets. To renew them, run the tests with
// WARPCHAT_PRINT_ACCURACY=1.
#pragma once
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/reference/closeness.h"

namespace warpchat {

struct Accuracy {
  double relative_error, mean_kl;
};

inline constexpr Accuracy kPublicLimit{5e-3, 2e-5};  // the project's promise for any model
inline constexpr double kRoom = 2;

inline void expect_accuracy(const Closeness& got, const Accuracy& measured, const std::string& where) {
  if (std::getenv("WARPCHAT_PRINT_ACCURACY") != nullptr) {
    std::printf("accuracy: %s: {%.1e, %.1e}\n", where.c_str(), got.relative_error, got.mean_kl);
    std::fflush(stdout);  // flushed, in case the test is killed later
  }
  EXPECT_LE(got.relative_error, kRoom * measured.relative_error) << where;
  EXPECT_LE(got.mean_kl, kRoom * measured.mean_kl) << where;
}

}  // namespace warpchat
