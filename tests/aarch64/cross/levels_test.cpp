// Chosen kernels on processors with some of the instructions: EXPECTED_LEVELS, best first.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "engine/cpu/simd_level.h"
#include "models/error.h"

namespace warpchat {
namespace {

std::vector<std::string> usable_names() {
  std::vector<std::string> names;
  for (const CpuKernels* kernels : usable_kernels()) names.emplace_back(kernels->name);
  return names;
}

TEST(Levels, AreThoseOfTheProcessor) {
  const char* expected = std::getenv("EXPECTED_LEVELS");
  ASSERT_NE(expected, nullptr);
  std::string names;
  for (const std::string& name : usable_names()) names += names.empty() ? name : ' ' + name;
  EXPECT_EQ(names, expected);
}

TEST(Levels, TheBestIsTheDefaultAndOthersAreRefused) {
  const std::vector<std::string> usable = usable_names();
  EXPECT_EQ(choose_kernels("").name, usable.front());
  for (const std::string name : {"neon_i8mm", "neon_dot", "portable"}) {
    if (std::find(usable.begin(), usable.end(), name) != usable.end()) {
      EXPECT_EQ(choose_kernels(name).name, name);
    } else {
      EXPECT_THROW(choose_kernels(name), Error) << name;
    }
  }
}

}  // namespace
}  // namespace warpchat
