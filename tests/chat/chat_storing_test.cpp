// What the chat controller has stored at each moment, and titles.
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>

#include "app/chat/titling.h"
#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

TEST(Titles, AreOneBareLine) {
  for (const auto& [answer, title] : {std::pair<std::string, std::string>{"Rain in May", "Rain in May"},
                                      {"\n\n## \"Rain in May.\"\nIt rains.", "Rain in May"},
                                      {"**Title: Rain in May**", "Rain in May"},
                                      {"„Regen im Mai“", "Regen im Mai"},
                                      {"Rock 'n' Roll", "Rock 'n' Roll"},
                                      {"title", "title"},
                                      {"Two to six words, in its language", ""},
                                      {"Two to Six Words: The Secret Word", "The Secret Word"},
                                      {"\"\"\n***\n", ""},
                                      {"In six words, \"Bread without Yeast\"", "Bread without Yeast"},
                                      {"Here is a title:\n\nBread", "Bread"},
                                      {"```python\nsort(names)\n```", ""},
                                      {std::string(60, 'x'), std::string(60, 'x')},
                                      {std::string(61, 'x'), ""}})
    EXPECT_EQ(title_of_answer(answer), title) << answer;
}

TEST(ChatController, KeepsTheChoiceToDropTheOldestTurns) {
  Bench bench;
  bench.submit(DropOldest{});  // before anything is stored
  bench.ask("one");
  const ConversationId id = bench.state().open.id;
  for (const bool on : {true, false}) {
    bench.controller = std::make_unique<ChatController>(ChatOptions(), bench.responder);
    bench.submit(OpenStored{id}), bench.settle();
    EXPECT_EQ(bench.state().open.drops_oldest, on);
    bench.submit(DropOldest{false}), bench.settle();
  }
}

TEST(ChatController, StoresWhatIsAskedBeforeAnAnswerBegins) {
  Bench bench;
  std::string stored;
  bench.responder->begins = [&] { stored = bench.stored(); };
  bench.ask("one");
  EXPECT_EQ(stored, "one");
  bench.ask("two");
  EXPECT_EQ(stored, "one > answer 1 > two");
  bench.submit(EditMessage{bench.message(2).key, "three"}), bench.settle();
  EXPECT_EQ(stored, "one > answer 1 > three /2");
}

TEST(ChatController, AMessageOutlivesAKillInTheFirstPass) {
  const StoreFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    for (const char* name : {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "HOME"})
      setenv(name, folder.path().c_str(), 1);
    const auto responder = std::make_shared<ScriptedResponder>();
    responder->begins = [] { raise(SIGKILL); };
    ChatController controller(ChatOptions(), responder);
    controller.submit(Send{"one"});
    while (true) controller.turn(std::chrono::milliseconds(1));
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const auto store = ConversationStore::open(folder.path() + "/warpchat").store;
  const std::vector<ConversationSummary> conversations = store->list();
  ASSERT_EQ(conversations.size(), 1u);
  EXPECT_EQ(store->load(conversations[0].id).turns.at(0).message.content, "one");
}

TEST(ChatController, KeepsWhatStreamsWhenItGoes) {
  Bench bench;
  bench.responder->known.at_once = 2;
  bench.responder->answers = {going_on({text("first")}), going_on({text("second")})};
  bench.ask("one");
  bench.submit(NewConversation{});
  bench.ask("two");
  const std::string second = bench.stored();
  bench.controller.reset();
  EXPECT_EQ(bench.responder->n_running, 0u);
}

}  // namespace
}  // namespace warpchat
