// Answers that break off because something else fails: the generation is drained.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>

#include "app/terminal/answer_stream.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

// Standard output on a full disk during its lifetime.
class FullOutput {
 public:
  FullOutput() : before_(dup(STDOUT_FILENO)) {
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    dup2(full, STDOUT_FILENO);
    close(full);
  }
  ~FullOutput() {
    dup2(before_, STDOUT_FILENO);
    close(before_);
  }

 private:
  int before_;
};

// A generation whose events and stop flag belong to the test.
class WrittenDown : public Generation {
 public:
  WrittenDown(std::deque<Event>& events, bool& stopped) : events_(events), stopped_(stopped) {}
  std::optional<Event> next_event(std::chrono::milliseconds) override {
    EXPECT_FALSE(events_.empty()) << "asked for more after the end";
    if (events_.empty()) return GenerationEnd{};
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }
  void stop() override { stopped_ = true; }

 private:
  std::deque<Event>& events_;
  bool& stopped_;
};

TEST(AnswerFaults, AGenerationWhoseTextCannotBeShownIsStoppedAndDrained) {
  std::deque<Event> events;
  for (int i = 0; i < 200; ++i) events.push_back(TextDelta{"word ", i, 0, false});
  events.push_back(GenerationEnd{EndReason::kStopped, {}, ""});
  bool stopped = false;
  WrittenDown generation(events, stopped);
  fflush(stdout);
  std::string sentence;
  {
    const FullOutput full;
    sentence = error_of([&] { stream_answer(generation, {}, AnswerGoes::kToOutput, AnswerFrom::kThisMachine); });
  }
  EXPECT_EQ(sentence, "cannot write to standard output: No space left on device");
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(events.empty()) << events.size() << " events left for the next answer";
}

}  // namespace
}  // namespace warpchat
