// Any answer on a terminal: nothing but text and the program's own sequences come out, the work is in proportion to the
// text, and pieces show the same as the whole.
#include <gtest/gtest.h>

#include "app/terminal/answer_view.h"
#include "app/terminal/conversation_text.h"
#include "models/ascii.h"
#include "models/text_format.h"
#include "tests/support/fuzz_text.h"

namespace warpchat {
namespace {

constexpr std::string_view kAnswerPieces[] = {
    "word", " ", "\n", "\n\n", "a b", "\t", "#", "## ", "**", "*", "_", "~~", "`", "```", "```python\n", "```cpp\n",
    "~~~", "> ", "- ", "1. ", "| a | b |\n", "|---|:-:|\n", "|", "---\n", "[a](http://x)", "$", "$$", "\\(", "\\)",
    "\\[", "\\]", "\\frac{a}{b}", "\\tag{\xC3\xA9}", "x^2_i", "\\sqrt{", "}", "{", "\\text{\xE6\x97\xA5}",
    "\\begin{matrix}", "\\end{matrix}", "&", "\\\\", "def f(x):", "'''", "\"", "/*", "*/", "//", "R\"(", "<b>", "&amp;",
    "e\xCC\x81", "\xCC\x81", "\xE2\x80\x8D", "\xE6\x97\xA5\xE6\x9C\xAC", "\xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x92\xBB",
    "\xD8\xB9\xD8\xB1\xD8\xA8", "\xE1\x84\x80\xE1\x85\xA1", "\xE0\xB8\xA0\xE0\xB8\xB2", "\xE2\x80\x8B", "\xC2\xA0",
    // A flag of tags, and parts of one.
    "\xF0\x9F\x8F\xB4\xF3\xA0\x81\xA7\xF3\xA0\x81\xA2\xF3\xA0\x81\xA5\xF3\xA0\x81\xAE\xF3\xA0\x81\xA7\xF3\xA0\x81\xBF",
    "\xF0\x9F\x8F\xB4", "\xF3\xA0\x81\xA7", "\xF0\x9F\x8F\xB4\xF3\xA0\x81\xA7", "\xF3\xA0\x81\xBF",
    // What must not pass: escape sequences, C0, C1, overrides, isolates, tags.
    "\x1b[31m", "\x1b]52;c;QUFB\x07", "\x1b", "\x08", "\r", "\x7f",
    "\xC2\x9B"
    "66m",
    "\xE2\x80\xAE", "\xE2\x81\xA6", "\xF3\xA0\x81\x81", std::string_view("\0", 1)};

// "\x1b[1;31m", "\x1b[K": its length at the front of the text; 0: none.
size_t own_sequence(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const size_t end = text.find_first_not_of("?0123456789;", 2);
  const bool is_known =
      end != std::string_view::npos && std::string_view("ABCDEFGHJKhlmn").find(text[end]) != std::string_view::npos;
  return is_known ? end + 1 : 0;
}

// What a terminal gets, without the program's sequences. Empty with a failure if something else is in it.
std::string text_of_output(std::string_view out, bool movable) {
  std::string text;
  CharacterFilter filter;
  while (!out.empty()) {
    if (const size_t n = own_sequence(out)) {
      out.remove_prefix(n);
      continue;
    }
    const Utf8Step step = first_character(out);
    const std::string_view character = out.substr(0, step.bytes);
    out.remove_prefix(step.bytes);
    if (step.state != Utf8State::kValid) return ADD_FAILURE() << "invalid UTF-8", "";
    const char32_t c = step.value;
    const bool may_show = filter.can_show(c) || c == '\n' || c == '\t' || (movable && c == '\r');
    if (!may_show) return ADD_FAILURE() << "U+" << std::hex << static_cast<uint32_t>(c), "";
    text += character;
  }
  return text;
}

struct LookCase {
  const char* name;
  AnswerLook look;
};
const LookCase kLooks[] = {
    {"movable", {.movable = true}},
    {"plain", {.styled = false}},
    {"narrow", {.width = 7, .rows = 5, .movable = true}},
    {"unwrapped", {.width = 0}},
    {"for_a_reader", {.styled = false, .words = true, .roles = true}},
};

TEST(AnswerFuzz, OnlyTextComesOutAndTheWorkIsBounded) {
  constexpr size_t kWorkPerByte = 1500, kWorkAtOnce = 100'000;
  FuzzText fuzz(1);
  for (size_t round = 0; round < fuzz_rounds(150, 15'000); ++round) {
    const std::string text = fuzz.of(kAnswerPieces, 4000);
    const std::vector<std::string_view> parts = fuzz.split(text);
    const bool thinking = fuzz.below(4) == 0;
    for (const LookCase& c : kLooks) {
      AnswerView view(c.look);
      std::string out;
      for (size_t i = 0; i < parts.size(); ++i) out += view.add(parts[i], thinking && i < parts.size() / 2);
      out += view.finish();
      text_of_output(out, c.look.movable);
      ASSERT_LE(view.n_read(), kWorkPerByte * text.size() + kWorkAtOnce);
      if (testing::Test::HasFailure()) FAIL() << c.name << " in round " << round << ":\n" << printable(text, 8000);
    }
  }
}

// Nor marks of quotes, which the lines that wrapping adds have, too.
std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return is_blank(c) || c == '>'; });
  return text;
}

// But for the places where lines break: what was shown already stays where it is.
TEST(AnswerFuzz, PiecesShowTheSameAsTheWhole) {
  FuzzText fuzz(2);
  for (size_t round = 0; round < fuzz_rounds(300, 20'000); ++round) {
    const std::string text = fuzz.of(kAnswerPieces, 2000);
    const std::vector<std::string_view> parts = fuzz.split(text);
    for (const int width : {0, 80}) {
      const AnswerLook look{.width = width, .styled = false};
      AnswerView whole(look), pieces(look);
      std::string expected = whole.add(text, false), found;
      expected += whole.finish();
      for (const std::string_view part : parts) found += pieces.add(part, false);
      found += pieces.finish();
      if (width > 0) expected = without_blanks(expected), found = without_blanks(found);
      ASSERT_EQ(found, expected) << "round " << round << ":\n" << printable(text, 8000);
    }
  }
}

// A typed message, as /history shows it.
TEST(AnswerFuzz, MessagesAreTextToo) {
  FuzzText fuzz(3);
  for (size_t round = 0; round < fuzz_rounds(300, 20'000); ++round) {
    const std::string text = fuzz.of(kAnswerPieces, 2000);
    const std::vector<std::string_view> parts = fuzz.split(text);
    for (const LookCase& c : kLooks)
      text_of_output(message_text({.role = "user", .content = text, .files = {{std::string(parts[0]), ""}}}, c.look),
                     c.look.movable);
    if (testing::Test::HasFailure()) FAIL() << "round " << round << ":\n" << printable(text, 8000);
  }
}

}  // namespace
}  // namespace warpchat
