#include "app/arguments.h"

#include <gtest/gtest.h>

#include "app/options.h"

namespace warpchat {
namespace {

using Words = std::vector<std::string>;

struct RewriteCase {
  const char* name;
  Words typed, rewritten;
};

const RewriteCase kRewrites[] = {
    {"every_spelling",
     {"-ctk", "q8_0", "-ctv", "f16", "-sys", "x", "-ub", "1", "-np", "1", "-dev", "cpu"},
     {"--cache-type-k", "q8_0", "--cache-type-v", "f16", "--system-prompt", "x", "--ubatch-size", "1", "--parallel",
      "1", "--device", "cpu"}},
    {"with_an_equals_sign", {"-ub=64", "-dev=cpu"}, {"--ubatch-size=64", "--device=cpu"}},
    {"others_stay",
     {"-m", "x", "-ubx", "--device", "cpu", "-c", "5"},
     {"-m", "x", "-ubx", "--device", "cpu", "-c", "5"}},
    {"a_prompt_stays", {"-p", "-sys", "-sys", "-dev"}, {"-p", "-sys", "--system-prompt", "-dev"}},
    {"nothing_after_two_dashes", {"--", "-ub"}, {"--", "-ub"}},
};

class Rewrite : public testing::TestWithParam<RewriteCase> {};
TEST_P(Rewrite, Words) { EXPECT_EQ(rewrite_arguments(GetParam().typed), GetParam().rewritten); }
INSTANTIATE_TEST_SUITE_P(Rows, Rewrite, testing::ValuesIn(kRewrites), [](const auto& test) { return test.param.name; });

struct SplitCase {
  const char* name;
  Words typed;
  const char* command;
  Words rest;
};

const SplitCase kSplits[] = {
    {"none", {"-p", "bench"}, "chat", {"-p", "bench"}},
    {"first", {"bench", "-r", "1"}, "bench", {"-r", "1"}},
    {"after_the_model", {"--model", "x.gguf", "bench", "-r", "1"}, "bench", {"--model", "x.gguf", "-r", "1"}},
    {"after_a_joined_model", {"--model=x.gguf", "bench"}, "bench", {"--model=x.gguf"}},
    {"a_model_named_like_a_command", {"-m", "bench"}, "chat", {"-m", "bench"}},
    {"empty", {}, "chat", {}},
};

class Split : public testing::TestWithParam<SplitCase> {};
TEST_P(Split, Words) {
  const CommandLine line = split_command(GetParam().typed, {"bench", "inspect"});
  EXPECT_EQ(line.command, GetParam().command);
  EXPECT_EQ(line.arguments, GetParam().rest);
}
INSTANTIATE_TEST_SUITE_P(Rows, Split, testing::ValuesIn(kSplits), [](const auto& test) { return test.param.name; });

template <class T>
T parsed(Words words) {
  return std::get<T>(parse_options(std::move(words)).options.value());
}

TEST(Options, ReadsChatFlags) {
  const auto o = parsed<ChatOptions>({"-m", "a.gguf", "-p", "- hi", "-n", "5", "--temp", "0", "-c", "0", "-sys",
                                      "be brief", "--no-think", "-ub", "64", "-s", "7"});
  EXPECT_EQ(o.model, "a.gguf");
  EXPECT_EQ(o.prompt, "- hi");
  EXPECT_EQ(o.n_predict, 5);
  EXPECT_EQ(o.temperature, 0.0f);
  EXPECT_FALSE(o.top_k.has_value());
  EXPECT_EQ(o.context, 0);
  EXPECT_EQ(o.system_prompt, "be brief");
  EXPECT_EQ(o.think, false);
  EXPECT_EQ(o.micro_batch, 64u);
  EXPECT_EQ(o.seed, 7);
}

TEST(Options, TakesAnyTextAsAPrompt) {
  for (const char* prompt :
       {"", "-sys", "--help", "[a,b]", "{\"a\": 1}", "a,b", "'quoted'", "%%", "日本", "a\nb", "--", "-5"})
    EXPECT_EQ(parsed<ChatOptions>({"-p", prompt, "--raw"}).prompt, prompt);
  EXPECT_EQ(parsed<ChatOptions>({"--prompt=--help"}).prompt, "--help");
}

TEST(Options, LeavesOutMeansDefault) {
  const auto o = parsed<ChatOptions>({});
  EXPECT_FALSE(o.prompt || o.prompt_file);
  EXPECT_FALSE(o.think);
  EXPECT_FALSE(o.temperature || o.top_k || o.top_p || o.min_p);
  EXPECT_EQ(o.n_predict, -1);
  EXPECT_EQ(o.context, -1);
}

TEST(Options, ReadsLists) {
  EXPECT_EQ(parsed<LogitsOptions>({"logits", "-m", "a", "--tokens", "1,2,3", "-o", "x"}).tokens,
            (std::vector<int64_t>{1, 2, 3}));
  const auto bench = parsed<BenchOptions>({"bench", "-p", "128,512", "-n", "0", "-o", "json"});
  EXPECT_EQ(bench.n_prompt, (std::vector<uint32_t>{128, 512}));
  EXPECT_EQ(bench.n_generate, (std::vector<uint32_t>{0}));
  EXPECT_EQ(bench.format, "json");
}

TEST(Options, InspectTakesItsModelWithoutAFlag) {
  EXPECT_EQ(parsed<InspectOptions>({"inspect", "a.gguf", "--json"}).model, "a.gguf");
  EXPECT_EQ(parsed<InspectOptions>({"inspect", "-m", "a.gguf"}).model, "a.gguf");
}

struct RefusedCase {
  const char* name;
  Words typed;
  const char* sentence;
};

const RefusedCase kRefused[] = {
    {"unknown_flag", {"--colour"}, "unknown flag --colour; chat --help lists what there is"},
    {"unknown_short_flag", {"-x"}, "unknown flag -x; chat --help lists what there is"},
    {"stray_word", {"hello"}, "unexpected argument 'hello'; chat --help lists what there is"},
    {"command_too_late", {"--verbose", "bench"}, "the command comes first: chat bench and then its flags"},
    {"flag_of_another_command", {"bench", "--raw"}, "unknown flag --raw; chat bench --help lists what there is"},
    {"missing_value", {"-p"}, nullptr},
    {"no_number", {"--temp", "warm"}, nullptr},
    {"out_of_range", {"--top-p", "1.5"}, nullptr},
    {"no_whole_number", {"-n", "1.5"}, nullptr},
    {"negative_threads", {"-t", "-2"}, nullptr},
    {"overflow", {"-c", "99999999999"}, nullptr},
    {"given_twice", {"-m", "a", "-m", "b"}, nullptr},
    {"no_such_format", {"bench", "-o", "xml"}, nullptr},
    {"missing_required", {"logits", "-m", "a"}, nullptr},
    {"bad_list", {"logits", "-m", "a", "-o", "x", "--tokens", "1,a"}, nullptr},
};

class Refused : public testing::TestWithParam<RefusedCase> {};
TEST_P(Refused, InOneSentence) {
  try {
    parse_options(GetParam().typed);
    FAIL() << "was accepted";
  } catch (const UsageError& error) {
    const std::string sentence = error.what();
    if (GetParam().sentence) {
      EXPECT_EQ(sentence, GetParam().sentence);
    }
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    EXPECT_NE(sentence.back(), '.') << sentence;
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(sentence[0])) || sentence[0] == '-') << sentence;
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, Refused, testing::ValuesIn(kRefused), [](const auto& test) { return test.param.name; });

TEST(Options, HelpOfEveryCommandNamesTheDevice) {
  for (const char* command : {"chat", "tokenize", "template", "logits", "perplexity", "inspect", "bench"}) {
    const Words words = std::string(command) == "chat" ? Words{"--help"} : Words{command, "--help"};
    const ParsedOptions parsed = parse_options(words);
    EXPECT_FALSE(parsed.options.has_value());
    EXPECT_NE(parsed.text.find("--device"), std::string::npos) << parsed.text;
  }
  EXPECT_EQ(parse_options({"--version"}).text.rfind("chat ", 0), 0u);
}

}  // namespace
}  // namespace warpchat
