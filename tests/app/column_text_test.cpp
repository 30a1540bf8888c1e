#include "app/platform/text/column_text.h"

#include <gtest/gtest.h>

namespace warpchat {
namespace {

struct ColumnCase {
  const char* name;
  const char* text;
  int width;
  const char* shown;
};

constexpr ColumnCase kColumns[] = {
    {"columns_fit_their_cells", "  /a\tfirst\n  /long\tsecond\n", 80, "  /a     first\n  /long  second\n"},
    {"the_last_cell_hangs", "  /a\tone two three four five six seven\n", 32,
     "  /a  one two three four five\n      six seven\n"},
    {"a_narrow_terminal_has_it_below", "  /long N\tone two three\n", 20, "  /long N\n     one two three\n"},
    {"columns_are_of_rows_with_as_many_cells", "a\tb\nlong\tx\ty\n", 80, "a  b\nlong  x  y\n"},
    {"a_much_wider_cell_has_a_line_of_its_own", "-a\tfirst\n--a-flag-that-is-longer-than-most VALUE\tsecond\n", 80,
     "-a                            first\n--a-flag-that-is-longer-than-most VALUE\n                              "
     "second\n"},
    {"a_plain_line_hangs_under_its_text", "  one two three\n", 10, "  one two\n  three\n"},
    {"empty_lines_stay", "a\n\nb\tc\n", 80, "a\n\nb  c\n"},
    {"nothing_is_wrapped_without_a_width", "a\tone two three four five six\n", 0, "a  one two three four five six\n"},
    {"a_path_is_broken_at_its_end_only_if_it_must", "see /home/user/models\n", 18, "see\n/home/user/models\n"},
};

class Columns : public testing::TestWithParam<ColumnCase> {};

TEST_P(Columns, StandSo) { EXPECT_EQ(column_text(GetParam().text, GetParam().width), GetParam().shown); }

INSTANTIATE_TEST_SUITE_P(Rows, Columns, testing::ValuesIn(kColumns), [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace warpchat
