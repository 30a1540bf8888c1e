// The window's text without a display: shaping, line breaks, hit tests, selection. Rows are skipped if this machine's
// fonts lack the script.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "app/gui/text/layout_builder.h"
#include "app/platform/text/graphemes.h"
#include "models/error.h"
#include "tests/support/test_files.h"

namespace warpchat::gui {

namespace {

struct Tools {
  FontSet fonts;
  ParagraphReader reader;
  Shaper shaper;
  TextEngine engine;
};

Tools& tools() {
  static Tools shared;
  return shared;
}

StyledText styled(const std::string& text, Face face = Face::kText, float size = 16) {
  return {text, {{0, text.size(), {face, size}}}};
}

TextLayout::Parts parts_of(const StyledText& text, float width = 0) {
  TextLayout::Parts parts;
  LayoutBuilder(tools().fonts, tools().shaper, tools().reader, text, width, parts).build(LineAlign::kStart);
  return parts;
}

std::unique_ptr<TextLayout> layout(const std::string& text, float width = 0) {
  return tools().engine.layout(styled(text), width);
}

float width_of(const std::string& text, Face face) { return tools().engine.layout(styled(text, face), 0)->width(); }

bool has_fonts_for(const std::string& text) {
  const TextLayout::Parts parts = parts_of(styled(text));
  return std::none_of(parts.glyphs.begin(), parts.glyphs.end(), [](const Glyph& glyph) { return glyph.id == 0; });
}

std::vector<std::string> lines_of(const TextLayout::Parts& parts) {
  std::vector<std::string> lines;
  for (const Line& line : parts.lines) lines.push_back(parts.text.substr(line.begin, line.end - line.begin));
  return lines;
}

std::vector<size_t> cluster_starts(const std::string& text) {
  std::vector<size_t> starts;
  for (size_t at = 0; at < text.size(); at = next_grapheme(text, at)) starts.push_back(at);
  starts.push_back(text.size());
  return starts;
}

using Lines = std::vector<std::string>;

struct WrapCase {
  const char* name;
  const char* text;
  const char* wide;  // the width of the lines
  Lines lines;
};

const WrapCase kWrapCases[] = {
    {"empty", "", "00000", {""}},
    {"fits_exactly", "abc d", "00000", {"abc d"}},
    {"blanks_hang_over_the_end", "abcde  fg", "00000", {"abcde  ", "fg"}},
    {"only_blanks", "       ", "000", {"       "}},
    {"words", "hello world foo", "0000000000", {"hello ", "world foo"}},
    {"long_word_after_a_short_one", "ab cdefghijkl", "00000", {"ab ", "cdefg", "hijkl"}},
    {"narrower_than_a_letter", "abc", ".5", {"a", "b", "c"}},
    {"line_breaks", "a\n\nb\n", "00000", {"a", "", "b", ""}},
    {"windows_line_breaks", "a\r\nb", "00000", {"a\r", "b"}},
    {"line_separator_of_unicode", "a\u2028b", "00000", {"a\u2028", "b"}},
    {"no_break_space", "aa\u00A0bb c", "00000", {"aa\u00A0bb ", "c"}},
    {"soft_places_in_addresses", "https://a.b/cde/fgh", "000000000000000", {"https://a.b/", "cde/fgh"}},
    {"tab_to_the_next_stop", "a\tbcdef", "00000000", {"a\t", "bcdef"}},
    {"han_breaks_anywhere", "天气很好我们", "天气很", {"天气很", "好我们"}},
    {"han_full_stop_never_first", "天气很。我们", "天气很", {"天气", "很。我", "们"}},
    {"combining_marks_stay", "e\u0301e\u0301e\u0301e\u0301", "00", {"e\u0301e\u0301", "e\u0301e\u0301"}},
    {"thai_words", "สวัสดีชาวโลก", "สวัสดีชา", {"สวัสดี", "ชาวโลก"}},
};

class Wrap : public testing::TestWithParam<WrapCase> {};

// All letters of the code face have the same width, in any font.
TEST_P(Wrap, BreaksWhereUnicodeAllows) {
  const WrapCase& row = GetParam();
  if (!has_fonts_for(row.text)) GTEST_SKIP() << "no font for " << row.text;
  const float width = width_of(row.wide, Face::kCode);
  const TextLayout::Parts parts = parts_of(styled(row.text, Face::kCode), std::string(row.wide) == ".5" ? 1 : width);
  EXPECT_EQ(lines_of(parts), row.lines);
}

INSTANTIATE_TEST_SUITE_P(Text, Wrap, testing::ValuesIn(kWrapCases), [](const auto& row) { return row.param.name; });

struct ScriptCase {
  const char* name;
  const char* text;
  size_t n_glyphs;  // 0: depends on the font
};

const ScriptCase kScriptCases[] = {
    {"latin", "Hello, world", 12},
    {"ligatures_have_carets_inside", "office fluff", 0},
    {"combining", "e\u0301 a\u0308\u0304 x\u0336", 0},
    {"han", "今天天气很好。", 7},
    {"kana", "吾輩は猫である", 7},
    {"hangul", "안녕하세요", 5},
    {"arabic", "السلام عليكم", 0},
    {"lam_alef_is_one_glyph", "لا", 1},
    {"hebrew_with_points", "שָׁלוֹם", 0},
    {"latin_in_arabic", "هذا English نص 123 هنا", 0},
    {"arabic_in_latin", "Say السلام to him", 0},
    {"hindi", "नमस्ते क्षत्रिय", 0},
    {"thai", "สวัสดีที่นี่", 0},
    {"emoji", "a😀b", 3},
    {"family_is_one_glyph", "👨‍👩‍👧‍👦", 1},
    {"flags", "🇩🇪🇯🇵", 2},
    {"keycap", "1️⃣", 1},
    {"skin_tone", "👍🏽", 1},
    {"profession_with_skin_tone", "🧑🏿‍💻", 1},
    {"heart_as_text_and_as_emoji", "❤\uFE0E❤\uFE0F", 0},
    {"beyond_the_first_plane", "𝔘𝔫𝔦", 3},
    {"tabs", "a\tb\t\tc", 0},
};

class Script : public testing::TestWithParam<ScriptCase> {};

TEST_P(Script, HasTheGlyphsOfItsClusters) {
  const ScriptCase& row = GetParam();
  if (!has_fonts_for(row.text)) GTEST_SKIP() << "no font for " << row.text;
  const TextLayout::Parts parts = parts_of(styled(row.text));
  if (row.n_glyphs) {
    EXPECT_EQ(parts.glyphs.size(), row.n_glyphs);
  }
}

// Every cluster has its own place. A point in either half of it is nearest to the offset on that side.
TEST_P(Script, OffsetsAndSelectionsAgree) {
  const std::string text = GetParam().text;
  if (!has_fonts_for(text)) GTEST_SKIP() << "no font for " << text;
  const auto laid = layout(text);
  const TextLayout::Parts parts = parts_of(styled(text));
  const std::vector<size_t> starts = cluster_starts(text);
  float sum = 0;
  for (size_t i = 0; i + 1 < starts.size(); ++i) {
    const std::vector<TextRect> rects = laid->selection(starts[i], starts[i + 1]);
    ASSERT_EQ(rects.size(), 1u) << "cluster " << i;
    const TextRect& rect = rects[0];
    const auto run = std::find_if(parts.runs.begin(), parts.runs.end(),
                                  [&](const GlyphRun& r) { return r.begin <= starts[i] && starts[i] < r.end; });
    const size_t left = run->is_rtl() ? starts[i + 1] : starts[i], right = run->is_rtl() ? starts[i] : starts[i + 1];
    const float y = rect.y + rect.height / 2;
    EXPECT_EQ(laid->offset_at(rect.x + rect.width * 0.2f, y), left) << "cluster " << i;
    EXPECT_EQ(laid->offset_at(rect.x + rect.width * 0.8f, y), right) << "cluster " << i;
    sum += rect.width;
  }
  EXPECT_NEAR(sum, laid->width(), 0.1);
}

// Lines of any width contain all of the text exactly once.
TEST_P(Script, LinesOfEveryWidthHaveAllOfTheText) {
  const std::string text = GetParam().text;
  const float whole = layout(text)->width();
  for (float width = 1; width < whole + 8; width += whole / 13) {
    const TextLayout::Parts parts = parts_of(styled(text), width);
    std::string joined;
    for (const std::string& line : lines_of(parts)) joined += line;
    EXPECT_EQ(joined, text) << width;
    const auto laid = layout(text, width);
    const std::vector<size_t> starts = cluster_starts(text);
    for (size_t i = 0; i + 1 < starts.size(); ++i) {
      EXPECT_EQ(laid->selection(starts[i], starts[i + 1]).size(), 1u) << "width " << width << ", cluster " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Text, Script, testing::ValuesIn(kScriptCases), [](const auto& row) { return row.param.name; });

TEST(TextLayout, ArabicIsJoinedAndRunsToTheLeft) {
  const std::string word = "بيت", isolated = "ب ي ت";
  if (!has_fonts_for(word)) GTEST_SKIP() << "no Arabic font";
  const TextLayout::Parts joined = parts_of(styled(word)), apart = parts_of(styled(isolated));
  std::set<uint16_t> isolated_shapes;
  for (const Glyph& glyph : apart.glyphs) isolated_shapes.insert(glyph.id);
  ASSERT_GE(joined.glyphs.size(), 3u);
  EXPECT_GT(joined.glyphs.front().offset, joined.glyphs.back().offset);
  EXPECT_FALSE(isolated_shapes.contains(joined.glyphs.front().id));  // the last letter's final shape
}

TEST(TextLayout, CodeReadsFromLeftToRight) {
  const std::string text = "# שלום\n\"שלום\" + x";
  if (!has_fonts_for(text)) GTEST_SKIP() << "no Hebrew font";
  const auto laid = tools().engine.layout(styled(text, Face::kCode), 0, LineAlign::kStart, TextDirection::kLeftToRight);
  EXPECT_EQ(laid->selection(0, 1)[0].x, 0);
  const size_t second = text.find('\n') + 1;
  EXPECT_EQ(laid->selection(second, second + 1)[0].x, 0);
  EXPECT_GT(laid->selection(text.size() - 1, text.size())[0].x, laid->selection(second + 1, second + 3)[0].x);
}

TEST(TextLayout, ParagraphsBeginWhereTheListAroundThemDoes) {
  if (!has_fonts_for("שלום")) GTEST_SKIP() << "no Hebrew font";
  const auto left = tools().engine.layout(styled("שלום"), 500, LineAlign::kLeft);
  EXPECT_NEAR(left->selection(0, 8)[0].x, 0, 0.01);
  const auto marker = tools().engine.layout(styled("1."), 0, LineAlign::kStart, TextDirection::kRightToLeft);
  EXPECT_GT(marker->selection(0, 1)[0].x, marker->selection(1, 2)[0].x);
}

TEST(TextLayout, KnowsTheDirectionOfTheFirstLetter) {
  EXPECT_EQ(direction_of(""), TextDirection::kAuto);
  EXPECT_EQ(direction_of("1. (2)"), TextDirection::kAuto);
  EXPECT_EQ(direction_of("1. a שלום"), TextDirection::kLeftToRight);
  EXPECT_EQ(direction_of("12 مرحبا b"), TextDirection::kRightToLeft);
}

TEST(TextLayout, RaisedTextStaysInItsLine) {
  StyledText text = styled("H2O");
  TextStyle small = text.runs[0].style;
  small.size = 11, small.rise = -3;
  text.runs = {{0, 1, text.runs[0].style}, {1, 2, small}, {2, 3, text.runs[0].style}};
  EXPECT_EQ(tools().engine.layout(text, 0)->height(), layout("H2O")->height());
  text.runs[1].style.rise = 30;
  EXPECT_GT(tools().engine.layout(text, 0)->height(), layout("H2O")->height() + 10);
}

TEST(TextLayout, ParagraphsFromRightToLeftBeginAtTheRightEdge) {
  if (!has_fonts_for("שלום")) GTEST_SKIP() << "no Hebrew font";
  const auto laid = tools().engine.layout(styled("abc\nשלום עולם"), 500);
  const auto latin = laid->selection(0, 3), hebrew = laid->selection(4, 6);
  ASSERT_EQ(latin.size(), 1u);
  ASSERT_EQ(hebrew.size(), 1u);
  EXPECT_EQ(latin[0].x, 0);
  EXPECT_NEAR(hebrew[0].x + hebrew[0].width, 500, 0.01);
}

TEST(TextLayout, ASelectionAcrossDirectionsIsSplitWhereItIsNotSeenTogether) {
  const std::string text = "abc אבגד def";
  if (!has_fonts_for(text)) GTEST_SKIP() << "no Hebrew font";
  const auto laid = layout(text);
  const std::vector<TextRect> rects =
      laid->selection(1, 8);  // "bc אב": the Hebrew letters begin at their word's right end
  ASSERT_EQ(rects.size(), 2u);
  EXPECT_LT(rects[0].x + rects[0].width + 1, rects[1].x);
  EXPECT_EQ(laid->selection(0, text.size()).size(), 1u);
}

TEST(TextLayout, ASelectedLineBreakShows) {
  const auto laid = layout("a\n\nb");
  ASSERT_EQ(laid->selection(0, 1).size(), 1u);
  const float letter = laid->selection(0, 1)[0].width;
  EXPECT_GT(laid->selection(0, 2)[0].width, letter);
  const std::vector<TextRect> empty_line = laid->selection(2, 3);
  ASSERT_EQ(empty_line.size(), 1u);
  EXPECT_GT(empty_line[0].width, 0);
  EXPECT_TRUE(laid->selection(1, 1).empty());
}

TEST(TextLayout, PointsOutsideAreNearestToAnEnd) {
  const auto laid = layout("first\nsecond");
  EXPECT_EQ(laid->offset_at(-100, -100), 0u);
  EXPECT_EQ(laid->offset_at(1000, 1), 5u);
  EXPECT_EQ(laid->offset_at(-1, laid->height() - 1), 6u);
  EXPECT_EQ(laid->offset_at(0, laid->height() + 1), 12u);
}

struct WordCase {
  const char* name;
  const char* text;
  size_t offset;
  const char* word;
};

const WordCase kWordCases[] = {
    {"inside", "two words", 6, "words"},
    {"right_half_of_the_last_letter", "two words", 3, "two"},
    {"first_letter", "two words", 4, "words"},
    {"text_end", "two words", 9, "words"},
    {"blanks", "a   b", 2, "   "},
    {"identifier", "x = foo_bar2(y)", 7, "foo_bar2"},
    {"apostrophe", "don't", 1, "don't"},
    {"own_line_only", "one\ntwo", 3, "one"},
    {"next_line", "one\ntwo", 4, "two"},
    {"accents", "le caf\u00E9 noir", 4, "caf\u00E9"},
    {"empty", "", 0, ""},
    {"emoji_family", "a 👨‍👩‍👧 b", 2, "👨‍👩‍👧"},
};

TEST(TextLayout, WordsAreThoseOfUnicode) {
  for (const WordCase& row : kWordCases) {
    const std::string text = row.text;
    const auto laid = layout(text);
    const size_t begin = laid->word_begin(row.offset), end = laid->word_end(row.offset);
    EXPECT_EQ(text.substr(begin, end - begin), row.word) << row.name;
  }
}

TEST(TextLayout, TabsAlignAcrossLines) {
  const auto laid = tools().engine.layout(styled("a\tx\nabc\tx\n\tx", Face::kCode), 0);
  const float digit = width_of("0", Face::kCode);
  for (size_t x : {2, 8, 11}) {
    const std::vector<TextRect> rects = laid->selection(x, x + 1);
    ASSERT_EQ(rects.size(), 1u);
    EXPECT_NEAR(rects[0].x, 4 * digit, 0.05) << x;
  }
}

TEST(TextLayout, LinesAreOfOneHeightInEveryScript) {
  for (const char* text : {"Latin", "中文", "日本語", "한국어", "عربي", "हिन्दी", "ไทย", "😀", "→ ✓", "𝛼", ""}) {
    if (!has_fonts_for(text)) continue;
    EXPECT_EQ(layout(text)->height(), layout("x")->height()) << text;
  }
}

// If a line break cuts a ligature, its parts become single letters.
TEST(TextLayout, LigaturesAreCutWithTheLine) {
  const TextLayout::Parts cut = parts_of(styled("ffi"), 1), apart = parts_of(styled("f f i"));
  ASSERT_EQ(cut.lines.size(), 3u);
  ASSERT_EQ(cut.glyphs.size(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(cut.glyphs[i].id, apart.glyphs[2 * i].id) << i;
}

TEST(TextLayout, CodeShowsItsLettersOneByOne) {
  const TextLayout::Parts parts = parts_of(styled("a->b != c => ffi", Face::kCode));
  EXPECT_EQ(parts.glyphs.size(), 16u);
  const TextLayout::Parts apart = parts_of(styled("- >", Face::kCode)), arrow = parts_of(styled("->", Face::kCode));
  EXPECT_EQ(arrow.glyphs[0].id, apart.glyphs[0].id);
  EXPECT_EQ(arrow.glyphs[1].id, apart.glyphs[2].id);
}

TEST(TextLayout, AMissingGlyphIsABox) {
  const TextLayout::Parts parts = parts_of(styled("a\U0010FFFDb"));
  ASSERT_EQ(parts.glyphs.size(), 3u);
  EXPECT_EQ(parts.glyphs[1].id, 0);
  EXPECT_GT(layout("\U0010FFFD")->width(), 4);
}

TEST(TextLayout, BytesThatAreNoUtf8AreReplacementCharacters) {
  for (const std::string text :
       {"\xFF", "a\xC3", "\xE4\xBD", "\xF0\x9F\x98", "a\x80\x80z", "\xED\xA0\x80", "\xC3\n\xA9"}) {
    const auto laid = tools().engine.layout(styled(text), 50);
    EXPECT_GT(laid->width(), 0);
    EXPECT_EQ(laid->offset_at(10000, laid->height() - 1), text.size());
    EXPECT_LE(laid->word_end(1), text.size());
    EXPECT_FALSE(laid->selection(0, text.size()).empty());
  }
}

TEST(TextLayout, ControlCharactersAreHarmless) {
  std::string text;
  for (char c = 1; c < 32; ++c) text += std::string("x") + c;
  text += std::string("\0\x7F\xC2\x85", 4) + "\u202E\u2066\u200B\u200D\uFEFF\uFE0F\u0301";
  for (float width : {0.0f, 1.0f, 40.0f}) EXPECT_GT(tools().engine.layout(styled(text), width)->height(), 0);
}

TEST(TextLayout, RunsNeedNotCoverTheTextAndMayCutClusters) {
  StyledText text{"e\u0301abc", {{0, 1, {Face::kBold, 20}}, {4, 5, {Face::kCode, 10}}, {5, 99, {}}}};
  EXPECT_EQ(cluster_starts(text.text).size(), 5u);
  const auto laid = tools().engine.layout(text, 0);
  EXPECT_EQ(laid->selection(0, text.text.size()).size(), 1u);
  EXPECT_NO_THROW(tools().engine.layout({"abc", {{2, 1, {}}, {7, 9, {}}}}, 10));
  EXPECT_NO_THROW(tools().engine.layout({"", {{0, 0, {Face::kCode, 1e9f}}}}, 10));
}

TEST(TextLayout, AMegabyteIsBounded) {
  std::string words, one_word(1'000'000, 'x');
  while (words.size() < 1'000'000) words += "the quick brown fox ";
  for (const std::string& text : {words, one_word}) {
    const auto laid = layout(text, 600);
    EXPECT_GT(laid->n_lines(), 5000u);
    EXPECT_LT(laid->memory_bytes(), 24u << 20);
    EXPECT_EQ(laid->offset_at(1e6f, laid->height() + 1), text.size());
  }
}

TEST(TextEngine, NoFontForLatinIsAnErrorThatNamesAPackage) {
  const std::string no_folders = "<?xml version=\"1.0\"?><fontconfig></fontconfig>";
  const TemporaryFile configuration(std::as_bytes(std::span(no_folders)), ".conf");
  ::setenv("FONTCONFIG_FILE", configuration.path().c_str(), 1);
  std::string message;
  try {
    TextEngine engine;
  } catch (const Error& error) {
    message = error.what();
  }
  ::unsetenv("FONTCONFIG_FILE");
  EXPECT_EQ(message, "no font for Latin text found; install one: apt install fonts-noto-core");
}

TEST(TextLayout, LinesAreCentredEachByItself) {
  const StyledText text = styled("a long line of words\nshort");
  const auto left = tools().engine.layout(text, 400), centred = tools().engine.layout(text, 400, LineAlign::kCentre);
  const auto right = tools().engine.layout(text, 400, LineAlign::kRight);
  const auto middle = [](const TextRect& r) { return r.x + r.width / 2; };
  for (const auto& [begin, end] : {std::pair<size_t, size_t>{0, 20}, {21, 26}}) {
    EXPECT_EQ(left->selection(begin, end)[0].x, 0);
    EXPECT_NEAR(middle(centred->selection(begin, end)[0]), 200, 1);
    EXPECT_NEAR(right->selection(begin, end)[0].x + right->selection(begin, end)[0].width, 400, 1);
  }
  EXPECT_EQ(left->longest_line(), centred->longest_line());
}

TEST(ChosenFonts, ChangeNewLayoutsAndKeepOldOnes) {
  TextEngine engine;
  const StyledText text{"A line of text", {{0, 14, {}}}};
  const auto before = engine.layout(text, 0);
  const float usual = before->width();
  engine.choose_fonts("DejaVu Serif", "");
  EXPECT_EQ(engine.fonts_revision(), 1u);
  EXPECT_NE(engine.layout(text, 0)->width(), usual);
  EXPECT_EQ(before->width(), usual);
  engine.choose_fonts("DejaVu Serif", "");
  EXPECT_EQ(engine.fonts_revision(), 1u) << "nothing changed";
  engine.choose_fonts("No Such Font", "Nor This One");
  EXPECT_EQ(engine.layout(text, 0)->width(), usual) << "what is not installed is as if not chosen";
}

TEST(ChosenFonts, AreOfferedByTheirWidth) {
  const TextEngine engine;
  const std::vector<std::string> text = engine.families(/*code=*/false), code = engine.families(/*code=*/true);
  EXPECT_EQ(std::ranges::count(text, "DejaVu Sans"), 1);
  EXPECT_EQ(std::ranges::count(code, "DejaVu Sans Mono"), 1);
  for (const std::string& family : code) EXPECT_EQ(std::ranges::count(text, family), 0) << family;
  for (const char* other : {"Noto Color Emoji", "Noto Sans Math"})
    EXPECT_EQ(std::ranges::count(text, other), 0) << other;
}

}  // namespace

}  // namespace warpchat::gui
