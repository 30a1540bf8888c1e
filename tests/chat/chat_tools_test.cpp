// Tools in conversations: questions about calls, what is stored and sent of them, and permissions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "app/mcp/mcp_config.h"
#include "tests/chat/chat_bench.h"

namespace warpchat {
namespace {

using testing::HasSubstr;
using testing::Not;
using enum CallStatus;

Event calculates(const std::string& expression, uint32_t index = 0) {
  return ToolCallDelta{index, "", "warpchat__calculate", R"({"expression": ")" + expression + R"("})"};
}
Answer whole(std::vector<Event> events) { return {std::move(events), EndReason::kEndOfText}; }

class ChatTools : public testing::Test {
 protected:
  ChatTools() { start("none"); }

  void start(const std::string& approve) {
    ChatOptions options;
    options.tools = true;
    options.approve = approve;
    bench_.controller = std::make_unique<ChatController>(options, bench_.responder);
    settle();
  }
  // The end of a call comes from its thread.
  void settle() {
    bench_.settle();
    for (int i = 0; i < 2000 && is_calling(); ++i) bench_.settle();
  }
  bool is_calling() const {
    const auto& messages = bench_.state().open.messages;
    return !messages.empty() && std::ranges::count(messages.back().tool_calls, kRunning, &ToolCall::status) > 0;
  }
  void answers(std::vector<Answer> all) { bench_.responder->answers.assign(all.begin(), all.end()); }
  void ask(const std::string& what) { bench_.submit(Send{what}), settle(); }
  void decide(bool is_allowed, Permission permission = Permission::kAsk) {
    const ToolCall* asked = asked_call(answer());
    ASSERT_NE(asked, nullptr);
    bench_.submit(DecideCall{answer().key, asked->id, is_allowed, permission}), settle();
  }
  const ChatMessage& answer() const { return bench_.state().open.messages.back(); }
  std::string last_notice() const { return bench_.state().notices.empty() ? "" : bench_.state().notices.back().text; }

  Bench bench_;
};

TEST_F(ChatTools, ACallIsMadeOnceItIsAllowed) {
  answers({whole({text("I compute."), calculates("6 * 7")}), whole({text("It is 42.")})});
  ask("what is 6 times 7?");
  ASSERT_NE(asked_call(answer()), nullptr);
  EXPECT_EQ(asked_call(answer())->arguments, R"({"expression":"6 * 7"})");
  EXPECT_EQ(answer().status, MessageStatus::kStreaming);
  EXPECT_EQ(bench_.responder->seen.size(), 1u) << "nothing goes on before the answer";
  bench_.submit(DecideCall{answer().key, "another call", true}), settle();
  EXPECT_NE(asked_call(answer()), nullptr);
  decide(true);
  EXPECT_EQ(bench_.shown(), "what is 6 times 7? > It is 42.");
  ASSERT_EQ(answer().rounds.size(), 1u);
  EXPECT_EQ(answer().rounds[0].content, "I compute.");
  EXPECT_EQ(answer().rounds[0].calls.at(0).result, "42");
  ASSERT_EQ(bench_.responder->seen.size(), 2u);
  EXPECT_EQ(bench_.responder->seen[1].back().content, "42");
  EXPECT_EQ(bench_.responder->seen[1].back().role, "tool");

  const Message before = answer();
  const ConversationId id = bench_.state().open.id;
  start("none");
  bench_.submit(OpenStored{id}), settle();
  EXPECT_EQ(static_cast<const Message&>(answer()), before) << "stored as it was";
  answers({whole({text("Yes.")})});
  ask("sure?");
  const std::vector<Message>& seen = bench_.responder->seen.back();
  ASSERT_EQ(seen.size(), 5u);
  EXPECT_EQ(seen[1].tool_calls.at(0).name, "warpchat__calculate");
  EXPECT_EQ(seen[2].content, "42");
  EXPECT_EQ(seen[3].content, "It is 42.");
}

TEST_F(ChatTools, ADeniedCallIsToldToTheModel) {
  answers({whole({calculates("1")}), whole({text("Then not.")})});
  ask("one?");
  decide(false);
  EXPECT_EQ(answer().rounds.at(0).calls.at(0).status, kDenied);
  EXPECT_THAT(bench_.responder->seen.back().back().content, HasSubstr("denied"));
  EXPECT_EQ(bench_.shown(), "one? > Then not.");
}

TEST_F(ChatTools, AlwaysHoldsForOneToolInOneConversation) {
  answers({whole({calculates("1"), calculates("2", 1)}), whole({calculates("3")}), whole({text("done")})});
  ask("go");
  decide(true, Permission::kConversation);
  EXPECT_EQ(bench_.shown(), "go > done");
  EXPECT_EQ(answer().rounds.size(), 2u);
  const ConversationId first = bench_.state().open.id;
  answers({whole({ToolCallDelta{0, "", "warpchat__now", "{}"}}), whole({text("late")})});
  ask("what time is it?");
  EXPECT_NE(asked_call(answer()), nullptr) << "another tool";
  decide(true);

  bench_.submit(NewConversation{}), settle();
  answers({whole({calculates("4")}), whole({text("four")})});
  ask("again");
  EXPECT_NE(asked_call(answer()), nullptr) << "another conversation";
  decide(false);
  bench_.submit(OpenStored{first}), settle();
  answers({whole({calculates("5")}), whole({text("five")})});
  ask("five?");
  EXPECT_EQ(answer().content, "five") << "it is the same conversation as before";
}

TEST_F(ChatTools, LastingPermissionsAreOfTheUser) {
  answers({whole({calculates("1")}), whole({text("one")}), whole({calculates("1")}), whole({text("two")})});
  ask("go");
  decide(true, Permission::kAlways);
  start("none");
  ask("go");
  EXPECT_EQ(answer().content, "two");
  bench_.submit(SetToolPermission{"warpchat__calculate", Permission::kNever}), settle();
  answers({whole({calculates("1")}), whole({text("three")})});
  ask("go");
  EXPECT_EQ(answer().rounds.at(0).calls.at(0).status, kDenied);
  EXPECT_THAT(last_notice(), HasSubstr("as you have chosen"));
  bench_.submit(SetToolPermission{"warpchat__nothing", Permission::kNever}), settle();
  EXPECT_THAT(last_notice(), HasSubstr("no tool warpchat__nothing"));
}

TEST_F(ChatTools, StoppingEndsTheQuestion) {
  answers({whole({text("Wait."), calculates("1")})});
  ask("go");
  const DecideCall late{answer().key, asked_call(answer())->id, true};
  bench_.stop();
  EXPECT_EQ(asked_call(answer()), nullptr);
  EXPECT_EQ(bench_.shown(), "go > Wait. (stopped)");
  bench_.submit(late), settle();
  EXPECT_EQ(bench_.responder->seen.size(), 1u);
  bench_.submit(ContinueAnswer{bench_.last()}), settle();
  EXPECT_EQ(bench_.shown(), "go > Wait.answer 2");
  EXPECT_TRUE(answer().tool_calls.empty());
}

TEST_F(ChatTools, WhatWasCalledIsStoredBeforeTheAnswerEnds) {
  start("all");
  answers({whole({calculates("6 * 7")}), going_on({})});
  ask("go");
  const auto store = ConversationStore::open(bench_.path("warpchat")).store;
  const Turn stored = store->load(bench_.state().open.id).turns.back();
  EXPECT_EQ(stored.state, TurnState::kOpen);
  ASSERT_EQ(stored.message.rounds.size(), 1u);
  EXPECT_EQ(stored.message.rounds[0].calls.at(0).result, "42");
  bench_.stop();
  EXPECT_EQ(answer().rounds.size(), 1u);
  bench_.submit(ContinueAnswer{bench_.last()}), settle();
  EXPECT_EQ(bench_.responder->seen.back().back().role, "tool") << "it goes on behind the result";
}

TEST_F(ChatTools, AQuestionOfAnotherConversationIsTold) {
  bench_.responder->known.at_once = 2;
  answers({whole({calculates("1")}), whole({text("one")})});
  bench_.submit(Send{"first"});
  bench_.submit(NewConversation{}), settle();
  EXPECT_THAT(last_notice(), HasSubstr("'first' asks whether a tool may be called"));
  bench_.submit(OpenStored{1}), settle();
  decide(true);
  EXPECT_EQ(bench_.shown(), "first > one");
}

TEST_F(ChatTools, AreListedWithTheirPermissions) {
  bench_.submit(ListTools{}), settle();
  const OfferedTools& offered = bench_.state().tools;
  ASSERT_EQ(offered.tools.size(), 2u);
  EXPECT_EQ(offered.tools[0].name, "warpchat__calculate");
  EXPECT_THAT(offered.tools[0].schema, HasSubstr("expression"));
  bench_.submit(SetToolPermission{"warpchat__calculate", Permission::kConversation}), settle();
  EXPECT_EQ(bench_.state().tools.tools[0].permission, Permission::kConversation);
  bench_.submit(NewConversation{}), settle();
  EXPECT_EQ(bench_.state().tools.tools[0].permission, Permission::kAsk);
  bench_.submit(OpenFolder{bench_.path("nothing")}), settle();
  EXPECT_THAT(last_notice(), HasSubstr("nothing"));
  bench_.submit(OpenFolder{bench_.path("")}), settle();
  EXPECT_EQ(bench_.state().tools.tools.size(), 4u);
  EXPECT_EQ(bench_.state().tools.folders.size(), 1u);
}

TEST_F(ChatTools, ServersOfAFileAreShownBeforeTheyAreStarted) {
  const std::string file = bench_.path("import.json"), kept = bench_.path("warpchat/mcp.json");
  const auto write = [&](const std::string& argument) {
    std::ofstream(file) << R"({"mcpServers": {"s": {"command": "/no/such/program", "args": [")" << argument
                        << R"("], "env": {"KEY": "secret"}}, "off": {"command": "x", "disabled": true}}})";
  };
  write("a b");
  bench_.submit(ReadToolServers{file}), settle();
  ASSERT_TRUE(bench_.state().tools.import.has_value());
  EXPECT_EQ(bench_.state().tools.import->n_servers, 1u);
  EXPECT_THAT(bench_.state().tools.import->shown, HasSubstr(R"(runs ["/no/such/program","a b"])"));
  EXPECT_THAT(bench_.state().tools.import->shown, HasSubstr("KEY"));
  EXPECT_THAT(bench_.state().tools.import->shown, Not(HasSubstr("secret")));
  bench_.submit(AddToolServers{false}), settle();
  EXPECT_FALSE(bench_.state().tools.import.has_value());
  EXPECT_FALSE(std::filesystem::exists(kept));

  bench_.submit(ReadToolServers{file}), settle();
  bench_.submit(AddToolServers{true}), settle();
  for (int i = 0; i < 2000 && bench_.state().tools.is_opening; ++i) bench_.settle();
  EXPECT_THAT(last_notice(), HasSubstr("MCP server 's'"));
  EXPECT_EQ(read_mcp_config("").servers.at(0).environment.at("KEY"), "secret");
  EXPECT_EQ(bench_.state().tools.servers.at(0).name, "s");

  write("other");
  bench_.submit(ReadToolServers{file}), settle();
  bench_.submit(AddToolServers{true}), settle();
  EXPECT_THAT(last_notice(), HasSubstr("has another server 's'"));
  bench_.submit(ReadToolServers{bench_.path("missing.json")}), settle();
  EXPECT_THAT(last_notice(), HasSubstr("missing.json"));
}

TEST_F(ChatTools, TitlesAreAskedForBehindTheSamePrompt) {
  bench_.name_by_model();
  answers({whole({text("Hello.")}), whole({text("Greetings at noon")})});
  ask("hi");
  ASSERT_EQ(bench_.responder->options_seen.size(), 2u);
  EXPECT_EQ(bench_.responder->options_seen[1].tools.size(), 2u);
  EXPECT_EQ(bench_.state().open.title, "Greetings at noon");
}

TEST_F(ChatTools, AreNotOfferedToATemplateWithoutAPlace) {
  bench_.responder->known.can_call_tools = false;
  start("all");
  EXPECT_THAT(last_notice(), HasSubstr("has no place for tools"));
  ask("hi");
  EXPECT_TRUE(bench_.responder->options_seen.back().tools.empty());
}

}  // namespace
}  // namespace warpchat
