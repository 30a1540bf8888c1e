// The program's own tools, called as a model calls them.
#include "app/tools/built_in_tools.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "app/tools/line_pattern.h"
#include "app/tools/local_time.h"
#include "app/tools/search_tool.h"
#include "models/text_format.h"
#include "models/utf8.h"
#include "tests/app_tools/temporary_folder.h"
#include "tests/support/error_of.h"
#include "tests/support/variable.h"

namespace warpchat {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

class BuiltIns : public testing::Test {
 protected:
  ToolResult call(const std::string& name, const json& arguments, std::stop_token stop = {}) const {
    return BuiltInTools({folder_.path()}).call("warpchat__" + name, arguments, {.stop = std::move(stop)});
  }
  std::string text(const std::string& name, const json& arguments) const {
    const ToolResult result = call(name, arguments);
    EXPECT_EQ(result.status, ToolStatus::kOk) << result.text;
    return result.text;
  }
  std::string fault(const std::string& name, const json& arguments) const {
    const ToolResult result = call(name, arguments);
    EXPECT_EQ(result.status, ToolStatus::kError) << result.text;
    return result.text;
  }
  TemporaryFolder folder_;
};

TEST_F(BuiltIns, AreDeclaredWithSchemas) {
  const BuiltInTools tools({folder_.path()});
  std::vector<std::string> names;
  for (const Tool& tool : tools.declarations()) {
    names.push_back(tool.name);
    EXPECT_EQ(tool.schema["type"], "object");
    EXPECT_FALSE(tool.description.empty());
    EXPECT_EQ(tool.configuration.size(), 64u);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"warpchat__calculate", "warpchat__now", "warpchat__read_file",
                                             "warpchat__search"}));
  EXPECT_EQ(BuiltInTools({}).declarations().size(), 2u) << "without folders nothing is read";
  EXPECT_EQ(BuiltInTools({}).call("warpchat__read_file", {{"path", "/etc/passwd"}}, {}).status, ToolStatus::kError);
  EXPECT_NE(fault("write_file", json::object()).find("the tools are warpchat__calculate"), std::string::npos);
}

TEST_F(BuiltIns, NameTheArgumentThatDoesNotFit) {
  EXPECT_EQ(fault("read_file", json::object()), "the argument \"path\" is missing");
  EXPECT_EQ(fault("read_file", {{"path", nullptr}}), "the argument \"path\" is missing");
  EXPECT_EQ(fault("read_file", {{"path", 1}}), "the argument \"path\" is not a text");
  EXPECT_EQ(fault("read_file", {{"path", "a"}, {"lines", 0}}),
            "the argument \"lines\" is not a whole number from 1 to 1,000,000,000");
  for (const json& line : {json("1"), json(-1), json(1.5), json(1e300), json(UINT64_MAX), json(json::array())})
    EXPECT_NE(fault("read_file", {{"path", "a"}, {"first_line", line}}).find("\"first_line\""), std::string::npos);
  EXPECT_EQ(fault("search", {{"text", "x"}, {"regex", "y"}}),
            "there is no argument \"regex\"; there are files, path, text");
  EXPECT_EQ(fault("now", json::array()), "the arguments are not an object");
}

TEST_F(BuiltIns, ReadLines) {
  folder_.write("lines", "one\ntwo\nthree\n");
  folder_.write("no_end", "\xEF\xBB\xBFone\ntwo");
  EXPECT_EQ(text("read_file", {{"path", "lines"}}), "one\ntwo\nthree\n");
  EXPECT_EQ(text("read_file", {{"path", "no_end"}}), "one\ntwo");
  EXPECT_EQ(text("read_file", {{"path", "lines"}, {"first_line", 2.0}}), "two\nthree\n");
  EXPECT_EQ(text("read_file", {{"path", "lines"}, {"first_line", 2}, {"lines", 1}}),
            "two\n\n[lines 2 to 2 of a file of 14 bytes]");
  EXPECT_EQ(text("read_file", {{"path", "no_end"}, {"first_line", 2}, {"lines", 5}}), "two");
  EXPECT_EQ(fault("read_file", {{"path", "lines"}, {"first_line", 4}}), "lines has only 3 lines");
  EXPECT_EQ(fault("read_file", {{"path", "lines"}, {"first_line", 9}}), "lines has only 3 lines");
  EXPECT_EQ(fault("read_file", {{"path", "no_end"}, {"first_line", 3}}), "no_end has only 2 lines");
  folder_.write("empty", "");
  EXPECT_EQ(text("read_file", {{"path", "empty"}}), "[empty is empty]");
}

TEST_F(BuiltIns, CutLongFilesAtALineAndGoOn) {
  std::string lines;
  for (int i = 1; i <= 20'000; ++i) lines += "line " + std::to_string(i) + "\n";
  folder_.write("long", lines);
  std::string whole;
  for (size_t next = 1; next != 0;) {
    std::string part = text("read_file", {{"path", "long"}, {"first_line", next}});
    const size_t note = part.find("\n[cut: ");
    next = 0;
    if (note != std::string::npos) {
      next = std::stoul(part.substr(part.find("first_line ", note) + 11));
      part.resize(note);
    }
    whole += part;
  }
  EXPECT_EQ(whole, lines) << "nothing is lost between the parts";
  folder_.write("one_line", std::string((64 << 10) - 1, 'x') + "\u00e9" + std::string(100, 'y') + "\nnext");
  const std::string cut = text("read_file", {{"path", "one_line"}});
  EXPECT_TRUE(is_valid_utf8(cut));
  EXPECT_NE(cut.find("xx\n[cut: the first 65,535 bytes of line 1 of a file of 65,642 bytes; go on with first_line 2]"),
            std::string::npos);
}

TEST_F(BuiltIns, ReadAHundredMegabytes) {
  folder_.write("large", "first\n");
  ASSERT_EQ(truncate(folder_.path_of("large").c_str(), 100'000'000), 0);
  const auto begin = std::chrono::steady_clock::now();
  const ToolResult result = call("read_file", {{"path", "large"}, {"lines", 1}});
  EXPECT_EQ(result.status, ToolStatus::kError) << "NUL makes it a binary file";
  std::string text_begin(10'000, 'a');
  folder_.write("large", text_begin + "\n");
  ASSERT_EQ(truncate(folder_.path_of("large").c_str(), 100'000'000), 0);
  EXPECT_NE(text("read_file", {{"path", "large"}, {"lines", 1}}).find("[lines 1 to 1 of a file of 100,000,000 bytes]"),
            std::string::npos);
  EXPECT_NE(fault("read_file", {{"path", "large"}, {"first_line", 3}}).find("has only 2 lines"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
}

TEST_F(BuiltIns, RefuseBinaryFilesInASentence) {
  folder_.write("program", std::string("\x7F"
                                       "ELF\0\0\0",
                                       7));
  folder_.write("picture.png", std::string("\x89PNG\r\n\x1a\n\0\0\0", 11));
  folder_.write("noise", "\xFF\xFE\xFD\xFC\xFB\xFA\xF9\xF8");
  EXPECT_EQ(fault("read_file", {{"path", "program"}}),
            "cannot read program: it is a binary file; only text can be read");
  EXPECT_EQ(fault("read_file", {{"path", "picture.png"}}),
            "cannot read picture.png: it is an image; only text can be read");
  fault("read_file", {{"path", "noise"}});
  ASSERT_EQ(mkfifo(folder_.path_of("pipe").c_str(), 0600), 0);
  fault("read_file", {{"path", "pipe"}});
}

TEST_F(BuiltIns, ShowBytesThatAreNotUtf8) {
  folder_.write("latin1", "a long enough text with one caf\xe9 in it\n");
  const std::string shown = text("read_file", {{"path", "latin1"}});
  EXPECT_EQ(shown, "a long enough text with one caf\uFFFD in it\n\n[bytes that are not UTF-8 are shown as \uFFFD]");
}

TEST_F(BuiltIns, ListFolders) {
  folder_.write("src/main.cpp", "x");
  folder_.write("src/.hidden", "x");
  folder_.write("src/b/x", "x");
  EXPECT_EQ(text("read_file", {{"path", "src"}}),
            "src is a folder, which has these files and folders\n.hidden\nb/\nmain.cpp\n");
  TemporaryFolder other;
  BuiltInTools both({folder_.path(), other.path()});
  EXPECT_EQ(both.call("warpchat__read_file", {{"path", "."}}, {}).text.find("these folders are opened\n"), 0u);
}

constexpr char kPdf[] =
    "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
    "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
    "4 0 obj<</Length 52>>stream\nBT /F 12 Tf 10 50 Td (words within a PDF file) Tj ET\nendstream endobj\n"
    "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n";

TEST_F(BuiltIns, ReadAndSearchPdfFiles) {
  folder_.write("paper.pdf", kPdf);
  if (std::system("pdftotext -v >/dev/null 2>&1") != 0) GTEST_SKIP() << "needs poppler-utils";
  EXPECT_EQ(text("read_file", {{"path", "paper.pdf"}}).find("words within a PDF file\n"), 0u);
  EXPECT_EQ(text("search", {{"text", "WITHIN a"}}), "paper.pdf:1: words within a PDF file\n");
  folder_.write("broken.pdf", "%PDF-1.4 nothing");
  EXPECT_EQ(fault("read_file", {{"path", "broken.pdf"}}), "cannot read broken.pdf: it is a damaged PDF");
}

TEST_F(BuiltIns, Search) {
  folder_.write("b.txt", "nothing\nA Needle here\r\n\nand a needle\n");
  folder_.write("a/c.md", "needle");
  folder_.write(".hidden/x", "needle");
  folder_.write(".secret", "needle");
  folder_.write("bin", std::string("needle\0", 7));
  folder_.link("b.txt", "link");
  EXPECT_EQ(text("search", {{"text", "nEEdle"}}),
            "a/c.md:1: needle\nb.txt:2: A Needle here\nb.txt:4: and a needle\n[left out: 1 binary file]\n");
  EXPECT_EQ(text("search", {{"text", "needle"}, {"path", "a"}}), "a/c.md:1: needle\n");
  EXPECT_EQ(text("search", {{"text", "needle"}, {"path", ".hidden"}}), ".hidden/x:1: needle\n");
  EXPECT_EQ(text("search", {{"text", "needle"}, {"path", ".secret"}}), ".secret:1: needle\n");
  EXPECT_EQ(text("search", {{"text", "needle"}, {"files", "*.md"}}), "a/c.md:1: needle\n");
  EXPECT_EQ(text("search", {{"text", "needle"}, {"files", "a/*"}}), "a/c.md:1: needle\n");
  EXPECT_EQ(text("search", {{"text", "a*here"}, {"path", "b.txt"}}), "b.txt:2: A Needle here\n");
  EXPECT_EQ(text("search", {{"text", "none of it"}, {"path", "b.txt"}}), "no line has 'none of it' in 1 file\n");
  EXPECT_NE(fault("search", {{"text", "**"}}).find("\"text\""), std::string::npos);
  EXPECT_NE(fault("search", {{"text", "a\nb"}}).find("\"text\""), std::string::npos);
  EXPECT_NE(fault("search", {{"text", "x"}, {"path", "../"}}).find("leads out"), std::string::npos);
}

TEST_F(BuiltIns, SearchDoesNotLeaveTheFolder) {
  TemporaryFolder outside;
  outside.write("x", "needle");
  folder_.link(outside.path(), "out");
  folder_.link(outside.path_of("x"), "file");
  folder_.link(".", "loop");
  ASSERT_EQ(mkfifo(folder_.path_of("pipe").c_str(), 0600), 0);
  EXPECT_EQ(text("search", {{"text", "needle"}}), "no line has 'needle' in 0 files\n");
}

TEST_F(BuiltIns, SearchAcrossPiecesAndOfOtherLetters) {
  std::string text_of_file(300'000, 'x');  // a line longer than a piece that is read
  text_of_file += " needle \n";
  for (int i = 0; i < 100'000; ++i) text_of_file += "filling\n";
  text_of_file += "\u00c4PFEL and B\u00e4ume\n";
  folder_.write("f", text_of_file);
  const std::string found = text("search", {{"text", "needle"}});
  EXPECT_EQ(found.find("f:1: ...xxx"), 0u) << found;
  EXPECT_NE(found.find(" needle\n"), std::string::npos) << found;
  EXPECT_LT(found.size(), 400u);
  EXPECT_EQ(text("search", {{"text", "\u00e4pfel*b\u00c4ume"}}), "f:100002: \u00c4PFEL and B\u00e4ume\n");
}

TEST_F(BuiltIns, SearchWithinLimits) {
  for (int i = 0; i < 30; ++i) folder_.write("f" + std::to_string(i), "needle\nneedle\n");
  const OpenedFolders folders({folder_.path()});
  const json arguments = {{"text", "needle"}};
  const auto search = [&](SearchLimits limits) { return search_files(folders, arguments, {}, limits); };
  const std::string few = search({.lines = 5});
  EXPECT_EQ(std::ranges::count(few, '\n'), 6);
  EXPECT_NE(few.find("more than 5 such lines"), std::string::npos);
  EXPECT_NE(search({.files = 10}).find("more than 10 files"), std::string::npos);
  EXPECT_NE(search({.bytes = 100}).find("more than 100 bytes"), std::string::npos);
  EXPECT_NE(search({.time = 0ms}).find("the search ended early"), std::string::npos);
  EXPECT_EQ(search({}).find("ended early"), std::string::npos);
}

TEST_F(BuiltIns, EndWhenTheyAreStopped) {
  ASSERT_EQ(truncate((folder_.write("large", std::string(10'000, 'a') + "\n"), folder_.path_of("large")).c_str(),
                     int64_t{200} << 30),
            0);  // sparse
  const auto begin = std::chrono::steady_clock::now();
  for (const auto& [name, arguments] :
       {std::pair("read_file", json{{"path", "large"}, {"first_line", 9}}), std::pair("search", json{{"text", "x"}})}) {
    std::stop_source stop;
    std::jthread stopping([&] {
      std::this_thread::sleep_for(50ms);
      stop.request_stop();
    });
    EXPECT_EQ(call(name, arguments, stop.get_token()).status, ToolStatus::kStopped) << name;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST(Names, MatchPatterns) {
  EXPECT_TRUE(matches_name("*.cpp", "a.cpp"));
  EXPECT_TRUE(matches_name("src/**/*.h", "src/a/b.h"));
  EXPECT_TRUE(matches_name("a?c", "abc"));
  EXPECT_TRUE(matches_name("**", ""));
  EXPECT_FALSE(matches_name("*.cpp", "a.cppx"));
  EXPECT_FALSE(matches_name("a", "ab"));
  EXPECT_FALSE(matches_name("", "a"));
  std::string hostile;
  for (int i = 0; i < 100; ++i) hostile += "*a";
  EXPECT_FALSE(matches_name(hostile + "b", std::string(4000, 'a')));
}

TEST(LocalTime, HasTheZonesRules) {
  const auto winter = std::chrono::sys_days(std::chrono::year(2026) / 11 / 28) + 16h + 5min + 9s;
  const auto summer = std::chrono::sys_days(std::chrono::year(2026) / 7 / 1) + 22h + 30min;
  EXPECT_EQ(local_time_text(winter, "Europe/Berlin"),
            "Saturday, 2026-11-28, 17:05:09, time zone Europe/Berlin (UTC+01:00)");
  EXPECT_EQ(local_time_text(summer, "Europe/Berlin"),
            "Thursday, 2026-07-02, 00:30:00, time zone Europe/Berlin (UTC+02:00)");
  EXPECT_EQ(local_time_text(winter, "America/St_Johns"),
            "Saturday, 2026-11-28, 12:35:09, time zone America/St_Johns (UTC-03:30)");
  EXPECT_EQ(local_time_text(winter, "UTC"), "Saturday, 2026-11-28, 16:05:09, time zone UTC (UTC+00:00)");
  EXPECT_EQ(error_of([&] { local_time_text(winter, "Mars/Base"); }),
            "there is no time zone 'Mars/Base'; zones have names such as Europe/Berlin or UTC");
  EXPECT_NE(error_of([&] { local_time_text(winter, "../../etc/passwd"); }), "no error");
  EXPECT_NE(error_of([&] { local_time_text(winter, std::string(10'000, 'x')); }), "no error");
  EXPECT_NE(local_time_text(winter, "").find("2026-11-"), std::string::npos);
}

}  // namespace
}  // namespace warpchat
