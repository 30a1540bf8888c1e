// Small pure parts: text input, history, settings, bench report.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/commands/bench_report.h"
#include "app/model_choice/memory_room.h"
#include "app/platform/history.h"
#include "app/platform/text_input.h"
#include "app/settings/chat_settings.h"
#include "app/terminal/conversation_list.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/warpchat_app_XXXXXX";
    path_ = mkdtemp(name);
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct Utf8Case {
  const char* name;
  std::string_view text;
  int fault;  // -1: valid
};

constexpr Utf8Case kUtf8[] = {
    {"ascii", "abc", -1},
    {"all_lengths", "aé日😀", -1},
    {"lone_continuation", "ab\x80", 2},
    {"cut_character", "a\xE6\x97", 1},
    {"overlong", "\xC0\xAF", 0},
    {"surrogate", "a\xED\xA0\x80", 1},
    {"beyond_unicode", "\xF4\x90\x80\x80", 0},
    {"latin1", "caf\xE9", 3},
};

TEST(TextInput, NamesTheFirstInvalidByte) {
  for (const Utf8Case& c : kUtf8) {
    const std::string fault = error_of([&] { require_utf8(c.text, "a.txt"); });
    EXPECT_EQ(
        fault,
        c.fault < 0
            ? "no error"
            : "a.txt: byte " + std::to_string(c.fault) +
                  " is not valid UTF-8; convert the text to UTF-8 first, for example with iconv -f LATIN1 -t UTF-8")
        << c.name;
  }
}

struct KindCase {
  const char* name;
  std::string bytes;
  const char* fault;  // empty: text
};
const KindCase kKinds[] = {
    {"text", "GGUF is a format", ""},
    {"pdf", "%PDF-1.7\nall of it ASCII", "a PDF; convert it to text first, for example with pdftotext"},
    {"docx", "PK\x03\x04\xFF", "a ZIP archive (.docx, .xlsx and .odt are, too); save it as text first"},
    {"utf16", "\xFF\xFEh\x01", "UTF-16 text; convert it to UTF-8 first, for example with iconv -f UTF-16"},
    {"jpeg", "\xFF\xD8\xFF\xE0", "an image; only text can be read"},
    {"model", std::string("GGUF\3\0", 6), "a model; use -m or /model to load it"},
    {"binary", std::string("a\0b", 3), "a binary file; only text can be read"},
};

TEST(TextInput, CallsWhatIsNoTextByItsName) {
  for (const KindCase& c : kKinds) {
    try {
      require_text(c.bytes, "f");
      EXPECT_STREQ(c.fault, "") << c.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "cannot read f: it is " + std::string(c.fault)) << c.name;
    }
  }
}

TEST(TextInput, ReadsFilesAlone) {
  TemporaryFolder folder;
  for (const auto& [path, fault] :
       {std::pair<std::string, std::string>(folder / "", "it is a folder; name a file in it"),
        {"/dev/null", "it is a device, a pipe or a socket, not a file"},
        {folder / "none", "no such file"}}) {
    try {
      read_regular_file(path, 1000);
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "cannot read " + path + ": " + fault);
    }
  }
}

TEST(TextInput, DropsOneLineEnd) {
  EXPECT_EQ(without_last_newline("a\n"), "a");
  EXPECT_EQ(without_last_newline("a\r\n"), "a");
  EXPECT_EQ(without_last_newline("a\n\n"), "a\n");
  EXPECT_EQ(without_last_newline("a"), "a");
}

TEST(History, KeepsLinesOnDiskForTheOwnerOnly) {
  TemporaryFolder folder;
  {
    History history(folder / "history");
    history.add("one");
    history.add("two\nlines \\n");
    history.add("two\nlines \\n");
  }
  const History again(folder / "history");
  EXPECT_EQ(again.lines(), (std::vector<std::string>{"one", "two\nlines \\n"}));
  struct stat status;
  ASSERT_EQ(stat((folder / "history").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(History, SkipsBrokenLinesAndCutsAnOldFile) {
  TemporaryFolder folder;
  {
    std::ofstream file(folder / "history");
    file << "bad\xff\n\n";
    for (int i = 0; i < 5000; ++i) file << "line " << i << "\n";
  }
  EXPECT_EQ(History(folder / "history").lines().size(), 2000u);
  const History cut(folder / "history");
  EXPECT_EQ(cut.lines().size(), 2000u);
  EXPECT_EQ(cut.lines().back(), "line 4999");
}

TEST(Settings, FlagsBeatTheFileAndTheFileBeatsTheBuiltIn) {
  SamplingParams file;
  file.temperature = 0.3f;
  file.top_k = 7;
  ChatOptions options;
  options.top_k = 9;
  options.seed = 5;
  const SamplingParams p = settings_from(options, file).session.sampling;
  EXPECT_EQ(p.temperature, 0.3f);
  EXPECT_EQ(p.top_k, 9u);
  EXPECT_EQ(p.top_p, 0.95f);
  EXPECT_EQ(p.seed, 5u);
}

TEST(Settings, ThinkIsATemplateVariable) {
  ChatOptions options;
  EXPECT_TRUE(settings_from(options, {}).session.template_variables.empty());
  options.think = false;
  options.template_variables = R"({"a": 1})";
  EXPECT_EQ(settings_from(options, {}).session.template_variables.dump(), R"({"a":1,"enable_thinking":false})");
}

struct SettingCase {
  const char* name;
  const char* value;
  const char* fault;  // nullptr: accepted
};

constexpr SettingCase kSettingCases[] = {
    {"temp", "0.5", nullptr},
    {"top-k", "5", nullptr},
    {"system", "be brief, please", nullptr},
    {"system", "", nullptr},
    {"think", "default", nullptr},
    {"wordwrap", "off", nullptr},
    {"n_predict", "-1", nullptr},
    {"temp", "hot", "temp takes a number from 0 to 100, found 'hot'"},
    {"temp", "nan", "temp takes a number from 0 to 100, found 'nan'"},
    {"top_p", "1.5", "top_p takes a number from 0 to 1, found '1.5'"},
    {"top_k", "5x", "top_k takes a whole number from 0 on, found '5x'"},
    {"think", "perhaps", "think takes on, off or default, found 'perhaps'"},
    {"colour", "red", "unknown setting 'colour'; /set lists them"},
};

TEST(Settings, NoneAndQuotesEmptyTheSystemMessage) {
  for (const char* empty : {"none", "\"\""}) {
    ChatSettings settings;
    change_setting(settings, "system", "Be brief");
    EXPECT_EQ(shown_setting(settings, "system"), "system: Be brief");
    change_setting(settings, "system", empty);
    EXPECT_EQ(settings.session.system_prompt, "");
    EXPECT_EQ(shown_setting(settings, "system"), "system: none");
  }
  EXPECT_EQ(shown_setting({}, "top-k").substr(0, 7), "top_k: ");
  EXPECT_THROW(shown_setting({}, "colour"), Error);
}

TEST(ListNumbers, AreSingleOnesAndRanges) {
  using Numbers = std::vector<uint32_t>;
  EXPECT_EQ(parse_numbers("3"), Numbers{3});
  EXPECT_EQ(parse_numbers("1 2"), (Numbers{1, 2}));
  EXPECT_EQ(parse_numbers("5 1-3 2"), (Numbers{1, 2, 3, 5}));
  for (const char* text : {"", "a", "1 a", "0", "3-1", "1-", "-1", "1-2-3", "1-9999999999"})
    EXPECT_EQ(parse_numbers(text), Numbers{}) << text;
}

TEST(Settings, SetTakesOrRefuses) {
  for (const SettingCase& c : kSettingCases) {
    ChatSettings settings;
    try {
      change_setting(settings, c.name, c.value);
      EXPECT_EQ(c.fault, nullptr) << c.name << " " << c.value;
      EXPECT_NE(list_settings(settings).find(c.value), std::string::npos);
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), c.fault ? c.fault : "taken");
    }
  }
}

Turn turn(TurnId id, TurnId parent, const char* text) {
  return {id, parent, {id % 2 == 1 ? "user" : "assistant", text}, TurnState::kComplete, 0};
}

// Answer 2 has a sibling below the same question, which begins another conversation.
TEST(Versions, AreNumberedWhereTheyPart) {
  ConversationTree tree;
  tree.turns = {turn(1, 0, "one"), turn(2, 1, "1"), turn(3, 2, "two"), turn(4, 1, "I\nII"), turn(5, 0, "eins")};
  tree.shown = 3;
  setenv("TZ", "UTC", 1);
  VersionList list = list_versions(tree);
  EXPECT_EQ(list.turns, (std::vector<TurnId>{1, 5, 2, 4}));
  EXPECT_EQ(list.lines,
            "message 1\n   1\t1970-01-01 00:00\tone  (shown)\n   2\t1970-01-01 00:00\teins\n"
            "answer 1\n   3\t1970-01-01 00:00\t1  (shown)\n   4\t1970-01-01 00:00\tI II\n");
  tree.shown = 2;  // undone messages can be restored
  EXPECT_EQ(list_versions(tree).turns, (std::vector<TurnId>{1, 5, 2, 4, 3}));
  tree.shown = 0;
  EXPECT_EQ(list_versions(tree).turns, (std::vector<TurnId>{1, 5}));
  tree.turns.resize(3);
  tree.shown = 3;
  EXPECT_EQ(list_versions(tree).lines, "");
}

const BenchSubject kSubject{"x.gguf", "qwen2 3B Q4_K", 2'000'000'000, 3'090'000'000, "CPU", "A \"CPU\"", 2, 2048,
                            512,      "f16",           "f16"};
const std::vector<BenchResult> kResults = {{512, 0, 0, 1, "", "2025-01-01T00:00:00Z", {1.0, 2.0}},
                                           {0, 128, 4096, 1, "", "2025-01-01T00:00:00Z", {4.0, 4.0}},
                                           {0, 64, 0, 4, "", "2025-01-01T00:00:00Z", {2.0, 2.0}}};

TEST(BenchReport, MarkdownHasLlamaBenchsColumns) {
  EXPECT_EQ(bench_report(kSubject, kResults, "md"),
            "| model         |     size | params | backend | threads |          test |             t/s |\n"
            "| ------------- | -------: | -----: | ------- | ------: | ------------: | --------------: |\n"
            "| qwen2 3B Q4_K | 1.86 GiB | 3.09 B | CPU     |       2 |         pp512 | 384.00 ± 181.02 |\n"
            "| qwen2 3B Q4_K | 1.86 GiB | 3.09 B | CPU     |       2 | tg128 @ d4096 |    32.00 ± 0.00 |\n"
            "| qwen2 3B Q4_K | 1.86 GiB | 3.09 B | CPU     |       2 |      tg64 x 4 |   128.00 ± 0.00 |\n");
}

TEST(BenchReport, TellsTypesOfTheCacheOtherThanF16) {
  BenchSubject subject = kSubject;
  subject.type_v = "q8_0";
  EXPECT_EQ(bench_report(subject, {kResults[0]}, "md"),
            "| model         |     size | params | backend | threads | type_v |  test |             t/s |\n"
            "| ------------- | -------: | -----: | ------- | ------: | -----: | ----: | --------------: |\n"
            "| qwen2 3B Q4_K | 1.86 GiB | 3.09 B | CPU     |       2 |   q8_0 | pp512 | 384.00 ± 181.02 |\n");
  const auto row = nlohmann::json::parse(bench_report(subject, {kResults[0]}, "jsonl"));
  EXPECT_EQ(row["type_k"], "f16");
  EXPECT_EQ(row["type_v"], "q8_0");
}

TEST(BenchReport, TellsHowAGpusKernelsWereLaunched) {
  std::vector<BenchResult> results = {kResults[0], kResults[2]};
  results[0].launch = "stream", results[1].launch = "graph";
  EXPECT_EQ(bench_report(kSubject, results, "md"),
            "| model         |     size | params | backend | threads | launch |     test |             t/s |\n"
            "| ------------- | -------: | -----: | ------- | ------: | -----: | -------: | --------------: |\n"
            "| qwen2 3B Q4_K | 1.86 GiB | 3.09 B | CPU     |       2 | stream |    pp512 | 384.00 ± 181.02 |\n"
            "| qwen2 3B Q4_K | 1.86 GiB | 3.09 B | CPU     |       2 |  graph | tg64 x 4 |   128.00 ± 0.00 |\n");
  EXPECT_EQ(nlohmann::json::parse(bench_report(kSubject, results, "json"))[1]["launch"], "graph");
}

TEST(BenchReport, JsonAndJsonLinesAgree) {
  const auto array = nlohmann::json::parse(bench_report(kSubject, kResults, "json"));
  ASSERT_EQ(array.size(), 3u);
  EXPECT_DOUBLE_EQ(array[0]["avg_ts"].get<double>(), 384);
  EXPECT_EQ(array[0]["n_prompt"], 512);
  EXPECT_EQ(array[1]["n_depth"], 4096);
  EXPECT_EQ(array[1]["avg_ns"], 4'000'000'000);
  const std::string lines = bench_report(kSubject, kResults, "jsonl");
  EXPECT_EQ(nlohmann::json::parse(lines.substr(0, lines.find('\n'))), array[0]);
}

TEST(BenchReport, CsvQuotesItsFields) {
  const std::string csv = bench_report(kSubject, kResults, "csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 4);
  EXPECT_NE(csv.find("\"A \"\"CPU\"\"\""), std::string::npos);
}

// Eight billion weights: as large as the file, except formats that are expanded to 4.31 bits.
TEST(MemoryForFile, GoesByTheFormatThatTheNameTells) {
  constexpr double kWeights = 8e9, kExpanded = kWeights * 4.31 / 8, kOthers = 6e8;
  const struct {
    const char* name;
    double bits;  // in the file
    double weights;
  } rows[] = {
      {"org/m-GGUF:Q4_K_M", 4.85, kWeights * 4.85 / 8},
      {"org/m-GGUF:IQ4_XS", 4.25, kWeights * 4.25 / 8},
      {"m-UD-Q2_K_XL.gguf", 2.9, kWeights * 2.9 / 8},
      {"org/m-GGUF:IQ2_XXS", 2.06, kExpanded},
      {"dir/m-iq2_xs.gguf", 2.31, kExpanded},
      {"m-IQ2_S-00001-of-00002.gguf", 2.5, kExpanded},
      {"org/m-GGUF:UD-IQ2_M", 2.7, kExpanded},
      {"m-UD-IQ3_XXS.gguf", 3.06, kExpanded},
      {"m-IQ3_M.gguf", 3.66, kExpanded},
  };
  for (const auto& row : rows) {
    const auto found = static_cast<double>(memory_for_file(row.name, static_cast<uint64_t>(kWeights * row.bits / 8)));
    EXPECT_NEAR(found, row.weights * 9 / 8 + kOthers, 0.01 * found) << row.name;
  }
}

}  // namespace
}  // namespace warpchat
