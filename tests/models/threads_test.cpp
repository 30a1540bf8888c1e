// A thread's exception ends its jobs with a sentence, never the program.
#include "models/threads.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>

namespace warpchat {
namespace {

std::string sentence_told(const std::function<void()>& body) {
  std::string told = "nothing";
  start_thread("to fail", body, [&](const char* sentence) { told = sentence; }).join();
  return told;
}

TEST(Threads, TheLastCatchHasASentenceForEverything) {
  EXPECT_EQ(sentence_told([] {}), "nothing");
  EXPECT_EQ(sentence_told([] { throw std::runtime_error("the disk is gone"); }), "the disk is gone");
  EXPECT_EQ(sentence_told([] { throw std::bad_alloc(); }),
            "out of memory; close other programs, or use a smaller model or a smaller context");
  EXPECT_EQ(sentence_told([] { throw 7; }), "an unknown error ended a thread of the program; start it again");
}

TEST(Threads, ALastCatchThatThrowsItselfEndsNothingElse) {
  guarded_thread([] { throw std::bad_alloc(); }, [](const char*) { throw std::bad_alloc(); }).join();
}

}  // namespace
}  // namespace warpchat
