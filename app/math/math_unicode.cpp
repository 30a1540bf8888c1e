#include "app/math/math_unicode.h"

#include <algorithm>

#include "app/platform/text/graphemes.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

struct DoesNotFit {};

constexpr size_t kNone = std::u32string_view::npos;
constexpr std::u32string_view kPlain = U"0123456789+−=()aehijklmnoprstuvxβγρφχ";
constexpr std::u32string_view kBelow = U"₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ";
constexpr std::u32string_view kRaised = U"0123456789+−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδθφχ′∗";
constexpr std::u32string_view kAbove = U"⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᶿᵠᵡ′*";

// A letter of an italic alphabet as its plain self: terminals' fonts seldom have the others.
char32_t plain(char32_t c) {
  if (c == U'ℎ') return 'h';
  if (c >= 0x1D434 && c <= 0x1D44D) return 'A' + (c - 0x1D434);
  if (c >= 0x1D44E && c <= 0x1D467) return 'a' + (c - 0x1D44E);
  if (c >= 0x1D400 && c <= 0x1D419) return 'A' + (c - 0x1D400);
  if (c >= 0x1D41A && c <= 0x1D433) return 'a' + (c - 0x1D41A);
  if (c >= 0x1D6FC && c <= 0x1D714) return U'α' + (c - 0x1D6FC);
  static constexpr std::u32string_view kShapes = U"∂ϵϑϰϕϱϖ";
  if (c >= 0x1D715 && c <= 0x1D71B) return kShapes[c - 0x1D715];
  if (c > 0xFFFF) throw DoesNotFit();
  return c;
}

int width_of(const std::u32string& line) {
  std::string bytes;
  for (const char32_t c : line) append_utf8(c, bytes);
  return text_width(bytes);
}

void pad(std::u32string& line, int width) {
  line.append(static_cast<size_t>(std::max(0, width - width_of(line))), U' ');
}

// Lines of one width, all of them beside the same formula; others stand on the line `axis`.
struct LineBox {
  std::vector<std::u32string> lines;
  size_t axis = 0;
  int width = 0;

  static LineBox of(std::u32string line) {
    const int width = width_of(line);
    return {{std::move(line)}, 0, width};
  }

  void add(const LineBox& right) {
    const size_t above = std::max(axis, right.axis);
    const size_t below = std::max(lines.size() - axis, right.lines.size() - right.axis);
    std::vector<std::u32string> all(above + below, std::u32string());
    for (size_t y = 0; y < all.size(); ++y) {
      if (const std::u32string* line = line_at(y + axis - above)) all[y] = *line;
      pad(all[y], width);
      if (const std::u32string* line = right.line_at(y + right.axis - above)) all[y] += *line;
      pad(all[y], width + right.width);
    }
    *this = {std::move(all), above, width + right.width};
  }

  // y may have passed below 0.
  const std::u32string* line_at(size_t y) const { return y < lines.size() ? &lines[y] : nullptr; }
};

// A delimiter as high as so many lines, at least two: its top, its middle, what is between, its bottom.
struct TallDelimiter {
  char32_t plain, top, middle, between, bottom;
};
constexpr TallDelimiter kTallDelimiters[] = {
    {U'(', U'⎛', U'⎜', U'⎜', U'⎝'}, {U')', U'⎞', U'⎟', U'⎟', U'⎠'}, {U'[', U'⎡', U'⎢', U'⎢', U'⎣'},
    {U']', U'⎤', U'⎥', U'⎥', U'⎦'}, {U'{', U'⎧', U'⎨', U'⎪', U'⎩'}, {U'}', U'⎫', U'⎬', U'⎪', U'⎭'},
    {U'|', U'│', U'│', U'│', U'│'}, {U'‖', U'‖', U'‖', U'‖', U'‖'}, {U'⌊', U'⎢', U'⎢', U'⎢', U'⎣'},
    {U'⌋', U'⎥', U'⎥', U'⎥', U'⎦'}, {U'⌈', U'⎡', U'⎢', U'⎢', U'⎢'}, {U'⌉', U'⎤', U'⎥', U'⎥', U'⎥'}};

class Writer {
 public:
  explicit Writer(MathLines lines = MathLines::kMany) : lines_(lines) {}

  std::u32string write(const MathNode& node) {
    switch (node.kind) {
      case MathKind::kRow:
        return row(node.children);
      case MathKind::kSymbol:
        return symbol(node);
      case MathKind::kText:
        return node.text;
      case MathKind::kSpace:
        return node.width >= 0.16f ? U" " : U"";
      case MathKind::kFraction:
        if (!node.rule) throw DoesNotFit();
        return grouped(node.children[0]) + U"/" + grouped(node.children[1]);
      case MathKind::kRoot:
        return root(node);
      case MathKind::kScripts:
        return write(node.children[0]) + script(node.children[1], U'_', kPlain, kBelow) +
               script(node.children[2], U'^', kRaised, kAbove);
      case MathKind::kFence:
        return delimiter(node.left) + write(node.children[0]) + delimiter(node.right);
      case MathKind::kAccent:
        return accent(node);
      case MathKind::kStyle:
        return write(node.children[0]);
      case MathKind::kBox:
        return U"[" + write(node.children[0]) + U"]";
      case MathKind::kCancel:
        return cancelled(node);
      case MathKind::kPhantom:
        return node.text.starts_with(U'h') ? std::u32string(write(node.children[0]).size(), U' ') : U"";
      case MathKind::kTable:
        return table_in_a_line(node);
    }
    throw DoesNotFit();
  }

  // A line for each equation of a formula that consists of aligned ones.
  std::u32string write_lines(const MathNode& tree) {
    const MathNode* node = &tree;
    while (node->kind == MathKind::kRow && node->children.size() == 1) node = &node->children[0];
    if (lines_ == MathLines::kOne) return write(tree);
    if (!is_equations(*node) && lines_ == MathLines::kEquations) return write(tree);
    if (!is_equations(*node)) {
      std::u32string all;
      LineBox lines = box(tree);
      for (std::u32string& line : lines.lines) {
        line.resize(line.find_last_not_of(U' ') + 1);
        all += (all.empty() ? U"" : U"\n") + line;
      }
      return all;
    }
    std::u32string out;
    for (size_t first = 0; first < node->children.size(); first += node->n_columns) {
      if (first > 0) out += U'\n';
      out += equation(*node, first);
    }
    return out;
  }

 private:
  static bool is_equations(const MathNode& node) {
    return node.kind == MathKind::kTable && node.look == MatrixLook::kAligned;
  }

  std::u32string equation(const MathNode& table, size_t first) {
    std::u32string out;
    for (size_t i = first; i < first + table.n_columns; ++i) out += write(table.children[i]);
    const size_t begin = std::min(out.find_first_not_of(U' '), out.size());
    return out.substr(begin, out.find_last_not_of(U' ') + 1 - begin);
  }

  static size_t n_rows(const MathNode& table) {
    return table.n_columns == 0 ? 0 : (table.children.size() + table.n_columns - 1) / table.n_columns;
  }

  std::u32string table_in_a_line(const MathNode& table) {
    if (is_equations(table) && n_rows(table) == 1) return equation(table, 0);
    if (is_equations(table) || n_rows(table) == 0) throw DoesNotFit();
    const std::u32string_view between = table.look == MatrixLook::kCases ? U", " : U" ";
    std::u32string out;
    for (size_t i = 0; i < table.children.size(); ++i) {
      const bool begins_row = i % table.n_columns == 0;
      const std::u32string cell = write(table.children[i]);
      if (i > 0 && begins_row) out += U"; ";
      if (!begins_row && !cell.empty()) out += between;
      out += cell;
    }
    return out;
  }

  // Whether it has a table of several rows where a box can hold it.
  static bool is_tall(const MathNode& node) {
    if (node.kind == MathKind::kTable) return n_rows(node) > 1;
    const bool holds = node.kind == MathKind::kRow || node.kind == MathKind::kFence || node.kind == MathKind::kStyle;
    if (node.kind == MathKind::kScripts) return is_tall(node.children[0]);
    return holds && std::ranges::any_of(node.children, is_tall);
  }

  LineBox box(const MathNode& node) {
    if (!is_tall(node)) return LineBox::of(write(node));
    switch (node.kind) {
      case MathKind::kRow:
        return row_box(node.children);
      case MathKind::kTable:
        return table_box(node);
      case MathKind::kFence: {
        LineBox inside = box(node.children[0]);
        LineBox all = delimiter_box(node.left, inside);
        all.add(inside);
        all.add(delimiter_box(node.right, inside));
        return all;
      }
      case MathKind::kScripts:
        return scripts_box(node);
      default:
        return box(node.children[0]);
    }
  }

  // Relations and operators have blanks around them, as in a row of one line.
  LineBox row_box(const std::vector<MathNode>& nodes) {
    LineBox all = LineBox::of(U"");
    for (size_t i = 0; i < nodes.size();) {
      size_t end = i;
      while (end < nodes.size() && !is_tall(nodes[end])) ++end;
      if (end > i) {
        std::u32string part =
            row({nodes.begin() + static_cast<std::ptrdiff_t>(i), nodes.begin() + static_cast<std::ptrdiff_t>(end)});
        if (i > 0 && is_apart(nodes[i - 1], nodes[i])) part.insert(0, 1, U' ');
        if (end < nodes.size() && is_apart(nodes[end - 1], nodes[end])) part += U' ';
        all.add(LineBox::of(std::move(part)));
      } else {
        all.add(box(nodes[end++]));
      }
      i = end;
    }
    return all;
  }

  LineBox scripts_box(const MathNode& node) {
    LineBox all = box(node.children[0]);
    const std::u32string below = script(node.children[1], U'_', kPlain, kBelow);
    const std::u32string above = script(node.children[2], U'^', kRaised, kAbove);
    all.lines.front() += above;
    all.lines.back() += below;
    all.width += std::max(width_of(above), width_of(below));
    for (std::u32string& line : all.lines) pad(line, all.width);
    return all;
  }

  static LineBox delimiter_box(char32_t c, const LineBox& inside) {
    const size_t height = inside.lines.size();
    if (c == 0) return {std::vector<std::u32string>(height), inside.axis, 0};
    const auto* tall = std::ranges::find(kTallDelimiters, c, &TallDelimiter::plain);
    const bool is_brace = c == U'{' || c == U'}';
    LineBox box{std::vector<std::u32string>(height, U" "), inside.axis, 1};
    if (tall == std::end(kTallDelimiters)) {
      box.lines[inside.axis] = std::u32string(1, c);
      return box;
    }
    for (size_t y = 0; y < height; ++y) {
      const bool is_middle = height > 2 && y == height / 2;
      box.lines[y] = y == 0 ? tall->top : y + 1 == height ? tall->bottom : is_middle ? tall->middle : tall->between;
    }
    if (is_brace && height == 2)
      box.lines = c == U'{' ? std::vector<std::u32string>{U"⎰", U"⎱"} : std::vector<std::u32string>{U"⎱", U"⎰"};
    box.width = width_of(box.lines[0]);
    return box;
  }

  // 'l', 'c' or 'r'
  static char alignment(const MathNode& table, size_t column) {
    if (is_equations(table)) return column % 2 == 0 ? 'r' : 'l';
    if (table.columns.empty()) return table.look == MatrixLook::kCases ? 'l' : 'c';
    return table.columns[std::min(column, table.columns.size() - 1)];
  }

  // Cells of equal width in a column, and of equal height in a row. Its axis is its middle.
  LineBox table_box(const MathNode& table) {
    constexpr int kGap = 2;
    std::vector<int> widths(table.n_columns);
    std::vector<LineBox> cells;
    for (size_t i = 0; i < table.children.size(); ++i) {
      cells.push_back(box(table.children[i]));
      widths[i % table.n_columns] = std::max(widths[i % table.n_columns], cells.back().width);
    }
    LineBox all;
    for (size_t first = 0; first < cells.size(); first += table.n_columns) {
      LineBox line = LineBox::of(U"");
      for (size_t i = first; i < std::min(first + table.n_columns, cells.size()); ++i) {
        const size_t column = i - first;
        const int spare = widths[column] - cells[i].width,
                  gap = column == 0 || (is_equations(table) && column % 2 == 1) ? 0 : kGap;
        const char align = alignment(table, column);
        const int before = align == 'l' ? 0 : align == 'r' ? spare : spare / 2;
        const bool has_bar = std::ranges::find(table.bars, column) != table.bars.end();
        line.add(LineBox::of(has_bar ? U" │ " : std::u32string(static_cast<size_t>(gap), U' ')));
        line.add(LineBox::of(std::u32string(static_cast<size_t>(before), U' ')));
        line.add(cells[i]);
        line.add(LineBox::of(std::u32string(static_cast<size_t>(spare - before), U' ')));
      }
      all.lines.insert(all.lines.end(), line.lines.begin(), line.lines.end());
      all.width = std::max(all.width, line.width);
    }
    for (std::u32string& line : all.lines) pad(line, all.width);
    all.axis = (all.lines.size() - 1) / 2;
    return all;
  }

  std::u32string cancelled(const MathNode& node) {
    const char32_t stroke = node.text == U"-" ? U'\u0336' : U'\u0338';
    std::u32string out;
    for (char32_t c : write(node.children[0])) {
      out += c;
      if (c != U' ') out += stroke;
    }
    return out;
  }

  static std::u32string symbol(const MathNode& node) {
    std::u32string out;
    for (char32_t c : node.text) out += plain(c);
    return out;
  }
  static std::u32string delimiter(char32_t c) { return c ? std::u32string(1, c) : std::u32string(); }

  std::u32string row(const std::vector<MathNode>& nodes) {
    std::u32string out;
    const MathNode* before = nullptr;
    bool has_left = false;  // that before is an operation with something on its left
    for (const MathNode& node : nodes) {
      const std::u32string part = write(node);
      const bool is_sign = before && before->math_class == MathClass::kBinary && !has_left;
      if (before && !is_sign && is_apart(*before, node) && !out.ends_with(U' ') && !part.starts_with(U' ')) out += U' ';
      out += part;
      has_left = before && !is_one_of(*before, {MathClass::kRelation, MathClass::kOpening, MathClass::kPunctuation});
      before = &node;
    }
    return out;
  }

  static bool is_one_of(const MathNode& node, std::initializer_list<MathClass> classes) {
    return std::find(classes.begin(), classes.end(), node.math_class) != classes.end();
  }

  // Blanks around relations and binary operators, and next to names.
  static bool is_apart(const MathNode& left, const MathNode& right) {
    using enum MathClass;
    const auto is = [](const MathNode& node, MathClass c) { return node.math_class == c; };
    if (is(left, kRelation) || is(right, kRelation)) return true;
    if (is(right, kBinary)) return !is(left, kOpening) && !is(left, kOperator);
    if (is(left, kBinary)) return true;
    if (is(left, kPunctuation)) return true;
    if (is(left, kOperator)) return !is(right, kOpening) && right.kind != MathKind::kFence;
    return is(right, kOperator);
  }

  // In parentheses unless it is one number or one letter with its scripts.
  std::u32string grouped(const MathNode& node) {
    const std::u32string text = write(node);
    const bool is_number = text.find_first_not_of(U"0123456789.") == std::u32string::npos;
    const auto is_mark = [](char32_t c) {
      return kBelow.find(c) != kNone || kAbove.find(c) != kNone || (c >= 0x300 && c <= 0x36F);
    };
    const bool is_letter = !text.empty() && std::all_of(text.begin() + 1, text.end(), is_mark);
    return is_number || is_letter ? text : U"(" + text + U")";
  }

  std::u32string root(const MathNode& node) {
    const std::u32string degree = write(node.children[1]);
    if (!degree.empty() && degree != U"3" && degree != U"4") throw DoesNotFit();
    const std::u32string sign = degree.empty() ? U"√" : degree == U"3" ? U"∛" : U"∜";
    return sign + grouped(node.children[0]);
  }

  // With superscript or subscript letters if Unicode has them all, else after a mark.
  std::u32string script(const MathNode& node, char32_t mark, std::u32string_view from, std::u32string_view to) {
    std::u32string out;
    for (char32_t c : write(node)) {
      if (c == ' ') continue;
      const size_t at = from.find(c);
      if (at == kNone) return mark + grouped(node);
      out += to[at];
    }
    return out;
  }

  std::u32string accent(const MathNode& node) {
    const std::u32string base = write(node.children[0]);
    const bool is_brace = node.text[0] == U'\u23DE' || node.text[0] == U'\u23DF';
    if (base.size() != 1 || is_brace) throw DoesNotFit();
    return base + node.text;
  }

  MathLines lines_;
};

}  // namespace

std::optional<std::string> math_in_unicode(const MathNode& tree, MathLines lines) {
  try {
    std::string out;
    for (char32_t c : Writer(lines).write_lines(tree)) append_utf8(c, out);
    return out;
  } catch (const DoesNotFit&) {
    return std::nullopt;
  }
}

}  // namespace warpchat
