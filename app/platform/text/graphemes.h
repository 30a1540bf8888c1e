// Grapheme clusters and their widths: what a person calls a character, and how many terminal columns it takes.
// Text is valid UTF-8; clusters follow Unicode UAX #29 (extended), as utf8proc implements it, but none has more than
// kMaxClusterCodePoints: what would join one that is full begins the next.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpchat {

inline constexpr int kMaxClusterCodePoints = 64;  // twice what UAX #15 calls enough for any script

// Whether a cluster ends between two neighbouring code points; remembers what flags and emoji sequences need.
class GraphemeBreaker {
 public:
  bool breaks_before(char32_t code_point);  // of the text's next code point; true for the first one
  void reset() { *this = {}; }

 private:
  int32_t previous_ = -1;
  int32_t state_ = 0;
  int n_joined_ = 0;  // code points of the cluster
};

struct CodePoint {
  char32_t value;
  size_t bytes;
};
// The code point at the front of non-empty text; an invalid byte reads as U+FFFD of one byte.
CodePoint first_code_point(std::string_view text);

size_t next_grapheme(std::string_view text, size_t from);      // end of the cluster that begins at from
size_t previous_grapheme(std::string_view text, size_t from);  // begin of the cluster that ends at from

// How the terminal draws emoji sequences: as one emoji, or each part by itself. There is one terminal, so there is one
// set of rules; the line editor asks the terminal for it (see kWidthProbes), and wrong rules only misplace the cursor
// in lines with such sequences.
struct WidthRules {
  bool joins_skin_tones = true;      // a hand and a skin tone are one hand
  bool joins_sequences = true;       // parts with a zero-width joiner between them are one emoji
  bool widens_presentations = true;  // a narrow symbol with an emoji presentation selector takes two columns
  bool operator==(const WidthRules&) const = default;
};
void set_width_rules(const WidthRules& rules);

// Three texts; each takes two columns if the WidthRules member at the same index is true.
inline constexpr std::string_view kWidthProbes[] = {"\U0001F44D\U0001F3FD", "\U0001F469\u200D\U0001F52C",
                                                    "\u2764\uFE0F"};

// Columns of a code point, a cluster (the sum over its code points, by the rules), a text. Control characters count
// nothing.
int code_point_width(char32_t code_point);
int grapheme_width(std::string_view cluster);
int text_width(std::string_view text);

// A cluster as the line editor draws it: a tab as blanks, a control character as ^X.
struct Drawn {
  std::string text;
  int width = 0;  // columns of it
};
Drawn drawn_cluster(std::string_view cluster);

char32_t upper_case(char32_t code_point);
char32_t lower_case(char32_t code_point);

bool is_control(char32_t code_point);  // C0, DEL and C1: what a terminal might obey

}  // namespace warpchat
