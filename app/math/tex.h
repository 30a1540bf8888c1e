// A TeX formula as a tree, which the window lays out and the terminal writes in Unicode. An unknown command stands in
// it as it was written. A formula that is not closed or has nothing but unknown commands has no tree; its source is
// shown.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// Decides the space between neighbours (The TeXbook, chapter 18).
enum class MathClass : uint8_t { kOrdinary, kOperator, kBinary, kRelation, kOpening, kClosing, kPunctuation, kInner };

enum class MathKind : uint8_t {
  kRow,       // children side by side
  kSymbol,    // `text`, in the mathematical alphabet already
  kText,      // `text` as words, blanks and all
  kSpace,     // `width`
  kFraction,  // children: above, below; without a rule: a binomial's inside
  kRoot,      // children: radicand, degree (an empty row: none)
  kScripts,   // children: base, below, above (empty rows: none)
  kFence,     // children: the inside; left, right: delimiters, 0: none. A kSymbol with `stretches` inside is as high
  kTable,     // children: cells, row by row, n_columns a row
  kAccent,    // children: base; `text`: the mark, above it or below
  kStyle,     // children: a row that is set so
  kBox,       // children: what is framed
  kCancel,    // children: what is crossed out; `text`: by strokes / \ -
  kPhantom,   // children: what only takes room; `text`: h its width, v its height
};

enum class MathStyle : uint8_t { kDisplay, kText, kScript, kScriptScript, kInherit };

enum class MatrixLook : uint8_t { kMatrix, kCases, kAligned, kSmall };

struct MathNode {
  MathKind kind = MathKind::kRow;
  MathClass math_class = MathClass::kOrdinary;
  std::u32string text = {};
  std::optional<uint32_t> colour = {};  // 0xRRGGBB of all inside that has none of its own; black: the text's
  std::vector<MathNode> children = {};
  bool large = false;          // a symbol that is larger in displays: a sum
  bool limits = false;         // scripts stand above and below, in displays
  bool always_limits = false;  // everywhere
  bool stretches = false;      // an accent as wide as its base; a symbol as high as the fence it is in
  bool below = false;          // an accent
  bool rule = true;            // of a fraction
  bool upright = false;        // a name in letters: "sin"
  MathStyle style = MathStyle::kInherit;
  float width = 0;  // of a space: em; of a delimiter's size that was asked for: em, 0: as high as the inside
  char32_t left = 0, right = 0;
  size_t n_columns = 0;
  MatrixLook look = MatrixLook::kMatrix;
  std::string columns = {};        // "lcr" of each column, the last one for all that follow
  std::vector<size_t> bars = {};   // vertical rules before these columns
  std::vector<size_t> lines = {};  // horizontal rules above these rows
};

inline constexpr uint32_t kUnknownColour = 0xD02020;  // of unknown commands

// source: without the marks around it ($, \[).
std::optional<MathNode> parse_tex(std::string_view source);

// The formula inside "$x$", "$$x$$", "\(x\)" or "\[x\]", or all of "\begin{align}x\end{align}"; empty: it is none of
// these.
std::string_view formula_inside(std::string_view marked);

// Where the mark that ends a bare environment begins ("\end{align}"), from `from` on, and its length.
struct DisplayMark {
  size_t begin = std::string_view::npos, bytes = 0;
};
DisplayMark next_display_end(std::string_view text, size_t from);
// The length of "\begin{align}" or the like at the text's begin: an environment that is a formula without marks around
// it. 0: there is none.
size_t display_begin(std::string_view text);

}  // namespace warpchat
