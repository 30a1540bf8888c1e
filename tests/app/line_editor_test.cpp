// Bytes as a keyboard sends them, and the resulting screen.
#include "app/terminal/editor/line_editor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "app/terminal/editor/completion.h"
#include "app/terminal/editor/typed_ahead.h"
#include "tests/app/screen.h"

namespace warpchat {
namespace {

constexpr int kColumns = 20, kRows = 6;

std::vector<std::string> known_arguments(SlashArgument kind, std::string_view) {
  if (kind == SlashArgument::kPrompt) return {"translate ", "trim text ", "sum ", "translate text="};
  if (kind == SlashArgument::kDevice) return {"cpu", "cuda:0", "cuda:1"};
  if (kind == SlashArgument::kConversation) return {"Über Katzen", "Übermut", "A title that is longer than the screen"};
  if (kind == SlashArgument::kModel) {
    std::vector<std::string> names;
    for (int i = 10; i < 99; ++i) names.push_back("model-" + std::to_string(i));
    return names;
  }
  return {};
}

// The line editor on a small screen.
class Typist {
 public:
  explicit Typist(std::vector<std::string> history = {}, int columns = kColumns, int rows = kRows)
      : screen(columns, rows), columns_(columns), rows_(rows) {
    for (const std::string& line : history) history_.add(line);
    editor.begin();
    draw();
  }

  // Returns the last outcome.
  EditOutcome type(std::string_view bytes) {
    EditOutcome outcome = EditOutcome::kEditing;
    for (const Key& key : decoder_.add(bytes)) outcome = editor.press(key);
    draw();
    return outcome;
  }
  void pause() {
    for (const Key& key : decoder_.timeout()) editor.press(key);
    draw();
  }
  void resize(int columns) {
    screen.resize(columns);
    columns_ = columns;
    draw();
  }
  // The screen with ^ under the cursor.
  std::string seen() const {
    return screen.text() + "\n" + std::string(static_cast<size_t>(screen.cursor_column()), ' ') + "^" +
           std::to_string(screen.cursor_row());
  }

  Screen screen;

 private:
  void draw() { screen.write(view_.draw(editor.layout(columns_, static_cast<size_t>(rows_)), columns_, rows_)); }
  int columns_, rows_;
  History history_;
  PromptView view_;
  KeyDecoder decoder_;

 public:
  LineEditor editor{history_, [](std::string_view before) { return complete_line(before, known_arguments); }};
};

struct EditCase {
  const char* name;
  const char* typed;
  const char* line;  // what Enter returns
};

class Edit : public testing::TestWithParam<EditCase> {};

constexpr EditCase kEdits[] = {
    {"plain", "hello", "hello"},
    {"insert_in_the_middle", "helo\x1b[D\x1b[Dl", "hello"},
    {"backspace", "hellp\x7fo", "hello"},
    {"ctrl_t_swaps_characters", "ehllo\x1b[D\x1b[D\x1b[D\x1b[D\x14\x05x\x14", "hellxo"},
    {"ctrl_t_swaps_clusters", "a👍🏽\x14", "👍🏽a"},
    {"ctrl_t_alone_does_nothing", "a\x14\x01\x14", "a"},
    {"alt_t_swaps_words", "one, two\x1bt", "two, one"},
    {"alt_t_with_one_word", "one\x1bt", "one"},
    {"alt_u_l_c",
     "one TWO über\x01\x1bu\x1bl\x1b"
     "c",
     "ONE two Über"},
    {"ctrl_keys_of_kitty", "xyz\x1b[97;5ua\x1b[101;5ub\x1b[104;5u", "axyz"},
    {"alt_keys_of_kitty", "one two\x1b[98;3ux", "one xtwo"},
    {"ctrl_keys_of_xterm", "xyz\x1b[27;5;97~a", "axyz"},
    {"locks_change_no_key", "xz\x1b[1;129Dy\x1b[97;197ua\x1b[3;129~", "ayz"},
    {"keypad_of_kitty", "xz\x1b[57417uy\x1b[57424u!", "xyz!"},
    {"unknown_reports_are_no_text", "a\x1b[57358u\x1b[;;u\x1b[u\x1b[27;5~\x1b[99999999999;5ub", "ab"},
    {"ctrl_j_is_a_line_break", "one\ntwo", "one\ntwo"},
    {"backspace_takes_a_wide_character", "日本語\x7f", "日本"},
    {"backspace_takes_a_combining_mark_with_its_base", "ae\xCC\x81\x7f", "a"},
    {"backspace_takes_a_family_of_emoji", "x👨‍👩‍👧‍👦\x7f", "x"},
    {"backspace_takes_a_flag_and_leaves_the_other", "🇩🇪🇫🇷\x7f", "🇩🇪"},
    {"left_passes_a_wide_character_in_one_step", "a日\x1b[Db", "ab日"},
    {"left_passes_a_combining_mark_in_one_step", "ae\xCC\x81\x1b[Db", "abe\xCC\x81"},
    {"delete_takes_the_whole_cluster", "👍🏽x\x01\x1b[3~", "x"},
    {"a_mark_typed_later_joins_its_base", "e\x1b[D\x1b[C\xCC\x81\x7f", ""},
    {"ctrl_a_ctrl_e",
     "b\x01"
     "a\x05"
     "c",
     "abc"},
    {"home_end", "b\x1b[Ha\x1b[Fc", "abc"},
    {"home_end_of_rxvt", "b\x1b[7~a\x1b[8~c", "abc"},
    {"home_end_in_application_mode", "b\x1bOHa\x1bOFc", "abc"},
    {"ctrl_k_and_ctrl_y", "one two\x01\x1b[1;5C\x0b\x19\x19", "one two two"},
    {"ctrl_u", "one two\x15three", "three"},
    {"ctrl_u_in_the_middle", "one two\x1b[D\x15", "o"},
    {"ctrl_w_takes_a_word_and_the_blanks_after_it", "one two  \x17", "one "},
    {"ctrl_left_goes_by_words", "one two\x1b[1;5Dx", "one xtwo"},
    {"alt_b_and_alt_f",
     "one two\x1b"
     "b\x1b"
     "b\x1b"
     "f,",
     "one, two"},
    {"alt_d",
     "one two\x01\x1b"
     "d",
     " two"},
    {"alt_backspace", "one two\x1b\x7f", "one "},
    {"alt_backspace_stops_at_punctuation", "a/beta-gamma\x1b\x7f", "a/beta-"},
    {"ctrl_w_stops_at_blanks_alone", "see a/beta-gamma\x17", "see "},
    {"words_of_other_letters", "één größe\x1b\x7f", "één "},
    {"kills_in_a_row_come_back_together", "one two-three four\x1b\x7f\x1b\x7f\x17\x19!", "one two-three four!"},
    {"kills_to_both_sides",
     "one two three\x1b[1;5D\x1b[1;5D\x1b"
     "d\x17\x01\x19",
     "one two three"},
    {"a_key_between_two_kills",
     "one two\x17"
     "x\x17\x19",
     "one x"},
    {"alt_less_and_greater", "one\x1b\rtwo\x1b<a\x1b>b", "aone\ntwob"},
    {"ctrl_home_and_end", "one\x1b\rtwo\x1b[1;5Ha\x1b[1;5Fb", "aone\ntwob"},
    {"a_backslash_at_the_end_continues_the_message", "one\\\rtwo", "one\ntwo"},
    {"a_backslash_within_does_not", "one\\ two", "one\\ two"},
    {"alt_enter_is_a_line_break", "one\x1b\rtwo", "one\ntwo"},
    {"shift_enter_of_newer_terminals", "one\x1b[13;2utwo", "one\ntwo"},
    {"paste_with_line_breaks_is_text", "\x1b[200~one\r\ntwo\rthree\x1b[201~", "one\ntwo\nthree"},
    {"paste_drops_escapes", "\x1b[200~a\x1b[31mb\x07\x1b[201~", "a[31mb"},
    {"paste_keeps_tabs", "\x1b[200~a\tb\x1b[201~", "a\tb"},
    {"broken_utf8_is_dropped", "a\xff\xc3z", "az"},
    {"unknown_sequences_do_nothing", "a\x1b[15~\x1b[1;2Pb\x1bx", "ab"},
    {"escaped_arrow_is_no_text", "a\x1b\x1b[Db", "ba"},
    {"ctrl_d_deletes_in_a_text", "ab\x01\x04", "b"},
    {"nul_and_other_controls_do_nothing",
     "a\x1c\x1d"
     "b",
     "ab"},
    {"up_moves_within_several_lines", "one\x1b\rtwo\x1b[A!", "one!\ntwo"},
    {"up_keeps_the_column", "abcd\x1b\rxy\x1b[A!", "ab!cd\nxy"},
    {"undo_takes_back_what_was_typed", "one\x01two\x1f", "one"},
    {"undo_takes_back_what_was_erased", "one two\x7f\x7f\x7f\x1f", "one two"},
    {"undo_takes_back_a_line_that_was_dropped", "one\x15two\x1f\x1f", "one"},
    {"undo_of_a_mark_that_joined",
     "a\xCC\x81\x01"
     "e\x1f",
     "a\xCC\x81"},
    {"undo_of_nothing",
     "\x1fone\x1f\x1f\x1f"
     "two",
     "two"},
    {"undo_of_two_places", "ab\x1b[Dc\x1f\x1f", ""},
    {"ctrl_k_joins_lines", "one\x1b\rtwo\x1b[A\x05\x0b", "onetwo"},
};

TEST_P(Edit, GivesTheLine) {
  Typist typist;
  typist.type(GetParam().typed);
  EXPECT_EQ(typist.type("\r"), EditOutcome::kLine);
  EXPECT_EQ(typist.editor.take_line(), GetParam().line);
  EXPECT_TRUE(typist.screen.unknown().empty());
}

TEST_P(Edit, ByteByByteIsTheSame) {
  Typist typist;
  for (const char* c = GetParam().typed; *c; ++c) typist.type({c, 1});
  typist.type("\r");
  EXPECT_EQ(typist.editor.take_line(), GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(Rows, Edit, testing::ValuesIn(kEdits), [](const auto& test) { return test.param.name; });

struct ShowCase {
  const char* name;
  const char* typed;
  const char* seen;
};
class Show : public testing::TestWithParam<ShowCase> {};

constexpr ShowCase kShown[] = {
    {"empty", "", ">\n  ^0"},
    {"text", "hello", "> hello\n       ^0"},
    {"wide_characters_take_two_columns", "日本", "> 日本\n      ^0"},
    {"a_combining_mark_takes_none", "e\xCC\x81x", "> e\xCC\x81x\n    ^0"},
    {"a_family_takes_two", "👨‍👩‍👧x", "> 👨‍👩‍👧x\n     ^0"},
    {"a_flag_takes_two", "🇩🇪x", "> 🇩🇪x\n     ^0"},
    {"a_full_row_moves_the_cursor_on", "123456789012345678", "> 123456789012345678\n^1"},
    {"a_long_text_goes_on_below", "12345678901234567890", "> 123456789012345678\n90\n  ^1"},
    {"a_wide_character_is_not_halved", "12345678901234567日", "> 12345678901234567\n日\n  ^1"},
    {"several_lines", "one\x1b\rtwo", "> one\n. two\n     ^1"},
    {"quotes_go_on", "\"\"\"one\rtwo", "> \"\"\"one\n. two\n     ^1"},
    {"tab_shows_as_blanks", "\x1b[200~a\tb\x1b[201~", "> a    b\n        ^0"},
    {"cursor_in_the_middle", "hello\x1b[D\x1b[D", "> hello\n     ^0"},
    {"ctrl_u_leaves_the_cursor_at_the_front", "one two\x1b[D\x1b[D\x15", "> wo\n  ^0"},
    {"ctrl_u_before_wide_characters", "a日本\x1b[D\x15", "> 本\n  ^0"},
    {"ctrl_u_in_the_second_line", "one\x1b\rtwo\x1b[D\x15", "> one\n. o\n  ^1"},
    {"ctrl_u_before_an_empty_line", "one\x1b\r\x1b[A\x05\x15", ">\n.\n  ^0"},
    {"ctrl_w_back_to_the_front", "one two\x01\x1b[1;5C\x17", ">  two\n  ^0"},
    {"ctrl_w_back_to_a_lines_start", "one\x1b\rtwo!\x1b[D\x17", "> one\n. !\n  ^1"},
    {"backspace_to_the_front", "ab\x1b[D\x7f", "> b\n  ^0"},
    {"ctrl_d_at_the_front", "abc\x01\x04", "> bc\n  ^0"},
    {"delete_before_a_wide_character", "a日\x01\x1b[3~", "> 日\n  ^0"},
    {"alt_d_at_the_front",
     "one two\x01\x1b"
     "d",
     ">  two\n  ^0"},
    {"ctrl_k_at_the_front", "one\x1b\rtwo\x1b[A\x01\x0b", ">\n. two\n  ^0"},
    {"ctrl_y_at_the_front", "one\x15two\x01\x19", "> onetwo\n     ^0"},
    {"home_on_a_line_of_two_rows", "12345678901234567890\x1b[H", "> 123456789012345678\n90\n  ^0"},
    {"end_on_a_line_of_two_rows", "12345678901234567890\x01\x05", "> 123456789012345678\n90\n  ^1"},
    {"ctrl_k_on_a_line_of_two_rows", "12345678901234567890\x1b[D\x1b[D\x0b", "> 123456789012345678\n^1"},
    {"up_past_a_tab_keeps_the_column", "\x1b[200~a\tb\nabcdefgh\x1b[201~\x1b[A", "> a    b\n. abcdefgh\n        ^0"},
    {"down_past_a_tab_keeps_the_column", "\x1b[200~abcde\n\tbc\x1b[201~\x1b[A\x05\x1b[B",
     "> abcde\n.     bc\n       ^1"},
    {"erasing_clears_the_row_below", "12345678901234567890\x7f\x7f\x7f", "> 12345678901234567\n                   ^0"},
    {"more_rows_than_the_screen_has", "1\x1b\r2\x1b\r3\x1b\r4\x1b\r5\x1b\r6\x1b\r7\x1b\r8",
     ". 3\n. 4\n. 5\n. 6\n. 7\n. 8\n   ^5"},
    {"a_completed_command", "/ex\t", "> /ex\n     ^0"},  // /export and /exit
    {"a_completed_command_of_one_choice", "/pe\t", "> /perf\n        ^0"},
};

TEST_P(Show, LooksSo) {
  Typist typist;
  for (const char* c = GetParam().typed; *c; ++c) typist.type({c, 1});
  EXPECT_EQ(typist.seen(), GetParam().seen);
}

INSTANTIATE_TEST_SUITE_P(Rows, Show, testing::ValuesIn(kShown), [](const auto& test) { return test.param.name; });

TEST(LineEditor, QuotesGiveTheLinesBetweenThem) {
  Typist typist;
  typist.type("\"\"\"\rone\rtwo\r\"\"\"");
  EXPECT_EQ(typist.type("\r"), EditOutcome::kLine);
  EXPECT_EQ(typist.editor.take_line(), "one\ntwo");
}

TEST(LineEditor, QuotesOnOneLineAreTakenOffToo) {
  Typist typist;
  EXPECT_EQ(typist.type("\"\"\"one\"\"\"\r"), EditOutcome::kLine);
  EXPECT_EQ(typist.editor.take_line(), "one");
}

TEST(LineEditor, RecallsHistoryAndTheDraft) {
  Typist typist({"first", "second"});
  typist.type("dra");
  typist.type("\x1b[A");
  EXPECT_EQ(typist.screen.text(), "> second");
  typist.type("\x1b[A\x1b[A");
  EXPECT_EQ(typist.screen.text(), "> first");
  typist.type("\x1b[B\x1b[B");
  EXPECT_EQ(typist.screen.text(), "> dra");
  typist.type("ft\r");
  EXPECT_EQ(typist.editor.take_line(), "draft");
}

TEST(LineEditor, SearchesTheHistory) {
  Typist typist({"apple pie", "pear", "apple cake"});
  typist.type(
      "\x12"
      "app");
  EXPECT_EQ(typist.screen.text(), "search 'app': apple\ncake");
  typist.type("\x12");
  EXPECT_EQ(typist.screen.text(), "search 'app': apple\npie");
  EXPECT_EQ(typist.type("\r"), EditOutcome::kLine);
  EXPECT_EQ(typist.editor.take_line(), "apple pie");
}

TEST(LineEditor, SearchCanBeLeftWithAndWithoutTheMatch) {
  Typist typist({"apple"});
  typist.type(
      "dr\x12"
      "pp\x07");
  EXPECT_EQ(typist.screen.text(), "> dr");
  typist.type(
      "\x1b[D\x12"
      "pp\x07");
  EXPECT_EQ(typist.seen(), "> dr\n   ^0");  // the cursor's old place
  typist.type("\x05");
  typist.type(
      "\x12"
      "pp\x1b");
  typist.pause();
  EXPECT_EQ(typist.screen.text(), "> apple");
  typist.type("s\x12zz");
  EXPECT_EQ(typist.screen.text(), "nothing with 'zz': a\npples");
}

TEST(LineEditor, CtrlCAndCtrlDTellTheirReasons) {
  Typist typist;
  EXPECT_EQ(typist.type("\x03"), EditOutcome::kInterrupted);
  EXPECT_EQ(typist.editor.text(), "");
  EXPECT_EQ(typist.type("abc\x03"), EditOutcome::kInterrupted);
  EXPECT_NE(typist.editor.text(), "");
  typist.editor.begin();
  EXPECT_EQ(typist.type("\x04"), EditOutcome::kEnd);
  EXPECT_EQ(typist.type("\x1a"), EditOutcome::kSuspend);
  EXPECT_EQ(typist.type("\x0c"), EditOutcome::kClearScreen);
}

struct CompletionCase {
  const char* name;
  const char* typed;
  const char* seen;
};
class Completed : public testing::TestWithParam<CompletionCase> {};

constexpr CompletionCase kCompletions[] = {
    {"tab_writes_what_is_common", "/devi\t", "> /device\n          ^0"},
    {"tab_again_lists", "/device c\t\t", "> /device c\ncpu     cuda:1\ncuda:0\n           ^0"},
    {"the_list_goes_with_the_next_key", "/device c\t\tu", "> /device cu\n            ^0"},
    {"enter_leaves_no_list", "/device c\t\t\r", "> /device c\n           ^0"},
    {"a_wish_between_two_tabs_is_none", "/device c\t\x1b[C\t", "> /device c\n           ^0"},
    {"more_after_a_choice", "/device cu\t1", "> /device cuda:1\n                ^0"},
    {"before_what_follows", "/deice 1\x01\x1b[C\x1b[C\x1b[C\t", "> /deice 1\n     ^0"},
    {"in_front_of_more", "/devcpu\x01\x1b[C\x1b[C\x1b[C\x1b[C\t", "> /device cpu\n          ^0"},
    {"letters_of_either_case", "/load a TI\t", "> /load A title that\n is longer than the\nscreen\n      ^2"},
    {"no_half_characters", "/load \t", "> /load\n        ^0"},
    {"wide_names_are_cut", "/load \t\t", "> /load\nÜber Katzen\nÜbermut\nA title that is lon\n        ^0"},
    {"a_message_is_left_alone", "cu\t\t", "> cu\n    ^0"},
    {"nothing_begins_so", "/device x\t\t", "> /device x\n           ^0"},
    {"many_are_counted", "/model \t\t",
     "> /model model-\nmodel-10  model-18\nmodel-11  model-19\nmodel-12  model-20\nmodel-13  model-21\n"
     "model-14  model-22\nmodel-15  model-23\nmodel-16  model-24\nmodel-17  model-25\nand 73 more\n               ^0"},
    {"undone", "/devi\t\x1f", "> /devi\n       ^0"},
};

TEST_P(Completed, LooksSo) {
  Typist typist({}, kColumns, /*rows=*/12);
  for (const char* c = GetParam().typed; *c; ++c) typist.type({c, 1});
  EXPECT_EQ(typist.seen(), GetParam().seen);
}

INSTANTIATE_TEST_SUITE_P(Rows, Completed, testing::ValuesIn(kCompletions),
                         [](const auto& test) { return test.param.name; });

std::string paste_of(const std::string& text) { return "\x1b[200~" + text + "\x1b[201~"; }

std::string lines(int n, const std::string& line = "line") {
  std::string text;
  for (int i = 0; i < n; ++i) text += (i == 0 ? "" : "\n") + line;
  return text;
}

struct PasteCase {
  const char* name;
  std::string typed;
  const char* seen;
  std::string line;  // what Enter returns
};
class Paste : public testing::TestWithParam<PasteCase> {};

const PasteCase kPastes[] = {
    {"ten_lines_are_shown", paste_of(lines(10)), ". line\n. line\n. line\n. line\n. line\n. line\n      ^5", lines(10)},
    {"more_stand_as_one", paste_of(lines(312)), "> [pasted 312 lines]\n                    ^0", lines(312)},
    {"a_last_line_end_makes_no_line", paste_of(lines(312) + "\n"), "> [pasted 312 lines]\n                    ^0",
     lines(312) + "\n"},
    {"a_long_line_too", paste_of(std::string(3000, 'x')), "> [pasted 3,000 characters]\n                           ^0",
     std::string(3000, 'x')},
    {"wide_characters_are_counted", paste_of(lines(700, "日")), "> [pasted 700 lines]\n                    ^0",
     lines(700, "日")},
    {"between_text", "a c\x1b[D\x1b[D" + paste_of(lines(20)) + "b", "> a[pasted 20 lines]b c\n                     ^0",
     "a" + lines(20) + "b c"},
    {"left_passes_it_in_one_step", "a" + paste_of(lines(20)) + "\x1b[Db", "> ab[pasted 20 lines]\n    ^0",
     "ab" + lines(20)},
    {"right_passes_it_too", paste_of(lines(20)) + "\x01\x1b[Cb", "> [pasted 20 lines]b\n                    ^0",
     lines(20) + "b"},
    {"home_and_end_pass_it", paste_of(lines(20)) + "b\x01" + "a\x05" + "c",
     "> a[pasted 20 lines]bc\n                      ^0", "a" + lines(20) + "bc"},
    {"words_pass_it", "a " + paste_of(lines(20)) + "\x1b[1;5Db", "> a b[pasted 20 lines]\n     ^0", "a b" + lines(20)},
    {"up_passes_it", paste_of(lines(20)) + "\x1b\rab\x1b[Ac", "> c[pasted 20 lines]\n. ab\n   ^0",
     "c" + lines(20) + "\nab"},
    {"backspace_takes_it_whole", "a" + paste_of(lines(20)) + "\x7f", "> a\n   ^0", "a"},
    {"delete_takes_it_whole", paste_of(lines(20)) + "b\x01\x1b[3~", "> b\n  ^0", "b"},
    {"killed_and_put_back", "a " + paste_of(lines(20)) + "\x17" + "b\x19",
     "> a b[pasted 20 lines]\n                      ^0", "a b" + lines(20)},
    {"undone", "ab" + paste_of(lines(20)) + "\x1f", "> ab\n    ^0", "ab"},
    {"undone_with_what_came_after", "ab" + paste_of(lines(20)) + "cd\x1f\x1f", "> ab\n    ^0", "ab"},
    {"its_loss_undone", "ab" + paste_of(lines(20)) + "\x15\x1f", "> ab[pasted 20 lines]\n                     ^0",
     "ab" + lines(20)},
    {"two_of_them", paste_of(lines(20)) + paste_of(lines(30)) + "\x1b[D\x1b[Da",
     "> a[pasted 20 lines][pasted 30\n lines]\n   ^0", "a" + lines(20) + lines(30)},
    {"opened", "ab\x01" + paste_of(lines(12)) + "\x0f", ". line\n. line\n. line\n. line\n. line\n. lineab\n      ^5",
     lines(12) + "ab"},
    {"a_mark_behind_it_is_its_own", paste_of(lines(12, "e")) + "\xCC\x81\x7f",
     "> [pasted 12 lines]\n                   ^0", lines(12, "e")},
    {"quotes_in_it_are_text", paste_of("\"\"\"\n" + lines(12)), "> [pasted 13 lines]\n                   ^0",
     "\"\"\"\n" + lines(12)},
};

TEST_P(Paste, StandsAsOneLine) {
  Typist typist({}, 30);
  typist.type(GetParam().typed);
  EXPECT_EQ(typist.seen(), GetParam().seen);
  EXPECT_EQ(typist.type("\r"), EditOutcome::kLine);
  EXPECT_EQ(typist.editor.take_line(), GetParam().line);
}

INSTANTIATE_TEST_SUITE_P(Rows, Paste, testing::ValuesIn(kPastes), [](const auto& test) { return test.param.name; });

struct ResizeCase {
  const char* name;
  const char* typed;
  int to;
  const char* seen;
};
class Resize : public testing::TestWithParam<ResizeCase> {};

constexpr ResizeCase kResizes[] = {
    {"wider", "one two three four five six\x1b\rseven", 30, "> one two three four five six\n. seven\n       ^1"},
    {"narrower", "one two three four five six\x1b\rseven", 11, "> one two t\nhree four f\nive six\n. seven\n       ^3"},
    {"wide_characters_narrower", "日本語日本語\x1b\rx", 5, "> 日\n本語\n日本\n語\n. x\n   ^4"},
    {"cursor_among_wide_characters", "日本語日本語日\x1b[D", 5, "> 日\n本語\n日本\n語日\n  ^3"},
    {"cursor_at_the_front_of_two_rows", "one two three four five six\x01", 11,
     "> one two t\nhree four f\nive six\n  ^0"},
};

TEST_P(Resize, DrawsAgainWithoutRemains) {
  Typist typist;
  typist.type(GetParam().typed);
  typist.resize(GetParam().to);
  EXPECT_EQ(typist.seen(), GetParam().seen);
}

INSTANTIATE_TEST_SUITE_P(Rows, Resize, testing::ValuesIn(kResizes), [](const auto& test) { return test.param.name; });

TEST(LineEditor, CtrlSGoesBackTowardsTheNewest) {
  Typist typist({"apple pie", "pear", "apple cake", "apple juice"}, 40);
  typist.type("draft\x12");
  EXPECT_EQ(typist.screen.text(), "search '':");  // nothing is found yet
  typist.type("app\x12\x12");
  EXPECT_EQ(typist.screen.text(), "search 'app': apple pie");
  typist.type("\x13");
  EXPECT_EQ(typist.screen.text(), "search 'app': apple cake");
  typist.type("\x13\x13\x13");
  EXPECT_EQ(typist.screen.text(), "search 'app': apple juice");
  typist.type("\x7f\x7f\x7f");
  EXPECT_EQ(typist.screen.text(), "search '':");
  typist.type("\x1b");
  typist.pause();
  EXPECT_EQ(typist.screen.text(), "> draft");
}

// Types each text at once into a line that lists commands, and says what is seen.
std::string seen_with_menu(const std::vector<std::string>& typed, std::vector<std::string> history = {}) {
  Typist typist(std::move(history), 50, 12);
  typist.editor.list_commands();
  for (const std::string& text : typed) typist.type(text), typist.pause();
  return typist.screen.text();
}

constexpr char kUnCommands[] =
    "\n  /undo        take back the last message and its"
    "\n  /unread [N]  detach file N from the next messag";

TEST(CommandMenu, FiltersWhileOneTypes) {
  EXPECT_EQ(seen_with_menu({"/un"}), "> /un" + std::string(kUnCommands));
  EXPECT_EQ(seen_with_menu({"/und"}), "> /und\n  /undo  take back the last message and its answe");
  EXPECT_EQ(seen_with_menu({"/und", "\x7f"}), "> /un" + std::string(kUnCommands));
  EXPECT_EQ(seen_with_menu({"/unx"}), "> /unx");
  EXPECT_EQ(seen_with_menu({"/undo ", "x"}), "> /undo x");
  EXPECT_EQ(seen_with_menu({"un"}), "> un");
  const std::string all = seen_with_menu({"/"});
  EXPECT_EQ(std::ranges::count(all, '\n'), 9) << all;
  EXPECT_NE(all.find(" more; type on"), std::string::npos) << all;
}

TEST(CommandMenu, KnowsThePrompts) {
  EXPECT_EQ(seen_with_menu({"/prompt "}), "> /prompt\n  translate\n  trim text\n  sum");
  EXPECT_EQ(seen_with_menu({"/prompt tr"}), "> /prompt tr\n  translate\n  trim text");
  EXPECT_EQ(seen_with_menu({"/prompt tr", "\x1b[B", "\x1b[B"}), "> /prompt tr\n  translate\n> trim text");
  EXPECT_EQ(seen_with_menu({"/prompt tr", "\x1b[B", "\x1b[B", "\r", "x"}), "> /prompt trim text x");
  EXPECT_EQ(seen_with_menu({"/prompt translate "}), "> /prompt translate") << "the name is complete";
  EXPECT_EQ(seen_with_menu({"/prompt none"}), "> /prompt none");
  EXPECT_EQ(seen_with_menu({"/device c"}), "> /device c") << "other arguments are few, and Tab lists them";
}

TEST(LineEditor, AValueIsNoCommandAndLeavesNoHistory) {
  Typist typist({"before"}, 50, 12);
  typist.editor.list_commands();
  typist.editor.begin("French", LineKind::kValue);
  typist.type("\x15/un\t");
  EXPECT_EQ(typist.screen.text(), "> /un");
  EXPECT_EQ(typist.type("\r"), EditOutcome::kLine);
  EXPECT_EQ(typist.editor.take_line(), "/un");
  typist.type("\x1b[A");
  EXPECT_EQ(typist.editor.text(), "before");
}

TEST(CommandMenu, ArrowsChoose) {
  const std::string second =
      "\n  /undo        take back the last message and its"
      "\n> /unread [N]  detach file N from the next messag";
  EXPECT_EQ(seen_with_menu({"/un", "\x1b[B", "\x1b[B"}), "> /un" + second);
  EXPECT_EQ(seen_with_menu({"/un", "\x1b[A"}), "> /un" + second);
  EXPECT_EQ(seen_with_menu({"/un", "\x1b[A", "\t"}), "> /unread");
  EXPECT_EQ(seen_with_menu({"/un", "\x1b[A", "\r"}), "> /unread");
  EXPECT_EQ(seen_with_menu({"/un", "\x1b[A", "d"}), "> /und\n  /undo  take back the last message and its answe");
  const std::string last = seen_with_menu({"/", "\x1b[A"});
  EXPECT_NE(last.find("\n> /exit"), std::string::npos) << last;
}

TEST(CommandMenu, IsClosedByEscapeAndByOtherKeys) {
  EXPECT_EQ(seen_with_menu({"/un", "\x1b"}), "> /un");
  EXPECT_EQ(seen_with_menu({"/u", "\x1b", "n"}), "> /un");
  EXPECT_EQ(seen_with_menu({"/u", "\x1b", "\x7f\x7f", "/un"}), "> /un" + std::string(kUnCommands));
  EXPECT_EQ(seen_with_menu({"/un", "\x1b[D"}), "> /un");
  EXPECT_EQ(seen_with_menu({"/un", "\x03"}), "> /un");
  EXPECT_EQ(seen_with_menu({"\x1b[A", "\x1b[A"}, {"first", "/undo"}), "> first");  // a recalled line has none
}

TEST(LineEditor, AHintIsBelowUntilAKeyIsPressed) {
  Typist typist;
  typist.editor.hint("9 tokens/s");
  typist.type("");
  EXPECT_EQ(typist.seen(), ">\n9 tokens/s\n  ^0");
  typist.type("\x1b[5;1R");  // no key, but the terminal's answer to a question
  EXPECT_EQ(typist.screen.text(), ">\n9 tokens/s");
  typist.type("a");
  EXPECT_EQ(typist.screen.text(), "> a");
}

TEST(LineEditor, CtrlXCtrlEAsksForAnEditor) {
  Typist typist;
  EXPECT_EQ(typist.type("one\x18\x05"), EditOutcome::kEditOutside);
  typist.editor.change("two\nthree");
  typist.type("!");
  EXPECT_EQ(typist.screen.text(), "> two\n. three!");
  typist.type("\x1f\x1f");
  EXPECT_EQ(typist.screen.text(), "> one");
  EXPECT_EQ(typist.type("\x18x\x05"), EditOutcome::kEditing);
}

TEST(LineEditor, PagesPassLines) {
  Typist typist;
  std::string lines;
  for (int i = 0; i < 25; ++i) lines += (i > 0 ? "\x1b\r" : "") + std::to_string(i);
  typist.type(lines + "\x1b[5~a\x1b[5~\x1b[5~b\x1b[6~c");
  std::string expected;
  for (int i = 0; i < 25; ++i)
    expected += (i > 0 ? "\n" : "") + (i == 10 ? "1c0" : std::to_string(i) + (i == 14 ? "a" : i == 0 ? "b" : ""));
  EXPECT_EQ(typist.editor.text(), expected);
}

// However long the text is, no more is laid out than a screen may show.
TEST(PromptLayout, IsOfTheRowsRoundTheCursor) {
  constexpr size_t kMaxRows = 6;
  TextBuffer text;
  std::string lines;
  for (int i = 0; i < 2000; ++i) lines += std::string(static_cast<size_t>(i % 50), 'x') + std::to_string(i) + "\n";
  text.set(lines);
  for (int step = 0; step < 2000; step += 37) {
    for (int i = 0; i < 37; ++i) text.line_up();
    const PromptLayout all = lay_out_prompt("> ", ". ", text, kColumns),
                       few = lay_out_prompt("> ", ". ", text, kColumns, kMaxRows);
    EXPECT_LE(few.rows.size(), 6 * kMaxRows);
    PromptView of_all, of_few;
    Screen one(kColumns, kRows), other(kColumns, kRows);
    one.write(of_all.draw(all, kColumns, kRows));
    other.write(of_few.draw(few, kColumns, kRows));
    ASSERT_EQ(one.text(), other.text()) << step;
    ASSERT_EQ(one.cursor_row(), other.cursor_row()) << step;
    ASSERT_EQ(one.cursor_column(), other.cursor_column()) << step;
  }
}

TEST(PromptView, WhatIsTypedIsBoldAndItsCompletionsAreNot) {
  PromptView view(/*styled=*/true);
  const std::string out = view.draw({.rows = {{"> /m", 4}, {"/model", 6}}, .cursor_column = 4, .n_listed = 1}, 20, 6);
  EXPECT_NE(out.find("\x1b[0;1m> /m\x1b[0m\r\n/model\x1b[0m"), std::string::npos) << out;
}

TEST(TypedAhead, ShowsWhatTheKeysWillWrite) {
  History history;
  history.add("earlier");
  TypedAhead ahead(history);
  KeyDecoder decoder;
  const auto row_after = [&](std::string_view bytes, int columns = 40) {
    ahead.press(decoder.add(bytes));
    return ahead.row(columns);
  };
  EXPECT_EQ(row_after(""), "");
  EXPECT_EQ(row_after("helo\x1b[Dl"), "> hello");
  EXPECT_EQ(row_after("\r"), "(1 line waiting) > ");
  EXPECT_EQ(row_after("\x1b[A"), "(1 line waiting) > earlier");
  EXPECT_EQ(row_after(" and more text than there is room for"), "(1 line waiting) than there is room for");
  EXPECT_EQ(row_after("", 12), "is room for");
  std::string keys;
  for (const Key& key : ahead.release()) keys += key.kind == KeyKind::kEnter ? "\n" : key.text;
  EXPECT_EQ(keys, "helol\n and more text than there is room for");
  EXPECT_EQ(ahead.row(40), "");
}

}  // namespace
}  // namespace warpchat
