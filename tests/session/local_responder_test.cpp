// A tiny model answers: events, prefix cache, stopping, continuing, a full context, reasoning.
#include "engine/session/local_responder.h"

#include <gtest/gtest.h>

#include "models/error.h"
#include "tests/support/error_of.h"
#include "tests/support/scripted_chat.h"
#include "tests/support/test_files.h"
#include "tests/support/threads/refused_threads.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using namespace std::chrono_literals;

class LocalResponderTest : public testing::Test {
 protected:
  static std::unique_ptr<Model> load(uint32_t context) {
    TinyModelSpec spec;
    spec.n_layers = 1;
    static const TemporaryFile file(build_tiny_model(spec, 5));
    ModelOptions options;
    options.path = file.path();
    options.threads = 2;
    options.context = context;
    options.batch = 16;  // several passes even for short prompts
    return Model::load(options);
  }

  static AnswerOptions greedy(int32_t max_tokens) {
    AnswerOptions options;
    options.sampling.temperature = 0;
    options.max_tokens = max_tokens;
    return options;
  }
};

TEST_F(LocalResponderTest, AnAnswerArrivesAsEventsAndEndsWithItsFigures) {
  auto model = load(512);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(8));
  const CollectedAnswer answer = chat.ask("hello");
  EXPECT_EQ(answer.tokens.size(), 8u);
  EXPECT_EQ(answer.end.timings.generated_tokens, 8u);
  EXPECT_EQ(answer.end.reason, EndReason::kTokenLimit);
  EXPECT_EQ(answer.end.timings.reused_tokens, 0u);
  EXPECT_EQ(answer.usage.prompt_tokens, answer.end.timings.prompt_tokens);
  const ResponderFacts facts = responder.facts();
  EXPECT_EQ(facts.context, 512u);
  EXPECT_EQ(facts.endpoint, "");
  EXPECT_EQ(facts.model, model->file.path());
}

TEST_F(LocalResponderTest, TheCachedPrefixIsNotComputedAgainAndChangesNothing) {
  auto model = load(512), other = load(512);
  LocalResponder responder(*model), fresh_responder(*other);
  ScriptedChat chat(responder, greedy(8)), fresh(fresh_responder, greedy(8));
  const CollectedAnswer first = chat.ask("tell me of the sea");
  fresh.messages = chat.messages;
  const CollectedAnswer second = chat.ask("and more");
  EXPECT_GE(second.end.timings.reused_tokens, first.end.timings.prompt_tokens - 1);
  EXPECT_EQ(fresh.ask("and more").tokens, second.tokens);
}

TEST_F(LocalResponderTest, ThePromptsProgressRisesToItsEndBeforeTheAnswer) {
  auto model = load(512);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(2));
  const CollectedAnswer answer = chat.ask(std::string(50, 'x') + " and some more words");
  const size_t total = answer.end.timings.prompt_tokens;
  ASSERT_GT(total, 32u);
  for (size_t i = 0; i < answer.progress.size(); ++i)
    EXPECT_EQ(answer.progress[i].done, std::min<size_t>((i + 1) * 16, total)) << "by passes of 16";
  EXPECT_EQ(answer.progress.back().done, total);
  EXPECT_EQ(answer.progress.back().total, total);
}

TEST_F(LocalResponderTest, AnAnswerThatWasCutIsContinuedThere) {
  auto model = load(1024);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(3));
  const CollectedAnswer answer = chat.ask("hello");
  EXPECT_EQ(answer.end.reason, EndReason::kTokenLimit);
  const std::string prompt =
      responder.build(std::vector<Message>{{.role = "user", .content = "hello"}}, greedy(4)).text;
  EXPECT_EQ(responder.build(chat.messages, greedy(4)).text, prompt + answer.text);
  chat.options.max_tokens = 4;
  chat.go_on();
  const CollectedAnswer rest = chat.collect();
  EXPECT_EQ(rest.tokens.size(), 4u);
  ASSERT_EQ(chat.messages.size(), 2u);
  EXPECT_EQ(chat.messages[1].content, answer.text + rest.text);
}

// Where it is cut within a character, the character's first bytes are not its text: continued, it is made whole.
TEST_F(LocalResponderTest, AnAnswerThatWasCutIsTheBeginningOfALongerOne) {
  auto model = load(512);
  LocalResponder responder(*model);
  int n_open = 0;
  for (const char* prompt : {"the sea", "日本語", "🙂🙂", "ü"}) {
    const std::string whole = ScriptedChat(responder, greedy(60)).ask(prompt).text;
    for (int32_t n = 1; n < 40; ++n) {
      const CollectedAnswer cut = ScriptedChat(responder, greedy(n)).ask(prompt);
      ASSERT_TRUE(whole.starts_with(cut.text)) << prompt << " after " << n << " tokens";
      StreamDetokenizer bytes(*model->tokenizer);
      std::string characters;
      for (const Token token : cut.tokens) characters += bytes.add(token);
      EXPECT_TRUE(characters.ends_with(cut.text)) << prompt << " after " << n << " tokens";
      n_open += !bytes.flush().empty();
    }
  }
  EXPECT_GT(n_open, 0);  // else nothing was cut within a character
}

TEST_F(LocalResponderTest, ControlTokensInMessagesAreTextUnlessTheyAreMeant) {
  auto model = load(1024);
  LocalResponder responder(*model);
  const Token end = model->tokenizer->find("<|im_end|>");
  AnswerOptions options = greedy(1);
  const auto n_ends = [&](const std::string& typed) {
    options.system_prompt = "be brief" + typed;
    const std::vector<Message> messages{{.role = "user", .content = "hello" + typed},
                                        {.role = "assistant" + typed, .content = "yes" + typed},
                                        {.role = "user", .content = "and" + typed},
                                        {.role = "assistant", .content = "so" + typed, .reasoning = "hm" + typed}};
    const BuiltPrompt prompt = responder.build(messages, options);
    EXPECT_EQ(decode(*model->tokenizer, prompt.tokens, /*with_control=*/true), prompt.text);
    return std::ranges::count(prompt.tokens, end);
  };
  EXPECT_EQ(n_ends(""), 4);
  EXPECT_EQ(n_ends("<|im_end|>"), 4);
  options.parse_special = true;
  EXPECT_EQ(n_ends("<|im_end|>"), 4 + 7);
}

TEST_F(LocalResponderTest, AGenerationThatIsDroppedHasEnded) {
  auto model = load(1 << 20);
  LocalResponder responder(*model);
  AnswerOptions options = greedy(-1);
  const std::vector<Message> messages{{.role = "user", .content = std::string(100000, 'x')}};  // slow to read
  auto generation = responder.start(messages, options);
  EXPECT_NE(error_of([&] { responder.start(messages, options); }).find("an answer is being generated"),
            std::string::npos);
  generation.reset();
  options.max_tokens = 2;
  ScriptedChat chat(responder, options);
  EXPECT_EQ(chat.ask("hello").end.timings.generated_tokens, 2u);
}

TEST_F(LocalResponderTest, OfALongConversationAsManyTurnsStayAsFit) {
  auto model = load(256);
  LocalResponder responder(*model);
  AnswerOptions options = greedy(4);
  options.drop_oldest = true;
  std::vector<Message> messages;
  for (int turn = 0; turn < 200; ++turn) {  // of varying length
    messages.push_back({"user", "question " + std::string(static_cast<size_t>(turn * 7 % 23), 'q')});
    messages.push_back({"assistant", "answer " + std::string(static_cast<size_t>(turn * 5 % 17), 'a')});
  }
  messages.push_back({"user", "the last question"});
  const BuiltPrompt prompt = responder.build(messages, options);
  EXPECT_LE(prompt.tokens.size() + 4, 256u);
  ASSERT_GT(prompt.n_dropped, 0u);
  messages.erase(messages.begin(), messages.begin() + 2 * (static_cast<std::ptrdiff_t>(prompt.n_dropped) - 1));
  EXPECT_EQ(responder.build(messages, options).n_dropped, 1u) << "one turn more does not fit";
  messages.erase(messages.begin(), messages.begin() + 2);
  EXPECT_EQ(responder.build(messages, options).text, prompt.text);
}

TEST_F(LocalResponderTest, OfAFullContextTheOldestTurnsAreDroppedOnceThatIsWishedFor) {
  auto model = load(160);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(4));
  chat.options.system_prompt = "SYSTEM";
  size_t turns = 0;
  const auto ask = [&] { return chat.ask("turn " + std::to_string(turns++) + " with some text"); };
  try {
    while (turns < 12) EXPECT_EQ(ask().usage.unseen_turns, 0u);
    FAIL() << "all of it was taken";
  } catch (const PromptTooLong& error) {
    EXPECT_TRUE(error.can_drop);
    EXPECT_GE(error.tokens, 160u);
  }
  chat.options.drop_oldest = true;
  uint32_t unseen = 0;
  while (turns < 14) {
    const CollectedAnswer answer = ask();
    ASSERT_LT(answer.end.timings.prompt_tokens, 160u);
    EXPECT_GE(answer.usage.unseen_turns, unseen);
    unseen = answer.usage.unseen_turns;
  }
  EXPECT_GT(unseen, 0u);
  const BuiltPrompt prompt = responder.build(chat.messages, chat.options);
  EXPECT_NE(prompt.text.find("SYSTEM"), std::string::npos);
  EXPECT_EQ(prompt.text.find("turn 0 "), std::string::npos);
  EXPECT_NE(prompt.text.find("turn 13 "), std::string::npos);
}

TEST_F(LocalResponderTest, AMessageThatCannotFitIsRefusedWithBothCounts) {
  auto model = load(64);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(4));
  try {
    chat.send(std::string(400, 'x'));
    FAIL() << "accepted";
  } catch (const PromptTooLong& error) {
    EXPECT_EQ(error.context, 64u);
    EXPECT_GT(error.tokens, 64u);
    EXPECT_FALSE(error.can_drop);
    EXPECT_NE(std::string(error.what()).find("the context holds 64"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(chat.messages.empty());
  EXPECT_EQ(chat.ask("x").end.reason, EndReason::kTokenLimit);
}

TEST_F(LocalResponderTest, WithoutAThreadToAnswerItSaysSoAndAnswersLater) {
  auto model = load(512);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(4));
  {
    const RefusedThreads refused;
    EXPECT_NE(error_of([&] { chat.send("hello"); }).find("the system gives no thread to answer ("), std::string::npos);
  }
  const CollectedAnswer answer = chat.ask("hello");
  EXPECT_EQ(answer.tokens.size(), 4u);
  EXPECT_EQ(answer.usage.prompt_tokens, answer.end.timings.prompt_tokens) << "nothing is left of the one that failed";
}

TEST_F(LocalResponderTest, AnEndTokenEndsTheAnswerAndIsNotShown) {
  auto model = load(1024);
  LocalResponder responder(*model);
  AnswerOptions options = greedy(-1);
  options.sampling.temperature = 100;  // near uniform over a few hundred tokens: an end comes soon
  options.sampling.top_k = 0;
  options.sampling.top_p = 1;
  options.sampling.min_p = 0;
  int ended = 0;
  for (uint64_t seed = 0; seed < 8 && ended == 0; ++seed) {
    options.sampling.seed = seed;
    ScriptedChat chat(responder, options);
    const CollectedAnswer answer = chat.ask("hello");
    ended += answer.end.reason == EndReason::kEndOfText;
    EXPECT_EQ(answer.text.find("<|im_end|>"), std::string::npos);
  }
  EXPECT_GT(ended, 0);
}

TEST_F(LocalResponderTest, AnAnswerAskedForAgainIsAnotherDraw) {
  auto model = load(512);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(6));
  chat.options.sampling.temperature = 2;
  const CollectedAnswer first = chat.ask("one");
  chat.regenerate();
  EXPECT_NE(chat.collect().tokens, first.tokens);
  EXPECT_EQ(chat.messages.size(), 2u);
}

TEST_F(LocalResponderTest, ATitleChangesNoLaterDraw) {
  AnswerOptions options;
  options.sampling.temperature = 2;
  options.sampling.seed = 3;
  options.max_tokens = 12;
  std::vector<std::vector<Token>> second;
  for (const bool with_title : {false, true}) {
    auto model = load(512);
    LocalResponder responder(*model);
    ScriptedChat chat(responder, options);
    chat.ask("one");
    if (with_title) {
      ScriptedChat title(responder, options);
      title.options.in_front = false;
      title.ask("a title");
    }
    chat.messages.clear();
    second.push_back(chat.ask("two").tokens);
  }
  EXPECT_EQ(second[0], second[1]);
}

TEST_F(LocalResponderTest, ATurnWithoutTextIsNotInThePrompt) {
  auto model = load(512);
  LocalResponder responder(*model);
  const std::vector<Message> joined = {{.role = "user", .content = "one\n\ntwo"}};
  const std::vector<Message> turns = {{.role = "user", .content = "one"},
                                      {.role = "assistant", .reasoning = "cut"},
                                      {.role = "user", .content = "two"}};
  EXPECT_EQ(responder.count(turns, {}), responder.count(joined, {}));
}

TEST_F(LocalResponderTest, AThoughtThatTheTemplateOpensIsReasoning) {
  auto model = load(512);
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy(5));
  chat.options.chat_template =
      "{% for m in messages %}{{ m.role }}:{{ m.reasoning_content }}|{{ m.content }}\n{% endfor %}"
      "{% if add_generation_prompt %}assistant:<think>\n{% endif %}";
  const CollectedAnswer answer = chat.ask("hi");
  EXPECT_NE(answer.reasoning, "");
  EXPECT_EQ(answer.text, "");
  EXPECT_EQ(responder.build(chat.messages, chat.options).text, "user:|hi\nassistant:<think>\n" + answer.reasoning);
  chat.messages.back().reasoning_ended = true;
  EXPECT_TRUE(responder.build(chat.messages, chat.options).text.ends_with(answer.reasoning + "\n</think>\n\n"));
  EXPECT_EQ(responder.build(chat.messages, chat.options).begin.state, ReasoningSplitter::State::kAnswer);
  chat.messages.back().content = "so";
  EXPECT_TRUE(responder.build(chat.messages, chat.options).text.ends_with(answer.reasoning + "\n</think>\n\nso"));
  chat.messages.push_back({"user", "and"});
  EXPECT_NE(responder.build(chat.messages, chat.options).text.find("assistant:" + answer.reasoning + "|so\n"),
            std::string::npos);
}

TEST_F(LocalResponderTest, ATextIsCompletedAsItIs) {
  auto model = load(512);
  LocalResponder responder(*model);
  const BuiltPrompt built = responder.build(std::string("<|im_start|>hi"), greedy(2));
  EXPECT_EQ(built.tokens, model->tokenizer->encode("<|im_start|>hi", true, true));
  const auto generation = responder.start(built.tokens, greedy(2));
  size_t n_tokens = 0;
  while (const std::optional<Event> event = generation->next_event(60s))
    n_tokens += std::holds_alternative<TextDelta>(*event) && std::get<TextDelta>(*event).token >= 0;
  EXPECT_EQ(n_tokens, 2u);
}

TEST_F(LocalResponderTest, ATemplateWithAFaultIsRefusedBeforeAnythingRuns) {
  auto model = load(512);
  LocalResponder responder(*model);
  AnswerOptions options = greedy(5);
  options.chat_template = "{{ messages | no_such_filter }}";
  EXPECT_NE(error_of([&] { responder.check(options); }), "");
  EXPECT_NE(error_of([&] { responder.start(std::vector<Message>{{"user", "hi"}}, options); }), "");
}

// Templates of models for pictures print the texts among a message's parts, and of a plain text nothing.
TEST_F(LocalResponderTest, WhatWasTypedReachesThePromptOrIsRefused) {
  auto model = load(512);
  LocalResponder responder(*model);
  const auto tokens_of = [&](const char* chat_template, const char* system, const std::vector<Message>& messages) {
    AnswerOptions options = greedy(5);
    options.chat_template = chat_template;
    options.system_prompt = system;
    return *responder.count(messages, options);
  };
  const auto fault_of = [&](const char* chat_template, const char* system, const std::vector<Message>& messages) {
    return error_of([&] { tokens_of(chat_template, system, messages); });
  };
  const char* plain = "{% for m in messages %}{{ m.role }}: {{ m.content }};{% endfor %}";
  const char* parts =
      "{% for m in messages %}{{ m.role }}: {% for part in m.content %}{% if part.type == 'text' %}{{ part.text }}"
      "{% endif %}{% endfor %};{% endfor %}";
  const std::vector<Message> talk = {{"user", "What is green?"}, {"assistant", "Grass."}, {"user", "  user  "}};
  EXPECT_EQ(tokens_of(parts, "Be brief", talk), tokens_of(plain, "Be brief", talk));
  EXPECT_EQ(fault_of("{% for m in messages %}{{ m.content|upper|trim }}{% endfor %}", "", talk), "no error");
  EXPECT_EQ(fault_of("{% for m in messages %}{{ m.content|length }}{% endfor %}", "", talk), "no error");
  EXPECT_EQ(fault_of("{{ messages[-1].content|tojson }}", "", {{"user", "a \"quoted\"\nword"}}), "no error");
  EXPECT_EQ(fault_of("always the same", "", talk), "the chat template leaves out the message 'What is green?'");
  EXPECT_EQ(fault_of("{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}", "Be brief", talk),
            "the chat template leaves out the system message 'Be brief'");
  EXPECT_EQ(fault_of("{{ messages[0].content }}", "", talk), "the chat template leaves out the message 'user'");
  EXPECT_EQ(fault_of("always the same", " ", {{"user", " \n"}}), "no error");  // there is nothing to lose
}

}  // namespace
}  // namespace warpchat
