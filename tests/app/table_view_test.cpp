// Tables on a screen, while they stream and at their end.
#include "app/terminal/table_view.h"

#include <gtest/gtest.h>

#include "tests/app/screen.h"

namespace warpchat {
namespace {

constexpr std::string_view kSmall = "| Name | Use |\n|------|-----|\n| tar | archives |\n| sed | edits |\n";
constexpr std::string_view kWide =
    "| Language | What it is good for | Year |\n|:--|:-:|--:|\n"
    "| Fortran | numerical work on large machines, and old programs | 1957 |\n"
    "| C++ | where every byte and cycle counts | 1985 |\n";

std::string at_once(std::string_view source, int columns, bool records = false) {
  TableView table({.columns = columns, .styled = false, .records = records});
  table.add(source);
  const std::string shown = table.show();
  return shown + table.finish();
}

TEST(TableView, ColumnsAreAsWideAsTheirCells) {
  EXPECT_EQ(at_once(kSmall, 80),
            "| Name | Use      |\n"
            "|------|----------|\n"
            "| tar  | archives |\n"
            "| sed  | edits    |\n");
}

TEST(TableView, CellsWrapWhereTheTableWouldBeTooWide) {
  EXPECT_EQ(at_once(kWide, 40),
            "| Language |  What it is good   | Year |\n"
            "|          |        for         |      |\n"
            "|----------|:------------------:|-----:|\n"
            "| Fortran  | numerical work on  | 1957 |\n"
            "|          |  large machines,   |      |\n"
            "|          |  and old programs  |      |\n"
            "| C++      |  where every byte  | 1985 |\n"
            "|          |  and cycle counts  |      |\n");
}

TEST(TableView, RowsAreRecordsWhereThereIsNoRoomForColumns) {
  EXPECT_EQ(at_once(kWide, 20),
            "Language: Fortran\n"
            "What it is good for:\n"
            "  numerical work on\n"
            "  large machines,\n"
            "  and old programs\n"
            "Year: 1957\n"
            "\n"
            "Language: C++\n"
            "What it is good for:\n"
            "  where every byte\n"
            "  and cycle counts\n"
            "Year: 1985\n");
}

TEST(TableView, RecordsComeRowByRow) {
  TableView table({.columns = 80, .styled = false, .records = true});
  table.add("| Name | Use |\n|------|-----|\n| tar | arch");
  EXPECT_EQ(table.show(), "");
  table.add("ives |\n| sed");
  EXPECT_EQ(table.show(), "Name: tar\nUse: archives\n");
  table.add(" | edits |\n");
  const std::string rest = table.show();
  EXPECT_EQ(rest + table.finish(), "\nName: sed\nUse: edits\n");
}

TEST(TableView, CellsKeepTheirMarksAndLooks) {
  TableView table({.columns = 80, .styled = true});
  table.add("| a |\n|---|\n| **b** |\n");
  EXPECT_NE(table.finish().find("\x1b[0;2m**\x1b[0;1mb\x1b[0;2m**\x1b[0m"), std::string::npos);
}

TEST(TableView, ABarBehindABackslashIsText) {
  EXPECT_EQ(at_once("| a |\n|---|\n| x \\| y |\n", 80), "| a     |\n|-------|\n| x | y |\n");
}

TEST(TableView, WideCharactersAreNotHalved) {
  const std::string shown = at_once("| 名前 | x |\n|--|--|\n| 日本語日本語日本語日本語 | y |\n", 20);
  EXPECT_EQ(shown,
            "| 名前       | x   |\n"
            "|------------|-----|\n"
            "| 日本語日本 | y   |\n"
            "| 語日本語日 |     |\n"
            "| 本語       |     |\n");
}

// While the source streams in small pieces, the screen keeps what it had. The end is the same as without streaming.
std::string streamed(std::string_view source, int columns, int rows, size_t step) {
  Screen screen(columns, rows);
  TableView table({.columns = columns, .rows = rows, .styled = false, .movable = true});
  for (size_t at = 0; at < source.size(); at += step) {
    table.add(source.substr(at, step));
    screen.write(as_terminal(table.show()));
  }
  screen.write(as_terminal(table.finish()));
  EXPECT_TRUE(screen.unknown().empty());
  return screen.text() + "\n";
}

TEST(TableView, IsTheSameHoweverItStreams) {
  for (const std::string_view source : {kSmall, kWide})
    for (const int columns : {20, 40, 80})
      for (const size_t step : {1, 3, 7, 1000})
        EXPECT_EQ(streamed(source, columns, 24, step), at_once(source, columns));
}

TEST(TableView, ShowsARowWhileItComes) {
  Screen screen(40, 10);
  TableView table({.columns = 40, .rows = 10, .styled = false, .movable = true});
  table.add("| Name | Use |\n|------|-----|\n| tar | arc");
  screen.write(as_terminal(table.show()));
  EXPECT_EQ(screen.text(), "| Name | Use |\n|------|-----|\n| tar  | arc |");
}

TEST(TableView, OneThatIsLongerThanTheScreenScrollsAndIsNeverDrawnTwice) {
  std::string source = "| n | square |\n|---|---|\n";
  for (int i = 0; i < 30; ++i) source += "| " + std::to_string(i) + " | " + std::to_string(i * i * 1000) + " |\n";
  for (const size_t step : {1, 5, 11}) {
    TableView table({.columns = 40, .rows = 8, .styled = false, .movable = true});
    Screen all(40, 100), small(40, 8);  // what has left the small screen cannot be redrawn
    for (size_t at = 0; at < source.size(); at += step) {
      table.add(std::string_view(source).substr(at, step));
      const std::string bytes = table.show();
      all.write(as_terminal(bytes)), small.write(as_terminal(bytes));
    }
    const std::string end = table.finish();
    all.write(as_terminal(end)), small.write(as_terminal(end));
    const std::string text = all.text();
    for (int i = 0; i < 30; ++i) {
      const std::string row = "\n| " + std::to_string(i) + " ";
      ASSERT_NE(text.find(row), std::string::npos) << text;
      EXPECT_EQ(text.find(row), text.rfind(row)) << text;
    }
    EXPECT_TRUE(text.ends_with(small.text())) << small.text();
  }
}

// The terminal's whole output, as lines of a screen that loses none of them: what has left a window of so many rows is
// not drawn again there.
std::string scrolled(std::string_view source, int columns, int rows, size_t step) {
  TableView table({.columns = columns, .rows = rows, .styled = false, .movable = true});
  Screen all(columns, 400), window(columns, rows);
  const auto write = [&](const std::string& bytes) { all.write(as_terminal(bytes)), window.write(as_terminal(bytes)); };
  for (size_t at = 0; at < source.size(); at += step) {
    table.add(source.substr(at, step));
    write(table.show());
  }
  write(table.finish());
  EXPECT_TRUE(all.text().ends_with(window.text())) << all.text() << "\nin the window:\n" << window.text();
  return all.text();
}

TEST(TableView, ARowHigherThanTheWindowIsPrintedOnceAndWhole) {
  std::string cell;
  for (int i = 0; i < 60; ++i) cell += "w" + std::to_string(i) + " ";
  const std::string row = "| plan | " + cell + "| 200 EUR |\n";
  for (const std::string& source :
       {"| Name | What | Cost |\n|---|---|---|\n| first | short | 1 |\n" + row + "| last | short | 3 |\n",
        "| Name | What | Cost |\n|---|---|---|\n" + row + row + "| last | short | 3 |\n",
        "| Name | What | Cost |\n|---|---|---|\n| last | short | 3 |\n" + row}) {
    const size_t n_rows = source.find(row) == source.rfind(row) ? 1 : 2;
    for (const int rows : {2, 6, 14}) {
      for (const size_t step : {size_t{1}, size_t{7}, size_t{90}, source.size()}) {
        const std::string text = scrolled(source, 50, rows, step);
        for (const std::string& word :
             {std::string("w0 "), std::string("w31 "), std::string("w59 "), std::string("200"), std::string("EUR")}) {
          size_t n = 0;
          for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
          EXPECT_EQ(n, n_rows) << word << " in a window of " << rows << " rows, " << step << " bytes a step:\n" << text;
        }
        EXPECT_EQ(text.find("| last"), text.rfind("| last")) << text;
      }
    }
  }
}

TEST(TableView, ARecordHigherThanTheWindowIsPrintedOnceAndWhole) {
  std::string source, rule, values;
  for (int i = 0; i < 25; ++i) {
    source += "| col " + std::to_string(i) + " ";
    rule += "|---";
    values += "| value " + std::to_string(i) + " ";
  }
  source += "|\n" + rule + "|\n" + values + "|\n" + values + "|\n";
  std::string record;
  for (int i = 0; i < 25; ++i) {
    record += "col " + std::to_string(i) + ": value " + std::to_string(i) + "\n";
  }
  for (const int rows : {10, 24, 60})
    for (const size_t step : {size_t{1}, size_t{11}, source.size()})
      EXPECT_EQ(scrolled(source, 60, rows, step) + "\n", record + "\n" + record) << rows << ", " << step;
}

TEST(TableView, GoesOnBelowWhenTheTerminalGetsNarrower) {
  Screen screen(40, 24);
  TableView table({.columns = 40, .rows = 24, .styled = false, .movable = true});
  table.add("| Name | Use |\n|------|-----|\n| tar | a whole lot of archives |\n| sed | edi");
  screen.write(as_terminal("before\n" + table.show()));
  screen.resize(24);
  screen.write(as_terminal(table.resize(24, 24)));
  table.add("ts |\n");
  screen.write(as_terminal(table.finish()));
  const std::string text = screen.text();
  EXPECT_TRUE(text.starts_with("before\n")) << text;
  EXPECT_TRUE(text.ends_with("| Name | Use   |\n|------|-------|\n| sed  | edits |")) << text;
}

TEST(TableView, IsDrawnOverWhenTheTerminalGetsWider) {
  Screen screen(20, 24);
  TableView table({.columns = 20, .rows = 24, .styled = false, .movable = true});
  table.add(kSmall.substr(0, 50));
  screen.write(as_terminal(table.show()));
  screen.resize(60);
  screen.write(as_terminal(table.resize(60, 24)));
  table.add(kSmall.substr(50));
  screen.write(as_terminal(table.finish()));
  EXPECT_EQ(screen.text() + "\n", at_once(kSmall, 60));
}

}  // namespace
}  // namespace warpchat
