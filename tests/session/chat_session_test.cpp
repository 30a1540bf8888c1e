// Conversations with a tiny model: events, what the cache saves, stopping, a full context, and turns changed
// afterwards.
#include "engine/session/chat_session.h"

#include <gtest/gtest.h>

#include "models/error.h"
#include "tests/support/error_of.h"
#include "tests/support/test_files.h"
#include "tests/support/threads/refused_threads.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using namespace std::chrono_literals;

struct Answer {
  std::string text;
  std::vector<Token> tokens;
  std::vector<std::string> notices;
  GenerationEnd end;
};

// Drains the running generation. An event that never comes fails the test instead of hanging it.
Answer collect(ChatSession& session, size_t stop_after = SIZE_MAX) {
  Answer answer;
  for (;;) {
    std::optional<Event> event = session.next_event(60s);
    if (!event) {
      ADD_FAILURE() << "no event for a minute";
      return answer;
    }
    if (auto* delta = std::get_if<TextDelta>(&*event)) {
      answer.text += delta->text;
      if (delta->token >= 0) answer.tokens.push_back(delta->token);
      if (answer.tokens.size() == stop_after) session.stop();
    }
    if (auto* notice = std::get_if<Notice>(&*event)) answer.notices.push_back(notice->text);
    if (auto* end = std::get_if<GenerationEnd>(&*event)) {
      answer.end = *end;
      return answer;
    }
  }
}

class ChatSessionTest : public testing::Test {
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

  static SessionOptions greedy(int32_t max_tokens) {
    SessionOptions options;
    options.sampling.temperature = 0;
    options.max_tokens = max_tokens;
    return options;
  }
};

TEST_F(ChatSessionTest, AnAnswerArrivesAsEventsAndBecomesATurn) {
  auto model = load(512);
  ChatSession session(*model, greedy(8));
  session.send("hello");
  const Answer answer = collect(session);
  ASSERT_EQ(session.messages().size(), 2u);
  EXPECT_EQ(session.messages()[0].content, "hello");
  EXPECT_EQ(session.messages()[1].role, "assistant");
  EXPECT_EQ(session.messages()[1].content, answer.text);
  EXPECT_EQ(answer.end.timings.generated_tokens, 8u);
  EXPECT_EQ(answer.end.reason, EndReason::kTokenLimit);
  EXPECT_EQ(answer.end.timings.reused_tokens, 0u);
  EXPECT_FALSE(session.busy());
  EXPECT_EQ(session.context_used(), answer.end.timings.prompt_tokens + 8);
}

TEST_F(ChatSessionTest, TheCachedPrefixIsNotComputedAgainAndChangesNothing) {
  auto model = load(512), other = load(512);
  ChatSession session(*model, greedy(8)), fresh(*other, greedy(8));
  session.send("tell me of the sea");
  const Answer first = collect(session);
  session.send("and more");
  const Answer second = collect(session);
  EXPECT_GE(second.end.timings.reused_tokens, first.end.timings.prompt_tokens - 1);

  fresh.restore({{"user", "tell me of the sea"}, {"assistant", first.text}});
  fresh.send("and more");
  EXPECT_EQ(collect(fresh).tokens, second.tokens);
}

TEST_F(ChatSessionTest, ThePromptsProgressRisesToItsEndBeforeTheAnswer) {
  auto model = load(512);
  ChatSession session(*model, greedy(2));
  session.send(std::string(50, 'x') + " and some more words");
  std::vector<uint32_t> done;
  uint32_t total = 0;
  bool answered = false;
  for (std::optional<Event> event; (event = session.next_event(60s));) {
    if (const auto* progress = std::get_if<PromptProgress>(&*event)) {
      EXPECT_FALSE(answered);
      done.push_back(progress->done);
      total = progress->total;
    }
    answered |= std::holds_alternative<TextDelta>(*event);
    if (std::holds_alternative<GenerationEnd>(*event)) break;
  }
  ASSERT_GT(total, 32u);
  for (size_t i = 0; i < done.size(); ++i)
    EXPECT_EQ(done[i], std::min<size_t>((i + 1) * 16, total)) << "by passes of 16";
  EXPECT_EQ(done.back(), total);
}

// The context is so long that no scheduler lets the worker reach its end before the reader has seen three tokens.
TEST_F(ChatSessionTest, StopEndsAGenerationThatWouldGoOn) {
  auto model = load(1 << 20);
  Generator generator(*model);
  GenerationRequest request;
  request.prompt = model->tokenizer->encode("hello", false, false);
  request.sampling.temperature = 0;
  request.ignore_end = true;
  generator.start(request);
  size_t n_tokens = 0;
  for (bool ended = false; !ended;) {
    const std::optional<Event> event = generator.events().pop(60s);
    ASSERT_TRUE(event) << "no event for a minute";
    if (std::holds_alternative<TextDelta>(*event) && ++n_tokens == 3) generator.stop();
    if (auto* end = std::get_if<GenerationEnd>(&*event)) {
      ended = true;
      EXPECT_EQ(end->reason, EndReason::kStopped);
      EXPECT_GE(end->timings.generated_tokens, 3u);
    }
  }
  EXPECT_FALSE(generator.busy());
}

TEST_F(ChatSessionTest, AStoppedAnswerKeepsItsText) {
  auto model = load(1024);
  ChatSession session(*model, greedy(900));
  session.send("hello");
  const Answer answer = collect(session, 3);
  EXPECT_GE(answer.tokens.size(), 3u);
  EXPECT_EQ(session.messages().back().content, answer.text);
}

TEST_F(ChatSessionTest, StoppedBeforeAnyTextTheQuestionStays) {
  auto model = load(1024);
  ChatSession session(*model, greedy(900));
  session.send("hello");
  session.stop();
  const Answer answer = collect(session);
  if (answer.text.empty()) {
    ASSERT_EQ(session.messages().size(), 1u);
    session.regenerate();
    session.stop();
    collect(session);
  }
  EXPECT_EQ(session.messages()[0].content, "hello");
}

TEST_F(ChatSessionTest, OfALongConversationAsManyTurnsStayAsFit) {
  auto model = load(256);
  ChatSession session(*model, greedy(4));
  std::vector<Message> messages;
  for (int turn = 0; turn < 200; ++turn) {  // of lengths that differ
    messages.push_back({"user", "question " + std::string(static_cast<size_t>(turn * 7 % 23), 'q')});
    messages.push_back({"assistant", "answer " + std::string(static_cast<size_t>(turn * 5 % 17), 'a')});
  }
  messages.push_back({"user", "the last question"});
  session.restore(messages);
  const ChatSession::Prompt prompt = session.build_prompt();
  EXPECT_LE(prompt.tokens.size() + 4, 256u);
  ASSERT_GT(prompt.n_dropped, 0u);
  messages.erase(messages.begin(), messages.begin() + 2 * (static_cast<std::ptrdiff_t>(prompt.n_dropped) - 1));
  session.restore(messages);
  EXPECT_EQ(session.build_prompt().n_dropped, 1u) << "one turn more does not fit";
  messages.erase(messages.begin(), messages.begin() + 2);
  session.restore(messages);
  EXPECT_EQ(session.build_prompt().text, prompt.text);
}

TEST_F(ChatSessionTest, AFullContextDropsTheOldestTurnsKeepsTheSystemPromptAndSaysSo) {
  auto model = load(160);
  SessionOptions options = greedy(4);
  options.system_prompt = "SYSTEM";
  ChatSession session(*model, options);
  bool told = false;
  for (int turn = 0; turn < 12; ++turn) {
    session.send("turn " + std::to_string(turn) + " with some text");
    const Answer answer = collect(session);
    ASSERT_LT(answer.end.timings.prompt_tokens, 160u);
    told |= !answer.notices.empty();
  }
  EXPECT_TRUE(told);
  EXPECT_EQ(session.messages().size(), 24u) << "the user's text is never deleted";
  const ChatSession::Prompt prompt = session.build_prompt();
  EXPECT_GT(prompt.n_dropped, 0u);
  EXPECT_NE(prompt.text.find("SYSTEM"), std::string::npos);
  EXPECT_EQ(prompt.text.find("turn 0 "), std::string::npos);
  EXPECT_NE(prompt.text.find("turn 11 "), std::string::npos);
}

TEST_F(ChatSessionTest, ATurnThatCannotFitIsRefusedWithBothCountsAndNothingChanges) {
  auto model = load(64);
  ChatSession session(*model, greedy(4));
  try {
    session.send(std::string(400, 'x'));
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the context holds 64"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(session.messages().empty());
  session.send("x");
  EXPECT_EQ(collect(session).end.reason, EndReason::kTokenLimit);
}

TEST_F(ChatSessionTest, WithoutAThreadToAnswerNothingChanges) {
  auto model = load(512);
  ChatSession session(*model, greedy(4));
  session.send("hello");
  const std::string answer = collect(session).text;
  const std::vector<Message> before = session.messages();
  {
    const RefusedThreads refused;
    for (const auto& action : std::initializer_list<std::function<void()>>{
             [&] { session.send("again"); }, [&] { session.regenerate(); }, [&] { session.edit_last("other"); }}) {
      EXPECT_NE(error_of(action).find("the system gives no thread to answer ("), std::string::npos);
      EXPECT_FALSE(session.busy());
      ASSERT_EQ(session.messages().size(), before.size());
      EXPECT_EQ(session.messages().back().content, before.back().content);
    }
  }
  session.regenerate();
  EXPECT_EQ(collect(session).text, answer);
}

TEST_F(ChatSessionTest, AnAnswerEndsWhereTheContextDoes) {
  auto model = load(64);
  Generator generator(*model);
  GenerationRequest request;
  request.prompt = model->tokenizer->encode("abc", false, false);
  request.sampling.temperature = 0;
  request.ignore_end = true;
  generator.start(request);
  generator.wait();
  size_t n_tokens = 0;
  while (auto event = generator.events().try_pop()) {
    n_tokens += std::holds_alternative<TextDelta>(*event) && std::get<TextDelta>(*event).token >= 0;
    if (auto* end = std::get_if<GenerationEnd>(&*event)) {
      EXPECT_EQ(end->reason, EndReason::kContextFull);
    }
  }
  EXPECT_EQ(n_tokens, 64 - request.prompt.size());
}

TEST_F(ChatSessionTest, AnEndTokenEndsTheAnswerAndIsNotShown) {
  auto model = load(1024);
  SessionOptions options = greedy(-1);
  options.sampling.temperature = 100;  // near uniform over a few hundred tokens: an end comes soon
  options.sampling.top_k = 0;
  options.sampling.top_p = 1;
  options.sampling.min_p = 0;
  ChatSession session(*model, options);
  int ended = 0;
  for (uint64_t seed = 0; seed < 8 && ended == 0; ++seed) {
    session.clear();
    session.options().sampling.seed = seed;
    session.send("hello");
    const Answer answer = collect(session);
    ended += answer.end.reason == EndReason::kEndOfText;
    EXPECT_EQ(answer.text.find("<|im_end|>"), std::string::npos);
  }
  EXPECT_GT(ended, 0);
}

TEST_F(ChatSessionTest, TurnsCanBeEditedUndoneAndAskedAgain) {
  auto model = load(512);
  SessionOptions options = greedy(6);
  options.sampling.temperature = 2;
  ChatSession session(*model, options);
  session.send("one");
  const Answer first = collect(session);
  session.regenerate();
  const Answer again = collect(session);
  EXPECT_NE(first.tokens, again.tokens) << "another draw";
  ASSERT_EQ(session.messages().size(), 2u);
  session.edit_last("two");
  collect(session);
  ASSERT_EQ(session.messages().size(), 2u);
  EXPECT_EQ(session.messages()[0].content, "two");
  session.undo();
  EXPECT_TRUE(session.messages().empty());
  EXPECT_THROW(session.regenerate(), Error);
  EXPECT_THROW(session.edit_last("x"), Error);
}

TEST_F(ChatSessionTest, AThoughtThatTheTemplateOpensIsKeptWithItsTag) {
  auto model = load(512);
  SessionOptions options = greedy(5);
  options.chat_template =
      "{% for m in messages %}{{ m.role }}:{{ m.content }}\n{% endfor %}"
      "{% if add_generation_prompt %}assistant:<think>\n{% endif %}";
  ChatSession session(*model, options);
  session.send("hi");
  bool thinking = false;
  while (auto event = session.next_event(60s)) {
    if (auto* delta = std::get_if<TextDelta>(&*event)) thinking |= delta->thinking;
    if (std::holds_alternative<GenerationEnd>(*event)) break;
  }
  EXPECT_TRUE(thinking);
  EXPECT_TRUE(session.messages().back().content.starts_with("<think>\n"));
}

TEST_F(ChatSessionTest, ATemplateWithAFaultIsRefusedBeforeAnythingRuns) {
  auto model = load(512);
  SessionOptions options = greedy(5);
  options.chat_template = "{{ messages | no_such_filter }}";
  EXPECT_THROW(
      {
        ChatSession session(*model, options);
        session.send("hi");
      },
      Error);
}

}  // namespace
}  // namespace warpchat
