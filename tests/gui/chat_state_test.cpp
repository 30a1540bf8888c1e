// The end of a thought, as it is found in a whole text and as it was found while the text streamed.
#include "app/gui/chat_state.h"

#include <gtest/gtest.h>

#include "engine/session/thinking.h"

namespace warpchat::gui {
namespace {

size_t streamed_thought_bytes(std::string_view text) {
  ThinkingTracker tracker(/*inside=*/false);
  size_t bytes = 0;
  const auto add = [&](const ThinkingTracker::Piece& piece) { bytes += piece.thinking ? piece.text.size() : 0; };
  for (const char c : text) add(tracker.add(std::string(1, c)));
  add(tracker.finish());
  return bytes;
}

TEST(ThoughtBytes, AreThoseThatStreamedAsAThought) {
  const struct {
    const char* text;
    size_t bytes;
  } cases[] = {
      {"", 0},
      {"an answer", 0},
      {"<think>why</think>because", 18},
      {"\n <think>\nwhy\n</think>\n\nbecause", 22},    // blanks before it belong to it
      {"<think>still thinking", 21},                   // it has not ended, or never will
      {"<think></think>", 15},                         // models that were told not to think
      {"<thin", 0},                                    // no tag
      {"<thinking>aloud", 0},                          // no tag either
      {"first <think>then</think>", 0},                // a thought stands at the start
      {"<think>a</think>b<think>c</think>d", 16},      // only the first one
      {"<think>a <think> b</think> c</think> d", 26},  // tags do not nest
      {"<think>a</ think>b", 18},
  };
  for (const auto& [text, bytes] : cases) {
    EXPECT_EQ(thought_bytes(text), bytes) << text;
    EXPECT_EQ(streamed_thought_bytes(text), bytes) << text;
  }
}

}  // namespace
}  // namespace warpchat::gui
