#include "app/math/math_unicode.h"

#include <algorithm>

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

class Writer {
 public:
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
        if (is_equations(node) && node.children.size() == node.n_columns) return equation(node, 0);
    }
    throw DoesNotFit();
  }

  // A line for each equation of a formula that consists of aligned ones.
  std::u32string write_lines(const MathNode& tree) {
    const MathNode* node = &tree;
    while (node->kind == MathKind::kRow && node->children.size() == 1) node = &node->children[0];
    if (!is_equations(*node)) return write(tree);
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
};

}  // namespace

std::optional<std::string> math_in_unicode(const MathNode& tree) {
  try {
    std::string out;
    for (char32_t c : Writer().write_lines(tree)) append_utf8(c, out);
    return out;
  } catch (const DoesNotFit&) {
    return std::nullopt;
  }
}

}  // namespace warpchat
