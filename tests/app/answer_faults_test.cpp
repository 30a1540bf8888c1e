// Answers that break off because something else failed: the generation is drained, and the next message finds its
// place.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <deque>
#include <filesystem>

#include "app/answer_stream.h"
#include "app/conversation_record.h"
#include "app/directories.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

// Standard output on a full disk while it lives.
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

TEST(AnswerFaults, AGenerationWhoseTextCannotBeShownIsStoppedAndDrained) {
  std::deque<Event> events;
  for (int i = 0; i < 200; ++i) events.push_back(TextDelta{"word ", i, 0, false});
  events.push_back(GenerationEnd{EndReason::kStopped, {}, ""});
  bool stopped = false;
  const EventSource source{[&](std::chrono::milliseconds) -> std::optional<Event> {
                             EXPECT_FALSE(events.empty()) << "asked for more after the end";
                             if (events.empty()) return GenerationEnd{};
                             Event event = std::move(events.front());
                             events.pop_front();
                             return event;
                           },
                           [&] { stopped = true; }};
  fflush(stdout);
  std::string sentence;
  {
    const FullOutput full;
    sentence = error_of([&] { stream_answer(source, {}); });
  }
  EXPECT_EQ(sentence, "cannot write to standard output: No space left on device");
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(events.empty()) << events.size() << " events left for the next answer";
}

TEST(AnswerFaults, AMessageAfterAnAnswerThatBrokeOffGoesBelowWhatIsStored) {
  char folder[] = "/tmp/warpchat_record_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const char* before = getenv("XDG_DATA_HOME");
  const std::string kept = before ? before : "";
  setenv("XDG_DATA_HOME", folder, 1);
  {
    ConversationRecord record(/*keeps=*/true);
    std::vector<Message> messages{{"user", "first"}};
    record.send({.text = "first", .title = "first", .before = {}, .system_prompt = "", .model = ""});
    record.answer_begins();
    messages.push_back({"assistant", "half an"});
    record.follow(messages, Event{TextDelta{"half an", 1, 0, false}});
    // No end: something threw. The session shows both messages; the record knows of the first alone.
    record.send({.text = "second", .title = "", .before = messages, .system_prompt = "", .model = ""});
    EXPECT_EQ(record.take_notice(), "");
    const StoredConversation stored = record.store().load(record.conversation());
    ASSERT_EQ(stored.turns.size(), 2u);
    EXPECT_EQ(stored.turns[0].message.content, "first");
    EXPECT_EQ(stored.turns[1].message.content, "second");
    messages.push_back({"user", "second"});
    record.regenerate(messages);
    record.answer_begins();
    EXPECT_EQ(record.last_turn(), stored.turns[0].id);
  }
  before ? setenv("XDG_DATA_HOME", kept.c_str(), 1) : unsetenv("XDG_DATA_HOME");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace warpchat
