// utf8proc's break rules and widths, corrected where terminals (and wcwidth) differ: spacing marks, Jamo, emoji.
#include "app/platform/text/graphemes.h"

#include <utf8proc.h>

#include <algorithm>

#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr char32_t kReplacement = 0xFFFD, kEmojiPresentation = 0xFE0F, kZeroWidthJoiner = 0x200D;

constexpr int kTabWidth = 4;

WidthRules width_rules;

// Vowels and final consonants that a terminal draws into the syllable before them.
bool is_joining_jamo(char32_t c) { return (c >= 0x1160 && c <= 0x11FF) || (c >= 0xD7B0 && c <= 0xD7FF); }
bool is_skin_tone(char32_t c) { return c >= 0x1F3FB && c <= 0x1F3FF; }

}  // namespace

bool GraphemeBreaker::breaks_before(char32_t code_point) {
  const int32_t current = static_cast<int32_t>(code_point);
  const bool breaks = previous_ < 0 || utf8proc_grapheme_break_stateful(previous_, current, &state_);
  previous_ = current;
  n_joined_ = breaks || n_joined_ == kMaxClusterCodePoints ? 1 : n_joined_ + 1;
  return n_joined_ == 1;
}

CodePoint first_code_point(std::string_view text) {
  const Utf8Step step = first_character(text);
  return step.state == Utf8State::kValid ? CodePoint{step.value, step.bytes} : CodePoint{kReplacement, 1};
}

size_t next_grapheme(std::string_view text, size_t from) {
  GraphemeBreaker breaker;
  size_t at = from;
  while (at < text.size()) {
    const CodePoint c = first_code_point(text.substr(at));
    if (breaker.breaks_before(c.value) && at > from) break;
    at += c.bytes;
  }
  return at;
}

// Clusters can only be found from the front; a line break always parts two, so that is far enough.
size_t previous_grapheme(std::string_view text, size_t from) {
  if (from == 0) return 0;
  if (text[from - 1] == '\n') return from - 1;
  const size_t line_end = text.rfind('\n', from - 1);
  size_t at = line_end == std::string_view::npos ? 0 : line_end + 1;
  for (size_t next = at; next < from; next = next_grapheme(text, next)) at = next;
  return at;
}

bool is_control(char32_t c) { return c < 0x20 || (c >= 0x7F && c < 0xA0); }

char32_t upper_case(char32_t c) { return static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))); }
char32_t lower_case(char32_t c) { return static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))); }

int code_point_width(char32_t code_point) {
  if (is_control(code_point) || is_joining_jamo(code_point)) return 0;
  if (utf8proc_category(static_cast<utf8proc_int32_t>(code_point)) == UTF8PROC_CATEGORY_MC) return 1;
  return std::clamp(utf8proc_charwidth(static_cast<utf8proc_int32_t>(code_point)), 0, 2);
}

void set_width_rules(const WidthRules& rules) { width_rules = rules; }

int grapheme_width(std::string_view cluster) {
  int width = 0;
  char32_t before = 0;
  while (!cluster.empty()) {
    const CodePoint c = first_code_point(cluster);
    const bool joined = (width_rules.joins_sequences && before == kZeroWidthJoiner) ||
                        (width_rules.joins_skin_tones && is_skin_tone(c.value) && width > 0);
    if (!joined) width += code_point_width(c.value);
    if (width_rules.widens_presentations && c.value == kEmojiPresentation && width == 1) width = 2;
    before = c.value;
    cluster.remove_prefix(c.bytes);
  }
  return width;
}

Drawn drawn_cluster(std::string_view cluster) {
  const char32_t c = first_code_point(cluster).value;
  if (c == '\t') return {std::string(kTabWidth, ' '), kTabWidth};
  if (c < 0x20 || c == 0x7F) return {{'^', static_cast<char>(c ^ 0x40)}, 2};
  if (is_control(c)) return {"?", 1};
  const std::string shown = replace_controls(cluster);
  return {shown, shown == cluster ? grapheme_width(cluster) : text_width(shown)};
}

int text_width(std::string_view text) {
  int width = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = next_grapheme(text, at);
    width += grapheme_width(text.substr(at, end - at));
    at = end;
  }
  return width;
}

}  // namespace warpchat
