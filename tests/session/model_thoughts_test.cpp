// Which marks a model uses is decided by its vocabulary and template; scripted models write them as tokens and as text.
#include "engine/session/model_thoughts.h"

#include <gtest/gtest.h>

#include "engine/session/local_responder.h"
#include "models/gguf_reader.h"
#include "tests/support/scripted_chat.h"
#include "tests/support/scripted_model.h"
#include "tests/support/test_files.h"

namespace warpchat {
namespace {

const std::vector<AddedToken> kThinkTokens = {{"<think>", true}, {"</think>", true}};

std::unique_ptr<Tokenizer> tokenizer_with(const std::vector<AddedToken>& added) {
  const std::vector<std::byte> bytes = scripted_model({.added = added}).bytes();
  return Tokenizer::from(GgufFile::view(bytes, "scripted"));
}

struct MarksCase {
  const char* name;
  std::vector<AddedToken> added;
  const char *chat_template, *system_message;
  const char* open;  // expected; empty: none
  bool has_tokens;
};
const MarksCase kMarks[] = {
    {"control_tokens", kThinkTokens, "", "", "<think>", true},
    {"user_defined_tokens", {{"<think>", false}, {"</think>", false}}, "", "", "<think>", true},
    {"other_tokens", {{"[THINK]", true}, {"[/THINK]", true}}, "", "", "[THINK]", true},
    {"long_tokens", {{"<seed:think>", false}, {"</seed:think>", false}}, "", "", "<seed:think>", true},
    {"several_tokens",
     {{"<|start|>", true}, {"<|end|>", true}, {"<|channel|>", true}, {"<|message|>", true}},
     "",
     "",
     "<|channel|>analysis<|message|>",
     true},
    {"named_tokens_first",
     {{"<think>", true}, {"</think>", true}, {"[THINK]", true}, {"[/THINK]", true}},
     "{{ '[/THINK]' }}",
     "",
     "[THINK]",
     true},
    {"tokens_before_named_text", kThinkTokens, "{{ '[THINK]' }}", "", "<think>", true},
    {"half_a_pair", {{"<think>", true}}, "", "", "", false},
    {"half_a_pair_that_is_named", {{"<think>", true}}, "{{ '</think>' }}", "", "<think>", false},
    {"text_of_the_template", {}, "{{ message.split('</think>') }}", "", "<think>", false},
    {"text_of_the_system_message", {}, "", "Think between <think> and </think>.", "<think>", false},
    {"nothing", {}, "{{ messages }}", "Think well.", "", false},
};

class Marks : public testing::TestWithParam<MarksCase> {};

TEST_P(Marks, AreDecidedByVocabularyAndTemplate) {
  const auto& row = GetParam();
  const auto tokenizer = tokenizer_with(row.added);
  const ModelThoughts found = find_thoughts(*tokenizer, row.chat_template, row.system_message);
  EXPECT_EQ(found.marks ? found.marks->open : "", row.open);
  EXPECT_EQ(found.has_tokens(), row.has_tokens);
  EXPECT_EQ(found.text_marks().size(), found.marks && !row.has_tokens ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(Rows, Marks, testing::ValuesIn(kMarks), [](const auto& test) { return test.param.name; });

// The real vocabulary of Qwen 2 has no tokens for marks, and its template names none.
TEST(ModelThoughts, ARealVocabularyWithoutTokens) {
  const auto tokenizer = Tokenizer::from(GgufFile::open(reference_data_path("ggml-vocab-qwen2.gguf")));
  EXPECT_FALSE(find_thoughts(*tokenizer, kChatMlTemplate, "").marks);
  EXPECT_FALSE(find_thoughts(*tokenizer, "{{ '<think>' }}", "").has_tokens());
}

TEST(ModelThoughts, OnlyTheTemplateOpensAThoughtInThePrompt) {
  const auto tokenizer = tokenizer_with(kThinkTokens);
  const ModelThoughts thoughts = find_thoughts(*tokenizer, "", "");
  const auto begin = [&](const std::string& own, const std::string& content, const std::string& more) {
    TracedText prompt = own_text(own);
    prompt.append(text_for(content, /*is_content=*/true));
    prompt.append(more);
    return begin_after(prompt, thoughts);
  };
  using State = ReasoningSplitter::State;
  EXPECT_EQ(begin("user: ", "hi", "\nassistant: <think>\n").state, State::kThinking);
  EXPECT_EQ(begin("user: ", "<think>", "").state, State::kUndecided);
  EXPECT_EQ(begin("user: ", "<thi", "nk>").state, State::kUndecided);
  EXPECT_EQ(begin("<think> ", "hi", "").state, State::kUndecided);
  EXPECT_TRUE(begin("user: ", "hi", "\nassistant: <think>\n\n</think>\n\n").has_thought);
  EXPECT_FALSE(begin("user: ", "</think>", "\n").has_thought);
  EXPECT_EQ(begin("", "", "").state, State::kUndecided);
}

// Answers, written as reasoning|text.
class ScriptedThoughts : public testing::Test {
 protected:
  static std::unique_ptr<Model> load(const ScriptedModelSpec& spec) {
    const TemporaryFile file(scripted_model(spec).bytes());
    ModelOptions options;
    options.path = file.path();
    options.threads = 1;
    return Model::load(options);
  }
  static AnswerOptions greedy(int32_t max_tokens = 30) {
    AnswerOptions options;
    options.sampling.temperature = 0;
    options.max_tokens = max_tokens;
    return options;
  }
  static std::string shown(const Message& answer) { return answer.reasoning + "|" + answer.content; }
  static std::string answer_of(const ScriptedModelSpec& spec) {
    const auto model = load(spec);
    LocalResponder responder(*model);
    ScriptedChat chat(responder, greedy());
    chat.ask("x");
    return shown(chat.messages.back());
  }
  // The prompt ends with "?".
  static constexpr char kPlain[] = "{{ messages[-1].content }}?";
};

TEST_F(ScriptedThoughts, ControlTokensMarkAThought) {
  const std::vector<std::string> chain = {"?", "<think>", "Ċ", "a", "b", "</think>", "c", "<|im_end|>"};
  EXPECT_EQ(answer_of({kThinkTokens, {chain}, kPlain}), "ab|c");
  EXPECT_EQ(answer_of({{{"<think>", false}, {"</think>", false}}, {chain}, kPlain}), "ab|c");
}

TEST_F(ScriptedThoughts, MarksOfOtherModels) {
  EXPECT_EQ(
      answer_of(
          {{{"[THINK]", true}, {"[/THINK]", true}}, {{"?", "[THINK]", "a", "[/THINK]", "c", "<|im_end|>"}}, kPlain}),
      "a|c");
  EXPECT_EQ(answer_of({{{"<seed:think>", true}, {"</seed:think>", true}},
                       {{"?", "<seed:think>", "a", "</seed:think>", "c", "<|im_end|>"}},
                       kPlain}),
            "a|c");
}

// The marks of several tokens; within them is text.
TEST_F(ScriptedThoughts, AMarkOfSeveralTokens) {
  const std::vector<AddedToken> added = {{"<|start|>", true},   {"<|end|>", true},    {"<|channel|>", true},
                                         {"<|message|>", true}, {"<|return|>", true}, {"<|call|>", true},
                                         {"analysis", false}};
  EXPECT_EQ(answer_of({added, {{"?", "<|channel|>", "analysis", "<|message|>", "h", "m", "<|im_end|>"}}, kPlain}),
            "hm|");
  EXPECT_EQ(answer_of({added, {{"?", "<|channel|>", "analysis", "h", "m", "<|im_end|>"}}, kPlain}), "|analysishm")
      << "not the whole mark";
  EXPECT_EQ(answer_of({added, {{"?", "<|channel|>", "analysis", "<|im_end|>"}}, kPlain}), "|analysis");
}

TEST_F(ScriptedThoughts, TextThatSpellsAMarkIsTextWhereAMarkIsAToken) {
  EXPECT_EQ(answer_of({kThinkTokens,
                       {{"?", "<think>", "<", "/", "t", "h", "in", "k", ">", "a", "</think>", "b", "<|im_end|>"}},
                       kPlain}),
            "</think>a|b");
  EXPECT_EQ(answer_of({kThinkTokens, {{"?", "<", "t", "h", "in", "k", ">", "a", "<|im_end|>"}}, kPlain}), "|<think>a");
}

TEST_F(ScriptedThoughts, WithoutTokensTextIsAMarkIfItIsNamed) {
  const std::vector<std::string> chain = {"?", "<", "t", "h", "in", "k", ">", "a", "<|im_end|>"};
  EXPECT_EQ(answer_of({{}, {chain}, kPlain}), "|<think>a");
  EXPECT_EQ(answer_of({{}, {chain}, std::string(kPlain) + "{# <think> #}"}), "a|");
}

TEST_F(ScriptedThoughts, AThoughtThatNothingOpenedEndsAtItsMark) {
  EXPECT_EQ(answer_of({kThinkTokens, {{"?", "a", "b", "Ċ", "</think>", "c", "<|im_end|>"}}, kPlain}), "ab|c");
}

// Cut within the thought, behind it and in the text, the answer goes on there.
TEST_F(ScriptedThoughts, AnAnswerGoesOnWhereverItWasCut) {
  const char* opens = "{{ messages[-1].content }}?<think>";
  const std::vector<std::string> thought = {"<think>", "a", "b", "</think>", "c", "d", "<|im_end|>"};
  const std::vector<std::string> line = {"Ċ", "c"};  // behind a thought that has ended, the prompt ends a line
  const ScriptedModelSpec specs[] = {{kThinkTokens, {{"?", "<think>"}, thought, line}, kPlain},
                                     {kThinkTokens, {thought, line}, opens}};
  for (const ScriptedModelSpec& spec : specs) {
    const auto model = load(spec);
    LocalResponder responder(*model);
    for (int32_t n = 1; n < 6; ++n) {
      ScriptedChat chat(responder, greedy(n));
      chat.ask("x");
      chat.options.max_tokens = 30;
      if (chat.messages.back().role != "assistant") continue;  // nothing has come yet
      const std::string text = responder.build(chat.messages, chat.options).text;
      chat.go_on();
      chat.collect();
      EXPECT_EQ(shown(chat.messages.back()), "ab|cd") << "cut after " << n << " tokens, went on behind " << text;
    }
  }
}

}  // namespace
}  // namespace warpchat
