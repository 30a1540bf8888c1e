#include "app/settings/arguments.h"

#include <gtest/gtest.h>

#include "app/commands/help/command_help.h"
#include "app/settings/options.h"

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

struct QuestionCase {
  const char* name;
  Words typed;
  const char* prompt;
};

const QuestionCase kQuestions[] = {
    {"in_quotes", {"what is up?"}, "what is up?"},
    {"one_word", {"hello"}, "hello"},
    {"words_are_joined", {"why", "is", "the", "sky", "blue"}, "why is the sky blue"},
    {"around_flags", {"-m", "a.gguf", "why", "-n", "5", "not"}, "why not"},
    {"command_within_quotes", {"pull it up"}, "pull it up"},
    {"command_behind_dashes", {"--", "pull", "it"}, "pull it"},
    {"typing_error_behind_dashes", {"-n", "5", "--", "pul", "it"}, "pul it"},
    {"flags_behind_dashes", {"what", "does", "--", "--help", "-n", "do"}, "what does --help -n do"},
    {"two_edits_from_a_command", {"pulley"}, "pulley"},
    {"command_later", {"what", "is", "bench"}, "what is bench"},
};

class Question : public testing::TestWithParam<QuestionCase> {};
TEST_P(Question, IsThePrompt) { EXPECT_EQ(parsed<ChatOptions>(GetParam().typed).prompt, GetParam().prompt); }
INSTANTIATE_TEST_SUITE_P(Rows, Question, testing::ValuesIn(kQuestions),
                         [](const auto& test) { return test.param.name; });

TEST(Options, ReadsAQuestionBesideResume) {
  const auto numbered = parsed<ChatOptions>({"--resume", "3", "and", "why"});
  EXPECT_EQ(numbered.resume, "3");
  EXPECT_EQ(numbered.prompt, "and why");
  const auto newest = parsed<ChatOptions>({"--resume", "--", "pull", "it"});
  EXPECT_EQ(newest.resume, "");
  EXPECT_EQ(newest.prompt, "pull it");
  EXPECT_FALSE(parsed<ChatOptions>({"--"}).prompt);
}

TEST(Options, McpTakesAnActionAServerAndAFile) {
  EXPECT_EQ(parsed<McpOptions>({"mcp"}).action, "list");
  const auto mcp = parsed<McpOptions>({"mcp", "tools", "files", "--mcp-config", "x.json"});
  EXPECT_EQ(mcp.action + " " + mcp.server + " " + mcp.mcp_config, "tools files x.json");
}

TEST(Options, ReadsAGrammarAndWhatToCheck) {
  const auto file = parsed<GrammarOptions>({"grammar", "-jf", "s.json", "--check", "a.json", "--lines"});
  EXPECT_EQ(file.schema_file, "s.json");
  EXPECT_EQ(file.check, "a.json");
  EXPECT_TRUE(file.lines);
  const auto input = parsed<GrammarOptions>({"grammar", "--check", "--json-schema", "-np"});
  EXPECT_EQ(input.schema, "-np");  // a text, not a flag
  EXPECT_EQ(input.check, "");
  EXPECT_FALSE(parsed<GrammarOptions>({"grammar", "--grammar-file", "g", "--bench"}).check);
}

TEST(Options, WordsBehindTwoDashesAreNoFlags) {
  EXPECT_EQ(parsed<TokenizeOptions>({"tokenize", "-m", "a.gguf", "--", "--null"}).text, "--null");
  const auto prompt = parsed<PromptOptions>({"prompt", "add", "list", "--", "-f", "x", "--"});
  EXPECT_EQ(prompt.name, "list");
  EXPECT_EQ(prompt.words, (Words{"-f", "x", "--"}));
  EXPECT_FALSE(prompt.file);
  EXPECT_THROW(parsed<InspectOptions>({"inspect", "a.gguf", "--", "b.gguf"}), UsageError);
}

TEST(Options, LeavesOutMeansDefault) {
  const auto o = parsed<ChatOptions>({});
  EXPECT_FALSE(o.prompt || !o.prompt_files.empty());
  EXPECT_FALSE(o.think);
  EXPECT_FALSE(o.temperature || o.top_k || o.top_p || o.min_p);
  EXPECT_EQ(o.n_predict, std::nullopt);
  EXPECT_EQ(o.context, -1);
}

TEST(Options, TakesLlamaCppsFlags) {
  const auto o = parsed<ChatOptions>({"-hf",
                                      "org/repo:Q8_0",
                                      "-ngl",
                                      "99",
                                      "-fa",
                                      "on",
                                      "-fa",
                                      "--jinja",
                                      "--color",
                                      "-mg",
                                      "1",
                                      "-no-cnv",
                                      "--reasoning-budget",
                                      "0",
                                      "--no-warmup",
                                      "--main-gpu=2",
                                      "-p",
                                      "-ngl",
                                      "--log-disable",
                                      "-e"});
  EXPECT_EQ(o.model, "org/repo:Q8_0");
  EXPECT_EQ(o.layers_on_gpu, 99u);
  EXPECT_EQ(o.device, "cuda:2");
  EXPECT_EQ(o.think, false);
  EXPECT_EQ(o.prompt, "-ngl");
  EXPECT_TRUE(o.raw && o.escapes);
  EXPECT_FALSE(o.converse);
  EXPECT_EQ(parsed<ChatOptions>({"-ngl", "0"}).device, "cpu");
  EXPECT_EQ(parsed<ChatOptions>({"-ngl", "all"}).layers_on_gpu, std::nullopt);
  EXPECT_EQ(parsed<BenchOptions>({"bench", "-hf", "a/b", "-r", "3", "-fa", "1"}).repetitions, 3u);
  EXPECT_EQ(parsed<ChatOptions>({"--think=false"}).think, false);
  EXPECT_TRUE(parsed<ChatOptions>({"-cnv"}).converse);
}

TEST(Options, TheLastOfAFlagHolds) {
  const auto o =
      parsed<ChatOptions>({"-m", "a", "--temp", "1", "--model", "b", "--temp", "0", "--think", "--no-think"});
  EXPECT_EQ(o.model, "b");
  EXPECT_EQ(o.temperature, 0.0f);
  EXPECT_EQ(o.think, false);
  EXPECT_EQ(parsed<BenchOptions>({"bench", "-p", "1,2", "-p", "3"}).n_prompt, (std::vector<uint32_t>{1, 2, 3}));
}

TEST(Options, ReadsLists) {
  EXPECT_EQ(parsed<LogitsOptions>({"logits", "-m", "a", "--tokens", "1,2,3", "-o", "x"}).tokens,
            (std::vector<int64_t>{1, 2, 3}));
  const auto bench = parsed<BenchOptions>({"bench", "-p", "128,512", "-n", "0", "-o", "json"});
  EXPECT_EQ(bench.n_prompt, (std::vector<uint32_t>{128, 512}));
  EXPECT_EQ(bench.n_generate, (std::vector<uint32_t>{0}));
  EXPECT_EQ(bench.format, "json");
}

TEST(Options, CompareTakesADeviceEachTime) {
  const auto o = parsed<CompareOptions>(
      {"compare", "--device", "cpu", "-dev", "emulator", "--launch=graph", "--bound", "0.5", "-p", "-n"});
  EXPECT_EQ(o.devices, (Words{"cpu", "emulator"}));
  EXPECT_EQ(o.launches, Words{"graph"});
  EXPECT_EQ(o.bound, 0.5);
  EXPECT_EQ(o.prompt, "-n");
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
    {"flag_with_swapped_letters",
     {"--tmep", "1"},
     "unknown flag --tmep; perhaps you mean --temp; chat --help lists what there is"},
    {"flag_that_goes_on",
     {"bench", "--profil", "x"},
     "unknown flag --profil; perhaps you mean --profile; chat bench --help lists what there is"},
    {"beginning_of_a_flag",
     {"--hide-think"},
     "unknown flag --hide-think; perhaps you mean --hide-thinking; chat --help lists what there is"},
    {"command_with_a_letter_less",
     {"pul"},
     "unknown command pul; perhaps you mean chat pull; a question that begins so goes behind --: chat -- QUESTION"},
    {"command_with_swapped_letters_before_more_words",
     {"Bnech", "marks", "of", "2020"},
     "unknown command Bnech; perhaps you mean chat bench; a question that begins so goes behind --: chat -- QUESTION"},
    {"a_question_twice",
     {"-p", "one", "two", "three"},
     "both -p and 'two three' ask a question; give one of them, with all of its text"},
    {"unknown_flag_in_a_question",
     {"what", "is", "-5"},
     "unknown flag -5; chat --help lists what there is; a question goes in quotes"},
    {"question_that_begins_with_a_command",
     {"compare", "cats", "and", "dogs"},
     "unexpected argument 'cats'; chat compare --help lists what there is; a question goes in quotes"},
    {"unknown_short_flag", {"-x"}, "unknown flag -x; chat --help lists what there is"},
    {"command_too_late",
     {"--verbose", "bench"},
     "the command comes first: chat bench and then its flags; a question that begins so goes behind --: chat -- "
     "QUESTION"},
    {"flag_of_another_command", {"bench", "--raw"}, "unknown flag --raw; chat bench --help lists what there is"},
    {"stray_model", {"a.gguf"}, "name a model with -m: chat -m a.gguf"},
    {"command_of_ollama",
     {"run", "qwen"},
     "unknown command run; chat -m MODEL starts a conversation, chat -m MODEL -p TEXT answers once; a question that "
     "begins so goes behind --: chat -- QUESTION"},
    {"missing_value", {"-p"}, "--prompt needs a value after it: --prompt TEXT; see chat --help"},
    {"missing_number", {"bench", "-r"}, "--repetitions needs a value after it: --repetitions N; see chat bench --help"},
    {"no_number", {"--temp", "abc"}, "--temp takes a number from 0 to 100, found 'abc'; see chat --help"},
    {"out_of_range", {"--top-p", "1.5"}, "--top-p takes a number from 0 to 1, found '1.5'; see chat --help"},
    {"no_whole_number", {"-n", "1.5"}, "--n-predict takes a whole number from -1 on, found '1.5'; see chat --help"},
    {"negative_threads", {"-t", "-2"}, "--threads takes a whole number from 1 to 1024, found '-2'; see chat --help"},
    {"overflow",
     {"-c", "99999999999"},
     "--ctx-size takes a whole number from 0 on, found '99999999999'; see chat --help"},
    {"no_seed", {"-s", "x"}, "--seed takes a whole number from -1 to 9007199254740992, found 'x'; see chat --help"},
    {"value_of_a_switch", {"--think=high"}, "--think takes no value, found 'high'; see chat --help"},
    {"number_of_a_switch", {"--verbose=3"}, "--verbose takes no value but =true or =false, found '3'; see chat --help"},
    {"no_of_a_switch",
     {"pull", "--offline=no", "x"},
     "--offline takes no value but =true or =false, found 'no'; see chat pull --help"},
    {"no_such_format",
     {"bench", "-o", "xml"},
     "--output takes md, csv, json or jsonl, found 'xml'; see chat bench --help"},
    {"second_device_without_its_flag",
     {"compare", "--device", "cpu", "cuda"},
     "unexpected argument 'cuda'; chat compare --help lists what there is"},
    {"no_such_launch",
     {"compare", "--launch", "auto"},
     "--launch takes stream, graph or persistent, found 'auto'; see chat compare --help"},
    {"missing_required", {"logits", "-m", "a"}, "--tokens is required; see chat logits --help"},
    {"bad_list",
     {"logits", "-m", "a", "-o", "x", "--tokens", "1,a"},
     "--tokens takes a whole number from 0 on, found 'a'; see chat logits --help"},
    {"llama_cpps_no_mmap",
     {"--no-mmap"},
     "--no-mmap: model files are always mapped into memory and never locked there; leave it out"},
    {"llama_cpps_sampler",
     {"--mirostat", "2"},
     "--mirostat: this sampler is not supported; use --temp, --top-k, --top-p, --min-p and the penalties"},
    {"llama_cpps_value_that_is_not_taken", {"-fa", "off"}, "-fa: attention never stores its scores here; leave it out"},
    {"llama_cpps_with_an_equals_sign", {"--keep=5"}, "--keep: a full context ends the answer; -c N sets a larger one"},
    {"llama_cpps_without_its_value", {"-mg"}, "-mg needs a value after it"},
    {"llama_cpps_where_it_means_nothing",
     {"tokenize", "-ngl", "9"},
     "unknown flag -ngl; chat tokenize --help lists what there is"},
};

class Refused : public testing::TestWithParam<RefusedCase> {};
TEST_P(Refused, InOneSentence) {
  try {
    parse_options(GetParam().typed);
    FAIL() << "was accepted";
  } catch (const UsageError& error) {
    const std::string sentence = error.what();
    EXPECT_EQ(sentence, GetParam().sentence);
    EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
    EXPECT_NE(sentence.back(), '.') << sentence;
    EXPECT_TRUE(std::islower(static_cast<unsigned char>(sentence[0])) || sentence[0] == '-') << sentence;
  }
}
INSTANTIATE_TEST_SUITE_P(Rows, Refused, testing::ValuesIn(kRefused), [](const auto& test) { return test.param.name; });

TEST(Options, HelpOfEveryCommandNamesTheDevice) {
  for (const char* command : {"chat", "tokenize", "template", "logits", "perplexity", "inspect", "compare", "bench"}) {
    const Words words = std::string(command) == "chat" ? Words{"--help"} : Words{command, "--help"};
    const ParsedOptions parsed = parse_options(words);
    const std::string text = help_text(command_help(), std::get<HelpOptions>(*parsed.options).command);
    EXPECT_NE(text.find("--device"), std::string::npos) << text;
  }
  EXPECT_EQ(parse_options({"--version"}).text.rfind("chat ", 0), 0u);
}

}  // namespace
}  // namespace warpchat
