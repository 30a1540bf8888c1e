// The rules of The TeXbook's appendix G, with the constants of the MATH table.
#include "app/gui/text/math_layout.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "app/gui/text/math_font.h"

namespace warpchat::gui {

namespace {

constexpr float kNullDelimiter = 0.12f, kThin = 1 / 6.f, kMedium = 2 / 9.f, kThick = 5 / 18.f;  // em
constexpr float kRowAbove = 0.84f, kRowBelow = 0.36f;                                           // em, of a table's row
constexpr float kFrame = 0.3f;                                                                  // em, round a box
constexpr float kBeyond = 0.1f;  // em, that a stroke is longer than what it crosses out

enum Level { kDisplay, kText, kScript, kScriptScript };

struct Style {
  Level level;
  bool cramped = false;
  bool is_script() const { return level >= kScript; }
  Style script() const { return {level >= kScript ? kScriptScript : kScript, cramped}; }
  Style part() const { return {level == kDisplay ? kText : script().level, cramped}; }  // of a fraction
  Style as_cramped() const { return {level, true}; }
};

// Between neighbours: 0 none, 1 thin, 2 medium, 3 thick; below 0: not in scripts.
constexpr int kSpaces[8][8] = {
    {0, 1, -2, -3, 0, 0, 0, -1},     {1, 1, 0, -3, 0, 0, 0, -1},     {-2, -2, 0, 0, -2, 0, 0, -2},
    {-3, -3, 0, 0, -3, 0, 0, -3},    {0, 0, 0, 0, 0, 0, 0, 0},       {0, 1, -2, -3, 0, 0, 0, -1},
    {-1, -1, 0, -1, -1, -1, -1, -1}, {-1, 1, -2, -3, -1, 0, -1, -1},
};

class Setter {
 public:
  Setter(float size, Font& math, FontSet& fonts) : size_(size), font_(math, fonts) {}

  MathBox set(const MathNode& node, Style style) {
    MathBox box = set_shape(node, style);
    box.tint(node.colour);
    return box;
  }

 private:
  MathBox set_shape(const MathNode& node, Style style) {
    switch (node.kind) {
      case MathKind::kRow:
        return row(node.children, style);
      case MathKind::kSymbol:
        return symbol(node, style);
      case MathKind::kText:
        return characters(node.text, style);
      case MathKind::kSpace:
        return blank(node.width * size_of(style));
      case MathKind::kFraction:
        return fraction(node, style);
      case MathKind::kRoot:
        return root(node, style);
      case MathKind::kScripts:
        return has_limits(node, style) ? limits(node, style) : scripts(node, style);
      case MathKind::kFence:
        return fence(node, style);
      case MathKind::kTable:
        return table(node, style);
      case MathKind::kAccent:
        return accent(node, style);
      case MathKind::kStyle:
        return set(node.children[0], styled(node, style));
      case MathKind::kBox:
        return framed(node, style);
      case MathKind::kCancel:
        return cancelled(node, style);
      case MathKind::kPhantom:
        return phantom(node, style);
    }
    return {};
  }

  float size_of(Style style) const {
    if (style.level == kScript) return size_ * font_.percent(HB_OT_MATH_CONSTANT_SCRIPT_PERCENT_SCALE_DOWN);
    if (style.level == kScriptScript) {
      return size_ * font_.percent(HB_OT_MATH_CONSTANT_SCRIPT_SCRIPT_PERCENT_SCALE_DOWN);
    }
    return size_;
  }
  float c(hb_ot_math_constant_t which, Style style) const { return font_.constant(which, size_of(style)); }
  float axis(Style style) const { return c(HB_OT_MATH_CONSTANT_AXIS_HEIGHT, style); }
  static MathBox blank(float width) {
    MathBox box;
    box.width = width;
    return box;
  }
  static Style styled(const MathNode& node, Style style) {
    if (node.style == MathStyle::kInherit) return style;
    return {static_cast<Level>(node.style), style.cramped};
  }
  static bool has_limits(const MathNode& node, Style style) {
    return node.always_limits || (node.limits && style.level == kDisplay);
  }

  struct Atom {
    const MathNode* node;
    MathClass math_class;
    Style style;
    std::optional<uint32_t> colour;  // of the rows of a colour around it
  };

  // What is set in a style or colour is spaced like its neighbours.
  static void collect(const std::vector<MathNode>& nodes, Style style, std::optional<uint32_t> colour,
                      std::vector<Atom>& atoms) {
    for (const MathNode& node : nodes) {
      if (node.kind == MathKind::kStyle) {
        collect(node.children[0].children, styled(node, style), node.colour ? node.colour : colour, atoms);
      } else {
        atoms.push_back({&node, node.math_class, style, colour});
      }
    }
  }

  // An operator without operands on both sides is not binary: "-1".
  static void settle_classes(std::vector<Atom>& atoms) {
    using enum MathClass;
    Atom* before = nullptr;
    const auto is_one_of = [](const Atom* atom, std::initializer_list<MathClass> classes) {
      return !atom || std::find(classes.begin(), classes.end(), atom->math_class) != classes.end();
    };
    for (Atom& atom : atoms) {
      if (atom.node->kind == MathKind::kSpace) continue;
      if (atom.math_class == kBinary && is_one_of(before, {kBinary, kOperator, kRelation, kOpening, kPunctuation})) {
        atom.math_class = kOrdinary;
      }
      if (before && before->math_class == kBinary && is_one_of(&atom, {kRelation, kClosing, kPunctuation})) {
        before->math_class = kOrdinary;
      }
      before = &atom;
    }
    if (before && before->math_class == kBinary) before->math_class = kOrdinary;
  }

  float space_between(MathClass left, MathClass right, Style style) const {
    const int space = kSpaces[static_cast<int>(left)][static_cast<int>(right)];
    if (space == 0 || (space < 0 && style.is_script())) return 0;
    static constexpr float kWidths[] = {0, kThin, kMedium, kThick};
    return kWidths[std::abs(space)] * size_of(style);
  }

  MathBox row(const std::vector<MathNode>& nodes, Style style) {
    std::vector<Atom> atoms;
    collect(nodes, style, std::nullopt, atoms);
    if (atoms.size() == 1) return set_atom(atoms[0]);
    settle_classes(atoms);
    MathBox box;
    const Atom* before = nullptr;
    float lean = 0;  // of the part before
    for (const Atom& atom : atoms) {
      if (before && atom.node->kind != MathKind::kSpace) {
        box.width += space_between(before->math_class, atom.math_class, atom.style);
      }
      if (atom.node->kind != MathKind::kSpace) before = &atom;
      if (stands_upright(*atom.node)) box.width += lean;
      const MathBox part = set_atom(atom);
      append(box, part);
      lean = part.is_symbol ? part.italic : 0;
    }
    return box;
  }

  MathBox set_atom(const Atom& atom) {
    MathBox box = set(*atom.node, atom.style);
    box.tint(atom.colour);
    return box;
  }

  // A leaning letter before it must not touch it.
  static bool stands_upright(const MathNode& node) {
    if (node.kind != MathKind::kSymbol) return node.kind != MathKind::kScripts && node.kind != MathKind::kRow;
    return node.math_class != MathClass::kPunctuation && (node.text[0] < 0x1D400 || node.text[0] > 0x1D7FF);
  }

  static void append(MathBox& box, const MathBox& part) {
    box.add(part, box.width, 0);
    box.width += part.width;
  }

  MathBox characters(const std::u32string& text, Style style) {
    MathBox box;
    for (char32_t character : text) append(box, font_.character(character, size_of(style)));
    return box;
  }

  MathBox symbol(const MathNode& node, Style style) {
    const float size = size_of(style);
    if (node.upright || node.text.size() != 1) return characters(node.text, style);
    if (node.stretches && fence_height_ > 0) return delimiter(node.text[0], fence_height_, style);
    MathBox box =
        node.large && style.level == kDisplay ? font_.large(node.text[0], size) : font_.character(node.text[0], size);
    box.is_symbol = !node.large;
    return node.large ? centred(box, style) : box;
  }

  // On the axis.
  MathBox centred(const MathBox& box, Style style) const {
    MathBox out;
    const float y = (box.ascent - box.descent) / 2 - axis(style);
    out.add(box, 0, y);
    out.width = box.width;
    out.ascent = box.ascent - y, out.descent = box.descent + y;
    out.italic = box.italic;
    return out;
  }

  MathBox scripts(const MathNode& node, Style style) {
    const MathBox base = set(node.children[0], style);
    const bool has_below = !node.children[1].children.empty(), has_above = !node.children[2].children.empty();
    const MathBox below = has_below ? set(node.children[1], style.script().as_cramped()) : MathBox();
    const MathBox above = has_above ? set(node.children[2], style.script()) : MathBox();
    float up =
        c(style.cramped ? HB_OT_MATH_CONSTANT_SUPERSCRIPT_SHIFT_UP_CRAMPED : HB_OT_MATH_CONSTANT_SUPERSCRIPT_SHIFT_UP,
          style);
    float down = c(HB_OT_MATH_CONSTANT_SUBSCRIPT_SHIFT_DOWN, style);
    if (!base.is_symbol) {
      up = std::max(up, base.ascent - c(HB_OT_MATH_CONSTANT_SUPERSCRIPT_BASELINE_DROP_MAX, style));
      down = std::max(down, base.descent + c(HB_OT_MATH_CONSTANT_SUBSCRIPT_BASELINE_DROP_MIN, style));
    }
    up = std::max(up, above.descent + c(HB_OT_MATH_CONSTANT_SUPERSCRIPT_BOTTOM_MIN, style));
    down = std::max(down, below.ascent - c(HB_OT_MATH_CONSTANT_SUBSCRIPT_TOP_MAX, style));
    if (has_above && has_below) {
      const float gap = up - above.descent - (below.ascent - down);
      const float missing = c(HB_OT_MATH_CONSTANT_SUB_SUPERSCRIPT_GAP_MIN, style) - gap;
      if (missing > 0) {
        const float max = c(HB_OT_MATH_CONSTANT_SUPERSCRIPT_BOTTOM_MAX_WITH_SUBSCRIPT, style);
        const float raise = std::clamp(max - (up - above.descent), 0.0f, missing);
        up += raise;
        down += missing - raise;
      }
    }
    MathBox box;
    append(box, base);
    const bool is_large = node.children[0].large;
    const float above_x = base.width + (is_large ? 0 : base.italic);
    const float below_x = is_large ? base.width - base.italic : width_without_primes(node.children[0], base, style);
    float right = base.width;
    if (has_above) box.add(above, above_x, -up), right = std::max(right, above_x + above.width);
    if (has_below) box.add(below, below_x, down), right = std::max(right, below_x + below.width);
    box.width = right + c(HB_OT_MATH_CONSTANT_SPACE_AFTER_SCRIPT, style);
    return box;
  }

  // What stands below stands under the primes.
  float width_without_primes(const MathNode& node, const MathBox& box, Style style) {
    const bool is_primed =
        node.kind == MathKind::kRow && node.children.size() == 2 && node.children[1].text.starts_with(U'′');
    if (!is_primed) return box.width;
    const MathBox inner = set(node.children[0], style);
    return width_without_primes(node.children[0], inner, style);
  }

  MathBox limits(const MathNode& node, Style style) {
    const MathNode& nucleus = node.children[0];
    const MathBox below = set(node.children[1], style.script().as_cramped());
    const MathBox above = set(node.children[2], style.script());
    const bool is_arrow = nucleus.kind == MathKind::kSymbol && nucleus.stretches;
    const float wanted = std::max(above.width, below.width) + 0.8f * size_of(style);
    const MathBox base =
        is_arrow ? font_.stretched(nucleus.text[0], size_of(style), wanted, true) : set(nucleus, style);
    const float width = std::max({base.width, above.width, below.width});
    MathBox box;
    box.add(base, (width - base.width) / 2, 0);
    if (!node.children[2].children.empty()) {
      const float gap = c(HB_OT_MATH_CONSTANT_UPPER_LIMIT_GAP_MIN, style);
      const float rise = c(HB_OT_MATH_CONSTANT_UPPER_LIMIT_BASELINE_RISE_MIN, style);
      const float up = base.ascent + std::max(rise, gap + above.descent);
      box.add(above, (width - above.width + base.italic) / 2, -up);
    }
    if (!node.children[1].children.empty()) {
      const float gap = c(HB_OT_MATH_CONSTANT_LOWER_LIMIT_GAP_MIN, style);
      const float drop = c(HB_OT_MATH_CONSTANT_LOWER_LIMIT_BASELINE_DROP_MIN, style);
      const float down = base.descent + std::max(drop, gap + below.ascent);
      box.add(below, (width - below.width - base.italic) / 2, down);
    }
    box.width = width;
    return box;
  }

  MathBox fraction(const MathNode& node, Style outer) {
    const Style style = styled(node, outer);
    const bool display = style.level == kDisplay;
    const MathBox above = set(node.children[0], style.part()), below = set(node.children[1], style.part().as_cramped());
    const float thick = node.rule ? std::max(1.0f, c(HB_OT_MATH_CONSTANT_FRACTION_RULE_THICKNESS, style)) : 0;
    float up = c(display ? HB_OT_MATH_CONSTANT_FRACTION_NUMERATOR_DISPLAY_STYLE_SHIFT_UP
                         : HB_OT_MATH_CONSTANT_FRACTION_NUMERATOR_SHIFT_UP,
                 style);
    float down = c(display ? HB_OT_MATH_CONSTANT_FRACTION_DENOMINATOR_DISPLAY_STYLE_SHIFT_DOWN
                           : HB_OT_MATH_CONSTANT_FRACTION_DENOMINATOR_SHIFT_DOWN,
                   style);
    const float gap = c(display ? HB_OT_MATH_CONSTANT_FRACTION_NUM_DISPLAY_STYLE_GAP_MIN
                                : HB_OT_MATH_CONSTANT_FRACTION_NUMERATOR_GAP_MIN,
                        style) +
                      thick / 2;
    up = std::max(up, axis(style) + gap + above.descent);
    down = std::max(down, gap + below.ascent - axis(style));
    const float side = kNullDelimiter * size_of(outer), width = std::max(above.width, below.width);
    MathBox box;
    box.add(above, side + (width - above.width) / 2, -up);
    box.add(below, side + (width - below.width) / 2, down);
    if (node.rule) box.rule(side, -axis(style) - thick / 2, width, thick);
    box.width = width + 2 * side;
    return box;
  }

  MathBox root(const MathNode& node, Style style) {
    const MathBox inside = set(node.children[0], style.as_cramped());
    const float thick = std::max(1.0f, c(HB_OT_MATH_CONSTANT_RADICAL_RULE_THICKNESS, style));
    const float min = c(style.level == kDisplay ? HB_OT_MATH_CONSTANT_RADICAL_DISPLAY_STYLE_VERTICAL_GAP
                                                : HB_OT_MATH_CONSTANT_RADICAL_VERTICAL_GAP,
                        style);
    const MathBox sign = font_.stretched(U'√', size_of(style), inside.height() + min + thick);
    const float gap = std::max(min, (min + sign.height() - thick - inside.height()) / 2);
    const float top = inside.ascent + gap + thick;  // above the baseline
    MathBox box;
    float x = 0;
    if (!node.children[1].children.empty()) {
      const MathBox degree = set(node.children[1], {kScriptScript, true});
      const float bottom = sign.height() - top;  // below the baseline
      const float raise =
          font_.percent(HB_OT_MATH_CONSTANT_RADICAL_DEGREE_BOTTOM_RAISE_PERCENT) * sign.height() - bottom;
      x = std::max(0.0f, c(HB_OT_MATH_CONSTANT_RADICAL_KERN_BEFORE_DEGREE, style));
      box.add(degree, x, -raise - degree.descent);
      x = std::max(0.0f, x + degree.width + c(HB_OT_MATH_CONSTANT_RADICAL_KERN_AFTER_DEGREE, style));
    }
    box.add(sign, x, sign.ascent - top);
    box.rule(x + sign.width, -top, inside.width, thick);
    box.add(inside, x + sign.width, 0);
    box.ascent = top + c(HB_OT_MATH_CONSTANT_RADICAL_EXTRA_ASCENDER, style);
    box.width = x + sign.width + inside.width;
    return box;
  }

  MathBox delimiter(char32_t character, float height, Style style) {
    if (character == 0) return blank(kNullDelimiter * size_of(style));
    return centred(font_.stretched(character, size_of(style), height), style);
  }

  MathBox fence(const MathNode& node, Style style) {
    const float size = size_of(style);
    const float outer = std::exchange(fence_height_, 0.0f);
    MathBox inside = set(node.children[0], style);
    float height = node.width * size;
    if (height == 0) {
      const float whole = 2 * std::max(inside.ascent - axis(style), inside.descent + axis(style));
      height = std::max(0.901f * whole, whole - 0.5f * size);
    }
    fence_height_ = height;  // of what stands in the middle
    const auto& parts = node.children[0].children;
    if (std::any_of(parts.begin(), parts.end(), [](const MathNode& part) { return part.stretches; })) {
      inside = set(node.children[0], style);
    }
    fence_height_ = outer;
    MathBox box;
    append(box, delimiter(node.left, height, style));
    if (node.width > 0) return box;
    append(box, inside);
    append(box, delimiter(node.right, height, style));
    return box;
  }

  MathBox accent(const MathNode& node, Style style) {
    const MathBox base = set(node.children[0], style.as_cramped());
    const char32_t mark = node.text[0];
    if (mark == U'\u0305' || mark == U'\u0332') return with_bar(base, node.below, style);
    const float size = size_of(style);
    const MathBox sign = node.stretches ? font_.stretched(mark, size, base.width, true) : font_.character(mark, size);
    const bool by_symbol = !node.stretches && base.is_symbol;
    const float centre = by_symbol ? base.accent.value_or(base.width / 2) : base.width / 2;
    const float sign_centre = node.stretches ? ink_centre(sign) : sign.accent.value_or(sign.width / 2);
    MathBox box;
    append(box, base);
    if (node.below) {
      box.add(sign, centre - sign_centre, base.descent + sign.ascent + 0.1f * size);
    } else {
      const float over = std::min(base.ascent, c(HB_OT_MATH_CONSTANT_ACCENT_BASE_HEIGHT, style));
      const float brace = mark == U'\u23DE' ? base.ascent + sign.descent + 0.1f * size : 0;
      box.add(sign, centre - sign_centre, mark == U'\u23DE' ? -brace : over - base.ascent);
    }
    box.is_symbol = base.is_symbol;
    box.italic = base.italic;
    return box;
  }

  // Combining marks stand left of their pen.
  static float ink_centre(const MathBox& sign) {
    hb_glyph_extents_t extents{};
    if (sign.glyphs.size() != 1) return sign.width / 2;
    const MathGlyph& glyph = sign.glyphs[0];
    if (!hb_font_get_glyph_extents(glyph.font->shaping(), glyph.id, &extents)) return sign.width / 2;
    const float scale = glyph.size / glyph.font->units_per_em();
    return (static_cast<float>(extents.x_bearing) + static_cast<float>(extents.width) / 2) * scale;
  }

  MathBox with_bar(const MathBox& base, bool below, Style style) const {
    const float thick = std::max(1.0f, c(HB_OT_MATH_CONSTANT_OVERBAR_RULE_THICKNESS, style));
    const float gap = c(HB_OT_MATH_CONSTANT_OVERBAR_VERTICAL_GAP, style);
    MathBox box;
    append(box, base);
    box.rule(0, below ? base.descent + gap : -base.ascent - gap - thick, base.width, thick);
    if (!below) box.ascent += thick;
    return box;
  }

  MathBox framed(const MathNode& node, Style style) {
    const MathBox inside = set(node.children[0], style);
    const float pad = kFrame * size_of(style), thick = std::max(1.0f, 0.05f * size_of(style));
    const float width = inside.width + 2 * pad, top = inside.ascent + pad, height = inside.height() + 2 * pad;
    MathBox box;
    box.add(inside, pad, 0);
    box.rule(0, -top, width, thick);
    box.rule(0, -top + height - thick, width, thick);
    box.rule(0, -top, thick, height);
    box.rule(width - thick, -top, thick, height);
    box.width = width;
    return box;
  }

  MathBox cancelled(const MathNode& node, Style style) {
    const float beyond = kBeyond * size_of(style), thick = std::max(1.0f, 0.05f * size_of(style));
    MathBox box = set(node.children[0], style);
    const float left = -beyond, right = box.width + beyond, middle = (box.descent - box.ascent) / 2;
    const float top = -box.ascent - beyond, bottom = box.descent + beyond;
    for (char32_t stroke : node.text) {
      const float from = stroke == U'/' ? bottom : stroke == U'-' ? middle : top;
      const float to = stroke == U'/' ? top : stroke == U'-' ? middle : bottom;
      box.strokes.push_back({left, from, right, to, thick});
    }
    box.ascent += beyond, box.descent += beyond;
    box.is_symbol = false;
    return box;
  }

  MathBox phantom(const MathNode& node, Style style) {
    const MathBox inside = set(node.children[0], style);
    const bool is_wide = node.text.find(U'h') != std::u32string::npos;
    const bool is_high = node.text.find(U'v') != std::u32string::npos;
    MathBox box = blank(is_wide ? inside.width : 0);
    if (is_high) box.ascent = inside.ascent, box.descent = inside.descent;
    return box;
  }

  static Style cell_style(MatrixLook look, Style style) {
    if (look == MatrixLook::kAligned) return {kDisplay, style.cramped};
    if (look == MatrixLook::kSmall) return style.script();
    return {std::max(style.level, kText), style.cramped};
  }

  // Before a column, in em.
  static float column_gap(const MathNode& node, size_t column) {
    if (column == 0) return 0;
    if (node.look == MatrixLook::kSmall) return 0.35f;
    if (node.look == MatrixLook::kAligned) return node.columns == "rl" && column % 2 == 0 ? 2 : 0;
    return 1;
  }

  MathBox table(const MathNode& node, Style outer) {
    const Style style = cell_style(node.look, outer);
    const size_t n = node.n_columns, n_rows = n ? node.children.size() / n : 0;
    const float size = size_of(style);
    std::vector<MathBox> cells;
    std::vector<float> widths(n, 0), above(n_rows, kRowAbove * size), below(n_rows, kRowBelow * size);
    const float part = node.look == MatrixLook::kSmall ? 0.8f : 1, leading = row_gap(node.look) * size;
    for (size_t row = 0; row < n_rows; ++row) {
      above[row] *= part, below[row] *= part;
      for (size_t column = 0; column < n; ++column) {
        cells.push_back(set(node.children[row * n + column], style));
        widths[column] = std::max(widths[column], cells.back().width);
        above[row] = std::max(above[row], cells.back().ascent);
        below[row] = std::max(below[row], cells.back().descent);
      }
    }
    std::vector<float> lefts;
    float width = 0;
    for (size_t column = 0; column < n; ++column) {
      width += column_gap(node, column) * size;
      lefts.push_back(width);
      width += widths[column];
    }
    float height = 0;
    for (size_t row = 0; row < n_rows; ++row) height += above[row] + below[row] + (row ? leading : 0);
    float y = -axis(outer) - height / 2;
    const float top = y, thick = std::max(1.0f, 0.05f * size);
    MathBox box;
    for (size_t row = 0; row < n_rows; ++row) {
      y += (row ? leading : 0);
      if (std::find(node.lines.begin(), node.lines.end(), row) != node.lines.end())
        box.rule(0, row ? y - leading / 2 : y, width, thick);
      y += above[row];
      for (size_t column = 0; column < n; ++column) {
        const MathBox& cell = cells[row * n + column];
        const float spare = widths[column] - cell.width;
        const char alignment = alignment_of(node, column);
        box.add(cell, lefts[column] + (alignment == 'r' ? spare : alignment == 'c' ? spare / 2 : 0), y);
      }
      y += below[row];
    }
    for (size_t bar : node.bars) {
      const float x = bar < n ? lefts[bar] - column_gap(node, bar) * size / 2 : width;
      box.rule(x, top, thick, height);
    }
    if (std::find(node.lines.begin(), node.lines.end(), n_rows) != node.lines.end()) box.rule(0, y, width, thick);
    box.ascent = -top, box.descent = top + height;
    box.width = width;
    return box;
  }

  static float row_gap(MatrixLook look) {
    return look == MatrixLook::kAligned ? 0.3f : look == MatrixLook::kSmall ? 0.05f : 0.1f;
  }
  static char alignment_of(const MathNode& node, size_t column) {
    if (node.columns.empty()) return 'c';
    if (node.columns == "rl") return column % 2 ? 'l' : 'r';
    return node.columns[std::min(column, node.columns.size() - 1)];
  }

  float size_;
  MathFont font_;
  float fence_height_ = 0;  // of the enclosing fence, once it is known
};

}  // namespace

MathLayout lay_out_math(const MathNode& tree, bool display, float size, Font& math, FontSet& fonts) {
  return Setter(size, math, fonts).set(tree, {display ? kDisplay : kText});
}

}  // namespace warpchat::gui
