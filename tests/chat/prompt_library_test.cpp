// The library of prompts through the chat controller: what a front end sees after each action.
#include <gmock/gmock.h>

#include <fstream>

#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

struct PromptScenario {
  const char* name;
  void (*steps)(Bench&);
  const char* prompts;    // "name: text, ..." at the end
  const char* says = "";  // in the last notice
};

const PromptScenario kPromptScenarios[] = {
    {"saved",
     [](Bench& b) {
       b.submit(SavePrompt{"greet", "Hello {name}\n"});
     },
     "greet: Hello {name}", "saved as the prompt 'greet'"},
    {"a_new_one_replaces_none",
     [](Bench& b) {
       b.submit(SavePrompt{"greet", "Hello"}), b.submit(SavePrompt{"greet", "Bye"});
     },
     "greet: Hello", "there is a prompt 'greet' already; choose another name"},
    {"changed",
     [](Bench& b) {
       b.submit(SavePrompt{"greet", "Hello"}), b.submit(SavePrompt{"greet", "Bye", "greet"});
     },
     "greet: Bye", "saved as the prompt 'greet'"},
    {"renamed",
     [](Bench& b) {
       b.submit(SavePrompt{"a", "Hello"}), b.submit(SavePrompt{"b", "Hello", "a"});
     },
     "b: Hello", "saved as the prompt 'b'"},
    {"not_renamed_to_another_one",
     [](Bench& b) {
       b.submit(SavePrompt{"a", "one"}), b.submit(SavePrompt{"b", "two"}), b.submit(SavePrompt{"b", "one", "a"});
     },
     "a: one, b: two", "there is a prompt 'b' already"},
    {"changed_after_another_program_has_removed_it",
     [](Bench& b) {
       b.submit(SavePrompt{"a", "one"}), b.submit(RemovePrompt{"a"}), b.submit(SavePrompt{"b", "two", "a"});
     },
     "b: two", "saved as the prompt 'b'"},
    {"a_bad_name",
     [](Bench& b) {
       b.submit(SavePrompt{"../x", "one"});
     },
     "", "'../x' cannot name the prompt"},
    {"no_text",
     [](Bench& b) {
       b.submit(SavePrompt{"x", " "});
     },
     "", "a prompt needs a text"},
    {"removed",
     [](Bench& b) {
       b.submit(SavePrompt{"a", "one"}), b.submit(RemovePrompt{"a"});
     },
     "", "the prompt 'a' was removed"},
    {"removed_twice",
     [](Bench& b) {
       b.submit(SavePrompt{"a", "one"}), b.submit(RemovePrompt{"a"}), b.submit(RemovePrompt{"a"});
     },
     "", "there is no prompt 'a'"},
    {"files_that_others_write_are_listed",
     [](Bench& b) {
       b.submit(SavePrompt{"a", "one"});
       std::ofstream(b.path("warpchat/prompts/b.md")) << "two";
       std::ofstream(b.path("warpchat/prompts/c.md")) << "\n";
       b.submit(ListPrompts{});
     },
     "a: one, b: two, c: !"},
    {"while_an_answer_streams",
     [](Bench& b) {
       b.responder->answers = {going_on({text("half")})};
       b.ask("one");
       b.submit(SavePrompt{"a", "one"}), b.settle();
       EXPECT_EQ(b.shown(), "one > half (streams)");
     },
     "a: one", "saved as the prompt 'a'"},
};

class PromptLibrary : public testing::TestWithParam<PromptScenario> {};
TEST_P(PromptLibrary, PromptScenario) {
  Bench b;
  GetParam().steps(b);
  b.settle();
  std::string prompts;
  for (const LibraryPrompt& prompt : b.state().prompts)
    prompts += (prompts.empty() ? "" : ", ") + prompt.name + ": " + (prompt.fault.empty() ? prompt.text : "!");
  EXPECT_EQ(prompts, GetParam().prompts);
  const std::string said = b.state().notices.empty() ? "" : b.state().notices.back().text;
  EXPECT_THAT(said, testing::HasSubstr(GetParam().says));
  EXPECT_EQ(b.replayed, b.state()) << "the updates give the state";
}
INSTANTIATE_TEST_SUITE_P(Rows, PromptLibrary, testing::ValuesIn(kPromptScenarios),
                         [](const auto& test) { return test.param.name; });

TEST(PromptLibrary, CountsWhatWasSaved) {
  Bench b;
  b.submit(SavePrompt{"a", "one"}), b.submit(SavePrompt{"a", "two"}), b.settle();
  EXPECT_EQ(b.state().saved_prompts, 1u);
}

}  // namespace
}  // namespace warpchat
