// A recursive descent parser. What cannot be read throws Unreadable, which results in no tree; unknown commands stay.
#include "app/math/tex.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "app/math/tex_chemistry.h"
#include "app/math/tex_reader.h"
#include "app/math/tex_symbols.h"
#include "app/math/tex_units.h"

namespace warpchat {

namespace {

using std::string_view;
constexpr int kDeepest = 60;             // groups within groups
constexpr size_t kLongestSource = 8000;  // bytes

MathNode space(float em) { return {.kind = MathKind::kSpace, .width = em}; }
MathNode symbol(char32_t c, MathClass math_class) {
  return {.kind = MathKind::kSymbol, .math_class = math_class, .text = {c}};
}
MathNode row_of(std::vector<MathNode> children) { return {.children = std::move(children)}; }
MathNode as_row(MathNode node) {
  if (node.kind == MathKind::kRow) return node;
  std::vector<MathNode> children;
  children.push_back(std::move(node));
  return row_of(std::move(children));
}
MathNode words(std::u32string text) { return {.kind = MathKind::kText, .text = std::move(text)}; }

MathNode unknown(std::u32string text) {
  return {.kind = MathKind::kText, .text = std::move(text), .colour = kUnknownColour};
}

MathNode node_around(MathKind kind, std::u32string text, MathNode inside) {
  MathNode node{.kind = kind, .text = std::move(text)};
  node.children.push_back(std::move(inside));
  return node;
}

class Parser : private TexReader {
 public:
  explicit Parser(string_view source, int depth = 0) : TexReader(source), depth_(depth) {}

  // All of it; several lines or columns are aligned as in "aligned".
  MathNode whole() {
    MathNode table = cells({});
    if (at_ != text_.size()) throw Unreadable();
    if (table.children.size() == 1) return std::move(table.children[0]);
    table.look = MatrixLook::kAligned;
    table.columns = table.n_columns > 1 ? "rl" : "c";
    begin_with_atoms(table);
    return row_of({std::move(table)});
  }
  // Whether there is anything besides unknown commands and marks.
  bool knows_something() const { return n_known_ > 0; }

 private:
  using Command = MathNode (Parser::*)(string_view);
  static const std::map<string_view, Command>& commands();
  static const std::map<string_view, MathAlphabet>& alphabets();

  bool ends_row() const {
    if (at_end() || peek() == '}' || peek() == '&' || peek() == '$' || (peek() == ']' && in_brackets_)) return true;
    const string_view name = command_name();
    return name == "\\" || name == "right" || name == "end" || name == "cr" || name == ")";
  }

  MathNode row() {
    if (++depth_ > kDeepest) throw Unreadable();
    std::vector<MathNode> children;
    for (skip_blanks(); !ends_row(); skip_blanks()) {
      const string_view name = command_name();
      if (name == "over" || name == "atop" || name == "choose") {
        at_ += 1 + name.size();
        MathNode above = row_of(std::exchange(children, {}));
        children.push_back(fraction_of(std::move(above), row(), name));
      } else {
        children.push_back(item());
      }
    }
    --depth_;
    return row_of(std::move(children));
  }

  MathNode group() {
    if (peek() != '{') throw Unreadable();
    ++at_;
    const bool in_brackets = std::exchange(in_brackets_, false);
    MathNode inside = row();
    in_brackets_ = in_brackets;
    if (peek() != '}') throw Unreadable();
    ++at_;
    return inside;
  }

  MathNode argument() {
    skip_blanks();
    if (at_end() || (ends_row() && peek() != '{')) throw Unreadable();
    return peek() == '{' ? group() : nucleus();
  }

  MathNode optional_argument() {
    skip_blanks();
    if (peek() != '[') return row_of({});
    ++at_;
    const bool in_brackets = std::exchange(in_brackets_, true);
    MathNode inside = row();
    in_brackets_ = in_brackets;
    if (peek() != ']') throw Unreadable();
    ++at_;
    return inside;
  }

  MathNode item() {
    MathNode base = peek() == '^' || peek() == '_' ? row_of({}) : nucleus();
    MathNode below = row_of({}), above = row_of({});
    for (skip_blanks();; skip_blanks()) {
      const char c = peek();
      if (c == '\'') {
        base = with_primes(std::move(base));
      } else if (c == '^' || c == '_') {
        ++at_;
        MathNode& script = c == '^' ? above : below;
        if (!script.children.empty()) throw Unreadable();
        MathNode inside = argument();
        script = row_of({});
        script.children.push_back(std::move(inside));
      } else if (skip_command("limits")) {
        base.always_limits = true;
      } else if (skip_command("nolimits")) {
        base.limits = base.always_limits = false;
      } else {
        break;
      }
    }
    if (below.children.empty() && above.children.empty()) return base;
    return scripts(std::move(base), std::move(below), std::move(above));
  }

  // In its own row after the base.
  MathNode with_primes(MathNode base) {
    MathNode primes{.kind = MathKind::kSymbol};
    for (; peek() == '\''; ++at_) primes.text += U'′';
    std::vector<MathNode> parts;
    parts.push_back(std::move(base));
    parts.push_back(std::move(primes));
    return row_of(std::move(parts));
  }

  static MathNode scripts(MathNode base, MathNode below, MathNode above) {
    MathNode node{.kind = MathKind::kScripts, .math_class = base.math_class};
    node.limits = base.limits;
    node.always_limits = base.always_limits;
    node.children.push_back(std::move(base));
    node.children.push_back(std::move(below));
    node.children.push_back(std::move(above));
    return node;
  }

  MathNode nucleus() {
    const char c = peek();
    if (c == '{') return group();
    if (c == '\\') {
      if (++depth_ > kDeepest) throw Unreadable();
      MathNode node = command();
      --depth_;
      return node;
    }
    if (c == '~') return ++at_, space(0.3f);
    if (c == '%' || c == '#' || c == '$' || c == '^' || c == '_' || static_cast<unsigned char>(c) < ' ')
      throw Unreadable();
    return character();
  }

  MathNode character() {
    const auto [c, length] = decode_character(text_.substr(at_));
    at_ += length;
    n_known_ += c > 0x7F || is_tex_letter(static_cast<char>(c)) || (c >= '0' && c <= '9');
    const MathSymbol known = math_character(c);
    return symbol(in_alphabet(known.character, alphabet_), known.math_class);
  }

  MathNode command() {
    const string_view name = command_name();
    if (name.empty()) throw Unreadable();
    at_ += 1 + name.size();
    ++n_known_;
    if (const auto known = commands().find(name); known != commands().end()) return (this->*known->second)(name);
    if (const auto alphabet = alphabets().find(name); alphabet != alphabets().end()) {
      const MathAlphabet before = std::exchange(alphabet_, alphabet->second);
      MathNode inside = argument();
      alphabet_ = before;
      return inside;
    }
    if (const MathSymbol* known = math_symbol(name)) {
      MathNode node = symbol(in_alphabet(known->character, alphabet_), known->math_class);
      node.large = known->large;
      node.limits = known->limits;
      return node;
    }
    if (const MathFunction* function = math_function(name)) return function_named(function->name, function->limits);
    if (const MathAccent* mark = math_accent(name)) return accent(*mark);
    --n_known_;
    return unknown_command(name);
  }

  // As it was written, but what its braces hold is set. A blank after it parts it from what follows.
  MathNode unknown_command(string_view name) {
    std::u32string text = U"\\" + decode_text(name);
    if (is_tex_letter(name[0]) && is_blank(peek())) text += U' ';
    std::vector<MathNode> parts;
    parts.push_back(unknown(std::move(text)));
    while (peek() == '{') {
      parts.push_back(unknown(U"{"));
      parts.push_back(group());
      parts.push_back(unknown(U"}"));
    }
    return row_of(std::move(parts));
  }

  static MathNode function_named(string_view name, bool limits) {
    std::u32string text = decode_text(name);
    if (name == "liminf" || name == "limsup") text.insert(3, U" ");
    return {.kind = MathKind::kSymbol,
            .math_class = MathClass::kOperator,
            .text = std::move(text),
            .limits = limits,
            .upright = true};
  }

  MathNode accent(const MathAccent& mark) {
    MathNode node{
        .kind = MathKind::kAccent, .text = {mark.character}, .stretches = mark.stretches, .below = mark.below};
    node.limits = node.always_limits = mark.character == U'\u23DE' || mark.character == U'\u23DF';
    node.children.push_back(argument());
    return node;
  }

  MathNode fraction(string_view name) {
    MathNode above = argument();
    return fraction_of(std::move(above), argument(), name);
  }

  static MathNode fraction_of(MathNode above, MathNode below, string_view name) {
    MathNode node{.kind = MathKind::kFraction, .math_class = MathClass::kInner};
    const bool is_binomial = name.ends_with("binom") || name == "choose";
    node.rule = !is_binomial && name != "atop";
    if (name[0] == 'd' || name == "cfrac") node.style = MathStyle::kDisplay;
    if (name[0] == 't') node.style = MathStyle::kText;
    node.children.push_back(std::move(above));
    node.children.push_back(std::move(below));
    return is_binomial ? fenced('(', ')', std::move(node)) : std::move(node);
  }

  static MathNode fenced(char32_t left, char32_t right, MathNode inside) {
    MathNode node{.kind = MathKind::kFence, .math_class = MathClass::kInner, .left = left, .right = right};
    node.children.push_back(std::move(inside));
    return node;
  }

  MathNode root(string_view) {
    MathNode degree = optional_argument();
    MathNode node{.kind = MathKind::kRoot};
    node.children.push_back(argument());
    node.children.push_back(std::move(degree));
    return node;
  }

  // 0: none. A command that is no delimiter is left to what follows.
  char32_t delimiter() {
    skip_blanks();
    const string_view name = command_name();
    if (name.empty()) {
      const char c = peek();
      static constexpr string_view kKnown = "()[]|/.<>";
      if (c == '\0' || kKnown.find(c) == string_view::npos) throw Unreadable();
      ++at_;
      return c == '.' ? 0 : c == '<' ? U'⟨' : c == '>' ? U'⟩' : static_cast<char32_t>(c);
    }
    const MathSymbol* known = math_symbol(name);
    static constexpr std::u32string_view kKnown = U"{}‖|⟨⟩⌈⌉⌊⌋[]↑↓↕⇑⇓\\";
    if (!known || kKnown.find(known->character) == std::u32string_view::npos) return 0;
    at_ += 1 + name.size();
    return known->character;
  }

  MathNode fence(string_view) {
    const char32_t left = delimiter();
    const bool in_brackets = std::exchange(in_brackets_, false);
    MathNode inside = row();
    in_brackets_ = in_brackets;
    if (!skip_command("right")) throw Unreadable();
    return fenced(left, delimiter(), std::move(inside));
  }

  MathNode middle(string_view) {
    const char32_t mark = delimiter();
    if (mark == 0) return row_of({});
    MathNode node = symbol(mark, MathClass::kRelation);
    node.stretches = true;
    return node;
  }

  // \big, \Big, \bigg, \Bigg; with l, r, m what they are.
  MathNode sized_delimiter(string_view name) {
    MathNode node = fenced(delimiter(), 0, row_of({}));
    node.width = (name[0] == 'B' ? 1.8f : 1.2f) + (name.starts_with("bigg") || name.starts_with("Bigg") ? 1.2f : 0);
    const char last = name.back();
    node.math_class = last == 'l'   ? MathClass::kOpening
                      : last == 'r' ? MathClass::kClosing
                      : last == 'm' ? MathClass::kRelation
                                    : MathClass::kOrdinary;
    return node;
  }

  static const MathAlphabet* text_alphabet(string_view name) {
    static const std::map<string_view, MathAlphabet> kAlphabets = {
        {"text", MathAlphabet::kUpright},  {"textrm", MathAlphabet::kUpright},     {"mbox", MathAlphabet::kUpright},
        {"hbox", MathAlphabet::kUpright},  {"textnormal", MathAlphabet::kUpright}, {"textbf", MathAlphabet::kBold},
        {"textit", MathAlphabet::kItalic}, {"emph", MathAlphabet::kItalic},        {"texttt", MathAlphabet::kMono},
        {"textsf", MathAlphabet::kSans}};
    const auto known = kAlphabets.find(name);
    return known == kAlphabets.end() ? nullptr : &known->second;
  }

  MathNode text(string_view name) { return words_group(*text_alphabet(name)); }

  // Words, with formulas and commands among them.
  MathNode words_group(MathAlphabet alphabet) {
    skip_blanks();
    if (peek() != '{' || ++depth_ > kDeepest) throw Unreadable();
    std::vector<MathNode> parts;
    std::u32string run;
    const auto add = [&](MathNode part) {
      if (!run.empty()) parts.push_back(words(std::exchange(run, {})));
      parts.push_back(std::move(part));
    };
    for (++at_; peek() != '}';) {
      if (at_end()) throw Unreadable();
      static constexpr string_view kEscaped = " %&$#_{}", kBlanks = ",;:\\";
      const string_view name = command_name();
      if (peek() == '{') {
        add(words_group(alphabet));
      } else if (peek() == '$' || name == "(") {
        add(formula_in_words());
      } else if (name.size() == 1 && kEscaped.find(name[0]) != string_view::npos) {
        run += static_cast<char32_t>(name[0]), at_ += 2;
      } else if (name.size() == 1 && kBlanks.find(name[0]) != string_view::npos) {
        run += U' ', at_ += 2;
      } else if (!name.empty()) {
        add(nucleus());
      } else if (is_blank(peek()) || peek() == '~') {
        run += U' ', ++at_;
      } else {
        const auto [c, length] = decode_character(text_.substr(at_));
        run += in_alphabet(c, alphabet), at_ += length;
      }
    }
    ++at_, --depth_;
    if (parts.empty()) return words(std::move(run));
    if (!run.empty()) parts.push_back(words(std::move(run)));
    return row_of(std::move(parts));
  }

  // "$x$" or "\(x\)".
  MathNode formula_in_words() {
    const bool is_dollar = peek() == '$';
    at_ += is_dollar ? 1 : 2;
    const MathAlphabet before = std::exchange(alphabet_, MathAlphabet::kItalic);
    MathNode inside = row();
    alphabet_ = before;
    if (is_dollar ? peek() != '$' : command_name() != ")") throw Unreadable();
    at_ += is_dollar ? 1 : 2;
    return inside;
  }

  MathNode operator_name(string_view) {
    const bool limits = peek() == '*';
    if (limits) ++at_;
    return function_named(raw_group(), limits);
  }

  MathNode modulus(string_view name) {
    if (name == "bmod")
      return {.kind = MathKind::kSymbol, .math_class = MathClass::kBinary, .text = U"mod", .upright = true};
    if (name == "mod") return row_of({space(1), words(U"mod"), space(0.33f)});
    std::vector<MathNode> parts = {space(1), symbol('(', MathClass::kOpening), words(U"mod"), space(0.33f)};
    parts.push_back(argument());
    parts.push_back(symbol(')', MathClass::kClosing));
    return row_of(std::move(parts));
  }

  MathNode negation(string_view) {
    MathNode node = argument();
    const bool is_one = node.kind == MathKind::kSymbol && node.text.size() == 1;
    if (const char32_t negative = is_one ? negated(node.text[0]) : 0) return node.text = {negative}, node;
    MathNode crossed = node_around(MathKind::kCancel, U"/", as_row(node));
    crossed.math_class = node.math_class;
    return crossed;
  }

  MathNode cancel(string_view name) {
    const char32_t* strokes = name == "bcancel" ? U"\\" : name == "xcancel" ? U"/\\" : name == "sout" ? U"-" : U"/";
    return node_around(MathKind::kCancel, strokes, as_row(argument()));
  }

  MathNode phantom(string_view name) {
    return node_around(MathKind::kPhantom, name[0] == 'h' ? U"h" : name[0] == 'v' ? U"v" : U"hv", as_row(argument()));
  }

  // \color holds for the group behind it, or for the rest of the row if there is none.
  MathNode coloured(string_view name) {
    skip_option();
    MathNode node{.kind = MathKind::kStyle, .colour = math_colour(source_group())};
    if (name == "textcolor") skip_blanks();
    node.children.push_back(name == "color" && peek() != '{' ? row() : as_row(argument()));
    return node;
  }

  MathNode colour_box(string_view name) {
    for (int i = name[0] == 'f' ? 2 : 1; i > 0; --i) skip_option(), source_group();
    return node_around(MathKind::kBox, {}, words_group(MathAlphabet::kUpright));
  }

  // \rm and the like hold for the rest of the row.
  MathNode switched(string_view name) {
    static const std::map<string_view, MathAlphabet> kAlphabets = {
        {"rm", MathAlphabet::kUpright}, {"bf", MathAlphabet::kBold}, {"it", MathAlphabet::kItalic},
        {"sf", MathAlphabet::kSans},    {"tt", MathAlphabet::kMono}, {"cal", MathAlphabet::kScript}};
    const MathAlphabet before = std::exchange(alphabet_, kAlphabets.at(name));
    MathNode node = node_around(MathKind::kStyle, {}, row());
    alphabet_ = before;
    return node;
  }

  MathNode prescript(string_view) {
    MathNode above = as_row(argument()), below = as_row(argument());
    std::vector<MathNode> parts;
    parts.push_back(scripts(row_of({}), std::move(below), std::move(above)));
    parts.push_back(argument());
    return row_of(std::move(parts));
  }

  // What other notations mean in TeX, read as such.
  MathNode translated(const std::string& tex) {
    if (depth_ >= kDeepest) throw Unreadable();
    Parser inside(tex, depth_ + 1);
    MathNode tree = inside.row();
    if (inside.at_ != tex.size()) throw Unreadable();
    n_known_ += inside.n_known_;
    return tree;
  }

  MathNode chemistry(string_view) { return translated(chemistry_as_tex(source_group())); }

  MathNode quantity(string_view name) {
    skip_option();
    const bool has_number = name != "si" && name != "unit";
    const bool has_unit = name == "SI" || name == "qty" || !has_number;
    const string_view number = has_number ? source_group() : "", unit = has_unit ? source_group() : "";
    std::string tex = number_as_tex(number);
    if (has_number && has_unit) tex += "\\,";
    tex += name == "ang" ? "{}^{\\circ}" : units_as_tex(unit);
    return translated(tex);
  }

  MathNode length(string_view name) {
    if (peek() == '*') ++at_;
    float em = 0;
    if (peek() == '{') {
      em = length_in_em(source_group());
    } else {  // "\kern 2pt"
      skip_blanks();
      const size_t end = std::min(text_.find_first_not_of("+-.0123456789", at_), text_.size());
      const size_t bytes = std::min(end + 2, text_.size()) - at_;
      em = length_in_em(text_.substr(at_, bytes));
      at_ += bytes;
    }
    return name == "vspace" ? row_of({}) : space(em);
  }

  MathNode stacked(string_view name) {
    MathNode mark = argument(), base = argument();
    base.always_limits = true;
    if (base.kind == MathKind::kRow && base.children.size() == 1) base.math_class = base.children[0].math_class;
    if (name == "underset") return scripts(std::move(base), std::move(mark), row_of({}));
    MathNode node = scripts(std::move(base), row_of({}), std::move(mark));
    if (name == "stackrel") node.math_class = MathClass::kRelation;
    return node;
  }

  MathNode long_arrow(string_view name) {
    static const std::map<string_view, char32_t> kArrows = {
        {"xrightarrow", U'→'},     {"xleftarrow", U'←'},      {"xRightarrow", U'⇒'}, {"xLeftarrow", U'⇐'},
        {"xleftrightarrow", U'↔'}, {"xLeftrightarrow", U'⇔'}, {"xmapsto", U'↦'},     {"xrightleftharpoons", U'⇌'}};
    MathNode below = optional_argument(), above = argument();
    MathNode arrow = symbol(kArrows.at(name), MathClass::kRelation);
    arrow.stretches = arrow.always_limits = true;
    return scripts(std::move(arrow), std::move(below), std::move(above));
  }

  MathNode style(string_view name) {
    MathNode node{.kind = MathKind::kStyle};
    node.style = name == "displaystyle"  ? MathStyle::kDisplay
                 : name == "textstyle"   ? MathStyle::kText
                 : name == "scriptstyle" ? MathStyle::kScript
                                         : MathStyle::kScriptScript;
    node.children.push_back(row());
    return node;
  }

  MathNode classed(string_view name) {
    MathNode node = row_of({});
    node.children.push_back(argument());
    node.math_class = name == "mathop"    ? MathClass::kOperator
                      : name == "mathbin" ? MathClass::kBinary
                      : name == "mathrel" ? MathClass::kRelation
                                          : MathClass::kOrdinary;
    node.limits = name == "mathop";
    return node;
  }

  MathNode blank(string_view name) {
    static const std::map<string_view, float> kWidths = {
        {",", 1 / 6.f}, {":", 2 / 9.f}, {">", 2 / 9.f}, {";", 5 / 18.f},   {"!", -1 / 6.f},       {" ", 0.3f},
        {"\n", 0.3f},   {"quad", 1},    {"qquad", 2},   {"enspace", 0.5f}, {"thinspace", 1 / 6.f}};
    return space(kWidths.at(name));
  }

  MathNode boxed(string_view) { return node_around(MathKind::kBox, {}, argument()); }
  MathNode itself(string_view) { return argument(); }

  MathNode tag(string_view) { return row_of({space(2), words(U"(" + decode_text(raw_group()) + U")")}); }
  MathNode label(string_view) { return raw_group(), row_of({}); }
  MathNode nothing(string_view) { return row_of({}); }

  MathNode substack(string_view) {
    skip_blanks();
    if (peek() != '{') throw Unreadable();
    ++at_;
    MathNode table = cells({});
    if (peek() != '}') throw Unreadable();
    ++at_;
    table.look = MatrixLook::kSmall;
    table.columns = "c";
    return table;
  }

  MathNode environment(string_view) {
    const std::string name = raw_group();
    const MathEnvironment* known = math_environment(name);
    if (!known) return unknown_environment(name);
    std::string columns(known->columns);
    std::vector<size_t> bars;
    if (name.starts_with("alignat") || name == "alignedat") raw_group();
    if (name == "array") columns = array_columns(bars);
    const bool in_brackets = std::exchange(in_brackets_, false);
    MathNode table = cells(name);
    in_brackets_ = in_brackets;
    table.look = known->look;
    table.columns = columns;
    table.bars = std::move(bars);
    if (columns == "rl" || columns == "rcl") begin_with_atoms(table);
    if (!known->left && !known->right) return table;
    return fenced(known->left, known->right, std::move(table));
  }

  MathNode unknown_environment(const std::string& name) {
    std::vector<MathNode> parts;
    parts.push_back(unknown(decode_text("\\begin{" + name + "}")));
    MathNode table = cells(name);
    table.columns = "c";
    parts.push_back(std::move(table));
    parts.push_back(unknown(decode_text("\\end{" + name + "}")));
    return row_of(std::move(parts));
  }

  std::string array_columns(std::vector<size_t>& bars) {
    std::string columns;
    for (char c : raw_group()) {
      if (c == '|') {
        bars.push_back(columns.size());
      } else if (c == 'l' || c == 'c' || c == 'r') {
        columns += c;
      } else if (!is_blank(c)) {
        throw Unreadable();
      }
    }
    return columns.empty() ? "c" : columns;
  }

  // So that a relation at a column's begin has its space.
  static void begin_with_atoms(MathNode& table) {
    for (size_t i = 0; i < table.children.size(); ++i) {
      auto& cell = table.children[i].children;
      if (i % table.n_columns != 0) cell.insert(cell.begin(), row_of({}));
    }
  }

  // Up to "\end{name}", or to where a row ends for other reasons if there is no name.
  MathNode cells(const std::string& name) {
    MathNode table{.kind = MathKind::kTable};
    std::vector<std::vector<MathNode>> rows(1);
    while (true) {
      skip_blanks();
      while (skip_command("hline")) table.lines.push_back(rows.size() - 1), skip_blanks();
      rows.back().push_back(row());
      if (peek() == '&') {
        ++at_;
      } else if (skip_command("\\") || skip_command("cr")) {
        skip_row_gap();
        rows.emplace_back();
      } else {
        break;
      }
    }
    if (!name.empty() && (!skip_command("end") || raw_group() != name)) throw Unreadable();
    const bool last_is_empty = rows.size() > 1 && rows.back().size() == 1 && rows.back()[0].children.empty();
    if (last_is_empty) rows.pop_back();
    for (const auto& cells : rows) table.n_columns = std::max(table.n_columns, cells.size());
    for (auto& cells : rows) {
      cells.resize(table.n_columns);
      std::move(cells.begin(), cells.end(), std::back_inserter(table.children));
    }
    return table;
  }

  // "\\[2pt]", "\\*".
  void skip_row_gap() {
    if (peek() == '*') ++at_;
    const size_t close = peek() == '[' ? text_.find(']', at_) : string_view::npos;
    const bool is_length = close < at_ + 10 && text_.substr(at_, close - at_).find_first_of("0123456789") == 1;
    if (is_length) at_ = close + 1;
  }

  int depth_ = 0;
  size_t n_known_ = 0;        // letters, digits and commands
  bool in_brackets_ = false;  // a "]" ends the row
  MathAlphabet alphabet_ = MathAlphabet::kItalic;
};

const std::map<string_view, Parser::Command>& Parser::commands() {
  using P = Parser;
  // clang-format off
  static const std::map<string_view, Command> kCommands = {
      {"frac", &P::fraction}, {"dfrac", &P::fraction}, {"tfrac", &P::fraction}, {"cfrac", &P::fraction},
      {"binom", &P::fraction}, {"dbinom", &P::fraction}, {"tbinom", &P::fraction}, {"sqrt", &P::root},
      {"left", &P::fence}, {"middle", &P::middle}, {"begin", &P::environment}, {"substack", &P::substack},
      {"text", &P::text}, {"textbf", &P::text}, {"textit", &P::text}, {"textrm", &P::text}, {"texttt", &P::text},
      {"textsf", &P::text}, {"textnormal", &P::text}, {"emph", &P::text}, {"mbox", &P::text}, {"hbox", &P::text},
      {"operatorname", &P::operator_name}, {"bmod", &P::modulus}, {"pmod", &P::modulus},
      {"mod", &P::modulus}, {"not", &P::negation}, {"overset", &P::stacked}, {"underset", &P::stacked},
      {"stackrel", &P::stacked}, {"xrightarrow", &P::long_arrow}, {"xleftarrow", &P::long_arrow},
      {"xRightarrow", &P::long_arrow}, {"xLeftarrow", &P::long_arrow}, {"xleftrightarrow", &P::long_arrow},
      {"xLeftrightarrow", &P::long_arrow}, {"xmapsto", &P::long_arrow}, {"xrightleftharpoons", &P::long_arrow}, {"displaystyle", &P::style}, {"textstyle", &P::style},
      {"scriptstyle", &P::style}, {"scriptscriptstyle", &P::style}, {"mathop", &P::classed}, {"mathbin", &P::classed},
      {"mathrel", &P::classed}, {"mathord", &P::classed}, {",", &P::blank}, {":", &P::blank}, {">", &P::blank},
      {";", &P::blank}, {"!", &P::blank}, {" ", &P::blank}, {"\n", &P::blank}, {"quad", &P::blank},
      {"qquad", &P::blank}, {"enspace", &P::blank}, {"thinspace", &P::blank}, {"boxed", &P::boxed},
      {"fbox", &P::boxed}, {"tag", &P::tag}, {"label", &P::label}, {"nonumber", &P::nothing}, {"notag", &P::nothing},
      {"big", &P::sized_delimiter}, {"Big", &P::sized_delimiter}, {"bigg", &P::sized_delimiter},
      {"Bigg", &P::sized_delimiter}, {"bigl", &P::sized_delimiter}, {"Bigl", &P::sized_delimiter},
      {"biggl", &P::sized_delimiter}, {"Biggl", &P::sized_delimiter}, {"bigr", &P::sized_delimiter},
      {"Bigr", &P::sized_delimiter}, {"biggr", &P::sized_delimiter}, {"Biggr", &P::sized_delimiter},
      {"bigm", &P::sized_delimiter}, {"Bigm", &P::sized_delimiter}, {"biggm", &P::sized_delimiter},
      {"Biggm", &P::sized_delimiter},
      {"color", &P::coloured}, {"textcolor", &P::coloured}, {"colorbox", &P::colour_box},
      {"fcolorbox", &P::colour_box}, {"cancel", &P::cancel}, {"bcancel", &P::cancel}, {"xcancel", &P::cancel},
      {"sout", &P::cancel}, {"phantom", &P::phantom}, {"hphantom", &P::phantom}, {"vphantom", &P::phantom},
      {"hspace", &P::length}, {"vspace", &P::length}, {"hskip", &P::length}, {"mskip", &P::length},
      {"kern", &P::length}, {"mkern", &P::length}, {"rm", &P::switched}, {"bf", &P::switched}, {"it", &P::switched},
      {"sf", &P::switched}, {"tt", &P::switched}, {"cal", &P::switched}, {"ce", &P::chemistry},
      {"prescript", &P::prescript}, {"SI", &P::quantity}, {"si", &P::quantity}, {"qty", &P::quantity},
      {"unit", &P::quantity}, {"num", &P::quantity}, {"ang", &P::quantity}, {"smash", &P::itself},
      {"mathstrut", &P::nothing}, {"strut", &P::nothing}, {"mathrlap", &P::itself}, {"mathllap", &P::itself},
      {"mathclap", &P::itself}, {"ensuremath", &P::itself},
  };
  // clang-format on
  return kCommands;
}

const std::map<string_view, MathAlphabet>& Parser::alphabets() {
  static const std::map<string_view, MathAlphabet> kAlphabets = {
      {"mathrm", MathAlphabet::kUpright},        {"mathbf", MathAlphabet::kBold},
      {"boldsymbol", MathAlphabet::kBoldItalic}, {"bm", MathAlphabet::kBoldItalic},
      {"mathbb", MathAlphabet::kBlackboard},     {"mathcal", MathAlphabet::kScript},
      {"mathscr", MathAlphabet::kScript},        {"mathfrak", MathAlphabet::kFraktur},
      {"mathsf", MathAlphabet::kSans},           {"mathtt", MathAlphabet::kMono},
      {"mathit", MathAlphabet::kItalic},         {"mathnormal", MathAlphabet::kItalic}};
  return kAlphabets;
}

}  // namespace

std::optional<MathNode> parse_tex(string_view source) {
  if (source.size() > kLongestSource) return std::nullopt;
  try {
    Parser parser(source);
    MathNode tree = parser.whole();
    if (tree.children.empty() || !parser.knows_something()) return std::nullopt;
    return tree;
  } catch (const Unreadable&) {
    return std::nullopt;
  }
}

string_view formula_inside(string_view marked) {
  if (display_begin(marked) > 0) return marked;
  static constexpr std::pair<string_view, string_view> kMarks[] = {
      {"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};
  for (const auto& [open, close] : kMarks) {
    if (!marked.starts_with(open)) continue;
    if (marked.size() <= 2 * open.size() || !marked.ends_with(close)) return {};
    return marked.substr(open.size(), marked.size() - 2 * open.size());
  }
  return {};
}

namespace {

constexpr size_t kLongestName = 20;  // of environments that stand alone

// The length of `mark` and "{align}" behind it.
size_t display_mark(string_view text, string_view mark) {
  if (!text.starts_with(mark)) return 0;
  const string_view name = text.substr(mark.size(), kLongestName);
  const size_t close = name.find('}');
  const MathEnvironment* known = close == string_view::npos ? nullptr : math_environment(name.substr(0, close));
  return known && known->stands_alone ? mark.size() + close + 1 : 0;
}

}  // namespace

size_t display_begin(string_view text) { return display_mark(text, "\\begin{"); }

DisplayMark next_display_end(string_view text, size_t from) {
  static constexpr string_view kEnd = "\\end{";
  for (size_t at = text.find(kEnd, from); at != string_view::npos; at = text.find(kEnd, at + kEnd.size())) {
    if (const size_t bytes = display_mark(text.substr(at), kEnd)) return {at, bytes};
  }
  return {};
}

}  // namespace warpchat
