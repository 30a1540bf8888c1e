// Answers in a given form: whatever a model prefers, the text keeps to a schema or a grammar, and thoughts are free.
#include "engine/session/held_answer.h"

#include <gtest/gtest.h>

#include <random>

#include "engine/grammar/answer_constraint.h"
#include "engine/session/local_responder.h"
#include "models/error.h"
#include "tests/support/error_of.h"
#include "tests/support/scripted_chat.h"
#include "tests/support/scripted_model.h"
#include "tests/support/test_files.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using Kind = AnswerForm::Kind;

const AnswerForm kPoint = {Kind::kSchema,
                           R"({"type": "object", "additionalProperties": false, "required": ["x", "name"],
  "properties": {"x": {"type": "integer", "minimum": -20, "maximum": 300}, "name": {"enum": ["the sea", "Hello", "ü\n"]},
                 "more": {"type": "string", "maxLength": 4}}})"};
const AnswerForm kYes = {Kind::kGrammar, R"(root ::= "yes" | "no" | "yes, " [a-z]{2,4})"};

bool keeps_to(const AnswerForm& form, const std::string& text) {
  return grammar::compile(form)->check(text).is_accepted;
}

bool may_begin(const AnswerForm& form, const std::string& text) {
  const auto constraint = grammar::compile(form);
  return constraint->advance(constraint->start(), text) != grammar::kRejected;
}

std::unique_ptr<Model> load(const std::vector<std::byte>& bytes) {
  static std::vector<std::unique_ptr<TemporaryFile>> files;  // mapped while the models live
  files.push_back(std::make_unique<TemporaryFile>(bytes));
  ModelOptions options;
  options.path = files.back()->path();
  options.threads = 2;
  options.context = 512;
  return Model::load(options);
}

AnswerOptions in_form(const AnswerForm& form, float temperature = 0, int32_t max_tokens = 200) {
  AnswerOptions options;
  options.sampling.temperature = temperature;
  options.sampling.min_p = 0;
  options.max_tokens = max_tokens;
  options.form = form;
  return options;
}

class RandomModel : public testing::TestWithParam<TinyVocabulary> {
 protected:
  static std::unique_ptr<Model> model() {
    TinyModelSpec spec;
    spec.n_layers = 1;
    spec.vocabulary = GetParam();
    return load(build_tiny_model(spec, 5));
  }
};

TEST_P(RandomModel, KeepsToTheFormAtAnyTemperature) {
  auto loaded = model();
  LocalResponder responder(*loaded);
  int n_whole = 0;
  for (uint64_t seed = 0; seed < 24; ++seed) {
    const AnswerForm& form = seed % 3 == 0 ? kYes : kPoint;
    AnswerOptions options = in_form(form, seed < 3 ? 0.0f : seed % 2 == 0 ? 1.0f : 3.0f);
    options.sampling.seed = seed;
    options.sampling.top_k = seed % 4 == 0 ? 0 : 40;
    options.sampling.repeat_penalty = seed % 5 == 0 ? 1.5f : 1.0f;
    const CollectedAnswer answer = ScriptedChat(responder, options).ask("hello");
    ASSERT_NE(answer.end.reason, EndReason::kFailed) << answer.end.error;
    const bool is_whole = answer.end.reason == EndReason::kEndOfText;
    EXPECT_TRUE(is_whole ? keeps_to(form, answer.text) : may_begin(form, answer.text)) << answer.text;
    n_whole += is_whole;
  }
  EXPECT_GT(n_whole, 12);
}

TEST_P(RandomModel, WritesTheSameWithoutDrafts) {
  auto loaded = model();
  for (uint64_t seed = 0; seed < 6; ++seed) {
    CollectedAnswer answers[2];
    for (const bool drafts : {false, true}) {
      LocalResponder responder(*loaded);
      AnswerOptions options = in_form(kPoint, 1.0f);
      options.sampling.seed = seed, options.drafts = drafts;
      answers[drafts] = ScriptedChat(responder, options).ask("hello");
    }
    EXPECT_EQ(answers[0].tokens, answers[1].tokens) << seed;
  }
}

TEST_P(RandomModel, ContinuesAnAnswerThatWasCut) {
  auto loaded = model();
  LocalResponder responder(*loaded);
  ScriptedChat chat(responder, in_form(kPoint, 0, /*max_tokens=*/5));
  const CollectedAnswer cut = chat.ask("hello");
  EXPECT_EQ(cut.end.reason, EndReason::kTokenLimit);
  EXPECT_TRUE(may_begin(kPoint, cut.text)) << cut.text;
  chat.options.max_tokens = 200;
  chat.go_on();
  const CollectedAnswer rest = chat.collect();
  EXPECT_EQ(rest.end.reason, EndReason::kEndOfText) << rest.end.error;
  EXPECT_TRUE(keeps_to(kPoint, chat.messages.back().content)) << chat.messages.back().content;
  chat.messages.back().content = "maybe";
  EXPECT_NE(error_of([&] { chat.go_on(); }).find("so far does not keep to its form: at byte 0"), std::string::npos);
}

TEST_P(RandomModel, TheLastTokenOfATextIsTheLastOfTheAnswer) {
  auto loaded = model();
  LocalResponder responder(*loaded);
  const auto ask = [&](int32_t max_tokens) {
    return ScriptedChat(responder, in_form({Kind::kGrammar, R"(root ::= "yes")"}, 0, max_tokens)).ask("hello");
  };
  const CollectedAnswer whole = ask(200);
  EXPECT_EQ(whole.text, "yes");
  const auto n_tokens = static_cast<int32_t>(whole.end.timings.generated_tokens);
  EXPECT_EQ(ask(n_tokens).end.reason, EndReason::kEndOfText);
  EXPECT_EQ(ask(n_tokens - 1).end.reason, EndReason::kTokenLimit);
}

TEST_P(RandomModel, CompletesARawPromptInTheForm) {
  auto loaded = model();
  LocalResponder responder(*loaded);
  const std::unique_ptr<Generation> generation = responder.start(std::string("the sea is"), in_form(kYes, 1.0f));
  std::string text;
  for (std::optional<Event> event; (event = generation->next_event(std::chrono::seconds(60)));)
    if (const auto* delta = std::get_if<TextDelta>(&*event)) text += delta->text;
  EXPECT_TRUE(keeps_to(kYes, text)) << text;
}

INSTANTIATE_TEST_SUITE_P(, RandomModel, testing::Values(TinyVocabulary::kByteBpe, TinyVocabulary::kSpm));

// The scripted model thinks "the sea", then wants to say "Hello world".
struct ThoughtCase {
  const char* name;
  std::vector<AddedToken> added;
  const char* prompt_end;  // written by the template behind the assistant's mark
  std::vector<std::string> chain;
  const char* thought;  // expected
};
const ThoughtCase kThoughts[] = {
    {"by_tokens",
     {{"<think>", true}, {"</think>", true}},
     "",
     {"Ċ", "<think>", "Ġthe", "Ġs", "</think>", "Hello"},
     "the s"},
    {"opened_by_the_prompt",
     {{"<think>", true}, {"</think>", true}},
     "<think>",
     {"<think>", "Ġthe", "</think>", "Hello"},
     "the"},
    {"closed_by_the_prompt",
     {{"<think>", true}, {"</think>", true}},
     "<think></think>",
     {"</think>", "<think>", "Ġthe"},
     ""},
    {"never", {}, "", {"Ċ", "Hello", "Ġwor"}, ""},
};

class Thoughts : public testing::TestWithParam<ThoughtCase> {};

TEST_P(Thoughts, AreFreeAndTheTextBehindThemIsHeld) {
  const auto& row = GetParam();
  const std::string chat_template =
      "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + "
      "'\n' }}{% endfor %}{{ '<|im_start|>assistant\n' }}" +
      std::string(row.prompt_end);
  auto model =
      load(scripted_model({.added = row.added, .chains = {row.chain}, .chat_template = chat_template}).bytes());
  LocalResponder responder(*model);
  const CollectedAnswer answer = ScriptedChat(responder, in_form(kYes)).ask("hello");
  EXPECT_EQ(answer.end.reason, EndReason::kEndOfText) << answer.end.error;
  EXPECT_TRUE(keeps_to(kYes, answer.text)) << answer.text;
  EXPECT_EQ(answer.reasoning, row.thought);
}

INSTANTIATE_TEST_SUITE_P(, Thoughts, testing::ValuesIn(kThoughts),
                         [](const auto& row) { return std::string(row.param.name); });

class HeldAnswerTest : public testing::Test {
 protected:
  HeldAnswer held(const AnswerForm& form, HeldAnswer::Begin begin = {}) {
    return HeldAnswer(grammar::compile(form), nullptr, vocabulary_, std::move(begin));
  }
  void add(HeldAnswer& answer, std::string_view text) {
    for (const Token token : tokenizer_->encode(text, /*parse_special=*/true, /*add_bos=*/false)) {
      ASSERT_TRUE(is_allowed(answer.mask(), token)) << text << ": " << tokenizer_->piece(token, true);
      answer.accept(token);
    }
  }
  bool allows(HeldAnswer& answer, std::string_view token) { return is_allowed(answer.mask(), tokenizer_->find(token)); }

  const std::vector<std::byte> bytes_ = scripted_model({.added = {{"<think>", true}, {"</think>", true}}}).bytes();
  const std::unique_ptr<Tokenizer> tokenizer_ = Tokenizer::from(GgufFile::view(bytes_, "scripted"));
  AnswerVocabulary vocabulary_{*tokenizer_};
};

TEST_F(HeldAnswerTest, EndsOnlyWhereTheTextIsWhole) {
  HeldAnswer answer = held(kYes);
  EXPECT_FALSE(allows(answer, "<|im_end|>"));
  EXPECT_FALSE(allows(answer, "<think>"));
  add(answer, "yes");
  EXPECT_TRUE(allows(answer, "<|im_end|>"));
  EXPECT_TRUE(allows(answer, ","));
  add(answer, ", ab");
  EXPECT_TRUE(allows(answer, "<|im_end|>"));
  add(answer, "cd");
  EXPECT_TRUE(allows(answer, "<|im_end|>"));
  EXPECT_FALSE(allows(answer, "e"));
}

TEST_F(HeldAnswerTest, LineBreaksBehindAThoughtAreFreeTwice) {
  const ModelThoughts thoughts = find_thoughts(*tokenizer_, "", "");
  HeldAnswer answer = held(kYes, {.thoughts = thoughts, .state = ReasoningSplitter::State::kUndecided});
  EXPECT_TRUE(allows(answer, "y"));
  add(answer, "<think>the sea");
  EXPECT_FALSE(allows(answer, "<|im_end|>"));
  EXPECT_TRUE(allows(answer, "<|im_start|>"));
  add(answer, "</think>\n\n");
  EXPECT_FALSE(allows(answer, "Ċ"));
  EXPECT_FALSE(allows(answer, "<think>"));
  add(answer, "no<|im_end|>");
}

TEST_F(HeldAnswerTest, ThoughtsWithPlainMarksEndWhereTheMarkEnds) {
  const ModelThoughts plain = {.marks = &kUsualMarks};
  HeldAnswer answer = held(kYes, {.thoughts = plain, .state = ReasoningSplitter::State::kUndecided});
  EXPECT_TRUE(allows(answer, "y"));
  EXPECT_TRUE(allows(answer, "<"));
  EXPECT_FALSE(allows(answer, "t"));
  for (const char* piece : {"<", "t", "h", "i", "n", "k"}) add(answer, piece);
  EXPECT_FALSE(allows(answer, "y"));
  for (const char* piece : {">", "the sea <", "/", "t", "h", "i"}) add(answer, piece);
  EXPECT_TRUE(allows(answer, "Hello"));
  EXPECT_FALSE(allows(answer, "<|im_end|>"));
  for (const char* piece : {"n", "k", ">"}) add(answer, piece);
  EXPECT_FALSE(allows(answer, "Hello"));
  EXPECT_FALSE(allows(answer, "<"));
  add(answer, "\nno<|im_end|>");
  HeldAnswer other =
      held({Kind::kGrammar, R"(root ::= "<tag>")"}, {.thoughts = plain, .state = ReasoningSplitter::State::kUndecided});
  for (const char* piece : {"<", "t"}) add(other, piece);
  EXPECT_TRUE(allows(other, "h"));
  for (const char* piece : {"a", "g", ">", "<|im_end|>"}) add(other, piece);
}

TEST_F(HeldAnswerTest, GoesBackOverADraft) {
  HeldAnswer answer = held(kPoint);
  const std::vector<Token> draft = tokenizer_->encode(R"({"name": "Hello", "x": 17})", false, false);
  const std::vector<Token> wrong = tokenizer_->encode(R"({"name": "Hello", "y": 17})", false, false);
  const size_t n_same = static_cast<size_t>(std::ranges::mismatch(draft, wrong).in1 - draft.begin());
  EXPECT_EQ(answer.n_allowed(draft), draft.size());
  EXPECT_EQ(answer.n_allowed(wrong), n_same);
  const TokenConstraint::Masks masks = answer.masks(draft);
  ASSERT_EQ(masks.size(), draft.size() + 1);
  for (size_t i = 0; i < draft.size(); ++i) {
    const auto mask = answer.mask();
    EXPECT_EQ(masks[i], std::vector<uint32_t>(mask.begin(), mask.end())) << i;
    answer.accept(draft[i]);
  }
  EXPECT_EQ(error_of([&] {
              answer.masks(std::vector<Token>{tokenizer_->find("<|im_end|>"), draft[0]});
            }),
            "a token was chosen that the form of the answer does not allow");
  EXPECT_TRUE(allows(answer, "<|im_end|>"));
}

class HeldCallsTest : public HeldAnswerTest {
 protected:
  HeldAnswer with_calls(const AnswerForm& form = {}, CallFormat format = CallFormat::kHermes,
                        HeldAnswer::Begin begin = {}) {
    std::vector<CallTool> tools = {
        {"add", R"({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"],
                    "additionalProperties": false})"}};
    auto calls = std::make_unique<HeldCalls>(format, std::move(tools), vocabulary_.trie);
    return HeldAnswer(form.is_free() ? nullptr : grammar::compile(form), std::move(calls), vocabulary_,
                      std::move(begin));
  }
  // Byte by byte, whatever the mask says.
  void write(HeldAnswer& answer, std::string_view text) {
    for (const char c : text)
      for (const Token token : tokenizer_->encode(std::string(1, c), false, false)) answer.accept(token);
  }
};

TEST_F(HeldCallsTest, ArgumentsOfAKnownToolAreHeldToTheCallsEnd) {
  HeldAnswer answer = with_calls();
  EXPECT_TRUE(answer.is_free());
  write(answer, "Let me see.\n<tool_call>\n{\"name\": \"add\"");
  EXPECT_FALSE(answer.is_free());
  EXPECT_FALSE(allows(answer, "<|im_end|>"));
  write(answer, ", \"arguments\": {\"n\": ");
  EXPECT_TRUE(allows(answer, "4"));
  EXPECT_FALSE(allows(answer, "t"));
  write(answer, "42");
  EXPECT_FALSE(allows(answer, "<|im_end|>"));
  EXPECT_EQ(error_of([&] { write(answer, "x"); }), "a token was chosen that the arguments of the call do not allow");
  write(answer, "}}\n</tool_call>");
  EXPECT_TRUE(answer.is_free());
  EXPECT_TRUE(answer.mask().empty());
}

TEST_F(HeldCallsTest, OthersAreFree) {
  for (const char* text : {"<tool_call>\n{\"name\": \"sub\", \"arguments\": {", "the sea {\"name\": \"add\", "}) {
    HeldAnswer answer = with_calls();
    write(answer, text);
    EXPECT_TRUE(answer.is_free()) << text;
  }
}

// "<" may begin a thought, a call and a text.
TEST_F(HeldCallsTest, ACallBeginsAsAPlainMarkDoes) {
  const std::string call = "<tool_call>\n{\"name\": \"add\", \"arguments\": {\"n\": ";
  const HeldAnswer::Begin undecided = {.thoughts = {.marks = &kUsualMarks},
                                       .state = ReasoningSplitter::State::kUndecided};
  for (const AnswerForm& form : {AnswerForm(), AnswerForm{Kind::kGrammar, R"(root ::= "<tag>")"}}) {
    HeldAnswer answer = with_calls(form, CallFormat::kHermes, undecided);
    write(answer, call);
    EXPECT_FALSE(answer.is_free());
    EXPECT_TRUE(allows(answer, "7"));
    EXPECT_FALSE(allows(answer, "t"));
    HeldAnswer thinking = with_calls(form, CallFormat::kHermes, undecided);
    write(thinking, "<think>" + call + "true</think>");
    write(thinking, form.is_free() ? "so" : "<tag>");
  }
}

TEST_F(HeldCallsTest, DraftsAreUndone) {
  HeldAnswer answer = with_calls();
  std::vector<Token> draft;
  for (const char c : std::string("<tool_call>\n{\"name\": \"add\", \"arguments\": {\"n\": x"))
    for (const Token token : tokenizer_->encode(std::string(1, c), false, false)) draft.push_back(token);
  EXPECT_EQ(answer.n_allowed(std::span(draft).last(40)), 40u) << "text";
  EXPECT_EQ(answer.n_allowed(draft), draft.size() - 1);
  EXPECT_EQ(answer.n_allowed(draft), draft.size() - 1);
  EXPECT_TRUE(answer.is_free());
}

TEST_F(HeldCallsTest, WithAFormAnAnswerIsOneOrTheOther) {
  HeldAnswer answer = with_calls(kYes);
  EXPECT_TRUE(allows(answer, "y"));
  EXPECT_TRUE(allows(answer, "<"));
  EXPECT_FALSE(allows(answer, "t"));
  HeldAnswer calling = with_calls(kYes);
  write(calling, "<tool");
  EXPECT_TRUE(allows(calling, "_"));
  EXPECT_FALSE(allows(calling, "y"));
  write(calling, "_call>\n{\"name\": \"add\", \"arguments\": {\"n\": 1}}\n</tool_call>");
  EXPECT_TRUE(calling.mask().empty());
  write(answer, "yes");
  EXPECT_TRUE(allows(answer, "<|im_end|>"));
  EXPECT_FALSE(allows(answer, "<"));
}

TEST_F(HeldAnswerTest, KnowsWhatMustFollow) {
  HeldAnswer answer = held({Kind::kGrammar, R"(root ::= "the sea and " [a-z])"});
  const std::vector<Token> forced = answer.forced();
  ASSERT_GE(forced.size(), 2u);
  EXPECT_EQ(answer.n_allowed(forced), forced.size());
  EXPECT_TRUE(std::string("the sea and ").starts_with(decode(*tokenizer_, forced)));
  add(answer, "the sea and a");
  EXPECT_TRUE(answer.forced().empty());
}

}  // namespace
}  // namespace warpchat
