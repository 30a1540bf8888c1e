// How near to the exact mathematics every decoder has to stay: what was measured, model by model, with room for another
// machine's order of summation and no more. Tables hold the worst of all ways and instruction sets; to write them anew,
// run the tests with WARPCHAT_PRINT_ACCURACY=1.
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

inline constexpr Accuracy kPublicLimit{5e-3, 2e-5};  // what the project promises of any model
inline constexpr double kRoom = 2;

inline void expect_accuracy(const Closeness& got, const Accuracy& measured, const std::string& where) {
  if (std::getenv("WARPCHAT_PRINT_ACCURACY") != nullptr) {
    std::printf("accuracy: %s: {%.1e, %.1e}\n", where.c_str(), got.relative_error, got.mean_kl);
    std::fflush(stdout);  // a test that is ended later has told it
  }
  EXPECT_LE(got.relative_error, kRoom * measured.relative_error) << where;
  EXPECT_LE(got.mean_kl, kRoom * measured.mean_kl) << where;
}

}  // namespace warpchat
