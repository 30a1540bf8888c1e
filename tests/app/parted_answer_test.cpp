// Thoughts in texts that grow, and the texts again.
#include "app/parted_answer.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

const std::string kAnswers[] = {
    "<think>\nhm, so\n\n a < b </thin air>\n</think>\n\nthe </think> end\n",
    "\n <think>x</think>y",
    "<think>\n\n</think>\n\nyes",
    "<thin air> is no thought",
    "<think>\nnever ended",
    " plain",
};

TEST(PartedAnswer, OnlyGrowsWithItsText) {
  for (const std::string& text : kAnswers) {
    Message last;
    for (size_t n = 0; n <= text.size(); ++n) {
      const Message now = parted("assistant", text.substr(0, n), /*grows=*/n < text.size());
      EXPECT_TRUE(now.content.starts_with(last.content)) << text.substr(0, n);
      EXPECT_TRUE(now.reasoning.starts_with(last.reasoning)) << text.substr(0, n);
      last = now;
    }
    EXPECT_EQ(parted("assistant", joined(last)), last) << text;
  }
  EXPECT_EQ(joined(parted("assistant", kAnswers[0])), kAnswers[0]);
  EXPECT_EQ(parted("user", kAnswers[0]), (Message{"user", kAnswers[0]}));
}

}  // namespace
}  // namespace warpchat
