// A recursive descent parser. Unknown commands throw Unknown, which results in no tree.
#include "app/math/tex.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>
#include <utility>

#include "app/math/tex_symbols.h"
#include "models/ascii.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

using std::string_view;
constexpr int kDeepest = 60;             // groups within groups
constexpr size_t kLongestSource = 8000;  // bytes

struct Unknown {};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

MathNode space(float em) { return {.kind = MathKind::kSpace, .width = em}; }
MathNode symbol(char32_t c, MathClass math_class) {
  return {.kind = MathKind::kSymbol, .math_class = math_class, .text = {c}};
}
MathNode row_of(std::vector<MathNode> children) { return {.children = std::move(children)}; }
MathNode words(std::u32string text) { return {.kind = MathKind::kText, .text = std::move(text)}; }

struct Environment {
  string_view name;
  char32_t left = 0, right = 0;
  MatrixLook look = MatrixLook::kMatrix;
  string_view columns = "c";
};
constexpr Environment kEnvironments[] = {
    {"matrix"},
    {"pmatrix", '(', ')'},
    {"bmatrix", '[', ']'},
    {"Bmatrix", '{', '}'},
    {"vmatrix", '|', '|'},
    {"Vmatrix", U'‖', U'‖'},
    {"smallmatrix", 0, 0, MatrixLook::kSmall},
    {"array"},
    {"cases", '{', 0, MatrixLook::kCases, "l"},
    {"dcases", '{', 0, MatrixLook::kCases, "l"},
    {"rcases", 0, '}', MatrixLook::kCases, "l"},
    {"aligned", 0, 0, MatrixLook::kAligned, "rl"},
    {"align", 0, 0, MatrixLook::kAligned, "rl"},
    {"align*", 0, 0, MatrixLook::kAligned, "rl"},
    {"alignat", 0, 0, MatrixLook::kAligned, "rl"},
    {"split", 0, 0, MatrixLook::kAligned, "rl"},
    {"eqnarray", 0, 0, MatrixLook::kAligned, "rcl"},
    {"eqnarray*", 0, 0, MatrixLook::kAligned, "rcl"},
    {"gathered", 0, 0, MatrixLook::kAligned},
    {"gather", 0, 0, MatrixLook::kAligned},
    {"gather*", 0, 0, MatrixLook::kAligned},
    {"equation", 0, 0, MatrixLook::kAligned},
    {"equation*", 0, 0, MatrixLook::kAligned},
    {"multline", 0, 0, MatrixLook::kAligned},
    {"multline*", 0, 0, MatrixLook::kAligned},
};

// "\not" and a relation.
constexpr std::pair<char32_t, char32_t> kNegated[] = {
    {'=', U'≠'}, {U'∈', U'∉'}, {U'⊂', U'⊄'}, {U'⊃', U'⊅'}, {U'⊆', U'⊈'}, {U'≡', U'≢'}, {U'∼', U'≁'}, {U'≈', U'≉'},
    {'<', U'≮'}, {'>', U'≯'},  {U'≤', U'≰'}, {U'≥', U'≱'}, {U'∃', U'∄'}, {U'∣', U'∤'}, {U'∥', U'∦'}, {U'≅', U'≇'}};

struct Decoded {
  char32_t character;
  size_t bytes;
};

Decoded decode_character(string_view text) {
  const Utf8Step step = first_character(text);
  if (step.state != Utf8State::kValid) throw Unknown();
  return {code_point_of(text.substr(0, step.bytes)), step.bytes};
}

std::u32string decode_text(string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const auto [c, length] = decode_character(text);
    out += c;
    text.remove_prefix(length);
  }
  return out;
}

class Parser {
 public:
  explicit Parser(string_view source) : text_(source) {}

  // All of it; several lines or columns are aligned as in "aligned".
  MathNode whole() {
    MathNode table = cells({});
    if (at_ != text_.size()) throw Unknown();
    if (table.children.size() == 1) return std::move(table.children[0]);
    table.look = MatrixLook::kAligned;
    table.columns = table.n_columns > 1 ? "rl" : "c";
    begin_with_atoms(table);
    return row_of({std::move(table)});
  }

 private:
  using Command = MathNode (Parser::*)(string_view);
  static const std::map<string_view, Command>& commands();
  static const std::map<string_view, MathAlphabet>& alphabets();

  bool at_end() const { return at_ >= text_.size(); }
  char peek(size_t n = 0) const { return at_ + n < text_.size() ? text_[at_ + n] : '\0'; }
  void skip_blanks() {
    while (is_blank(peek())) ++at_;
  }
  // The name of the command that begins here, "" if none does; at_ stays.
  string_view command_name() const {
    if (peek() != '\\' || at_ + 1 >= text_.size()) return "";
    size_t end = at_ + 1;
    while (end < text_.size() && is_letter(text_[end])) ++end;
    return text_.substr(at_ + 1, std::max<size_t>(1, end - at_ - 1));
  }
  bool take_command(string_view name) {
    if (command_name() != name) return false;
    at_ += 1 + name.size();
    return true;
  }
  bool ends_row() const {
    if (at_end() || peek() == '}' || peek() == '&' || (peek() == ']' && in_brackets_)) return true;
    const string_view name = command_name();
    return name == "\\" || name == "right" || name == "end" || name == "cr";
  }

  MathNode row() {
    if (++depth_ > kDeepest) throw Unknown();
    std::vector<MathNode> children;
    for (skip_blanks(); !ends_row(); skip_blanks()) children.push_back(item());
    --depth_;
    return row_of(std::move(children));
  }

  MathNode group() {
    if (peek() != '{') throw Unknown();
    ++at_;
    const bool in_brackets = std::exchange(in_brackets_, false);
    MathNode inside = row();
    in_brackets_ = in_brackets;
    if (peek() != '}') throw Unknown();
    ++at_;
    return inside;
  }

  MathNode argument() {
    skip_blanks();
    if (at_end() || (ends_row() && peek() != '{')) throw Unknown();
    return peek() == '{' ? group() : nucleus();
  }

  MathNode optional_argument() {
    skip_blanks();
    if (peek() != '[') return row_of({});
    ++at_;
    const bool in_brackets = std::exchange(in_brackets_, true);
    MathNode inside = row();
    in_brackets_ = in_brackets;
    if (peek() != ']') throw Unknown();
    ++at_;
    return inside;
  }

  // The source between braces.
  std::string raw_group() {
    skip_blanks();
    if (peek() != '{') throw Unknown();
    std::string out;
    int depth = 0;
    for (; !at_end(); ++at_) {
      const char c = peek();
      if (c == '\\') {
        static constexpr string_view kTaken = " %&$#_{},;";
        if (kTaken.find(peek(1)) == string_view::npos || peek(1) == '\0') throw Unknown();
        ++at_;
        out += peek() == ',' || peek() == ';' ? ' ' : peek();
      } else if (c == '$') {
        throw Unknown();
      } else if (c == '{') {
        if (depth++ > 0) throw Unknown();
      } else if (c == '}') {
        ++at_;
        return out;
      } else {
        out += c == '\n' || c == '~' ? ' ' : c;
      }
    }
    throw Unknown();
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
        if (!script.children.empty()) throw Unknown();
        MathNode inside = argument();
        script = row_of({});
        script.children.push_back(std::move(inside));
      } else if (take_command("limits")) {
        base.always_limits = true;
      } else if (take_command("nolimits")) {
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
      if (++depth_ > kDeepest) throw Unknown();
      MathNode node = command();
      --depth_;
      return node;
    }
    if (c == '~') return ++at_, space(0.3f);
    if (c == '%' || c == '#' || c == '$' || c == '^' || c == '_' || static_cast<unsigned char>(c) < ' ')
      throw Unknown();
    return character();
  }

  MathNode character() {
    const auto [c, length] = decode_character(text_.substr(at_));
    at_ += length;
    const MathSymbol known = math_character(c);
    return symbol(in_alphabet(known.character, alphabet_), known.math_class);
  }

  MathNode command() {
    const string_view name = command_name();
    if (name.empty()) throw Unknown();
    at_ += 1 + name.size();
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
    throw Unknown();
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
    MathNode node{.kind = MathKind::kFraction, .math_class = MathClass::kInner};
    node.rule = !name.ends_with("binom");
    if (name[0] == 'd' || name[0] == 'c') node.style = MathStyle::kDisplay;
    if (name[0] == 't') node.style = MathStyle::kText;
    node.children.push_back(argument());
    node.children.push_back(argument());
    return node.rule ? std::move(node) : fenced('(', ')', std::move(node));
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

  char32_t delimiter() {
    skip_blanks();
    const string_view name = command_name();
    if (name.empty()) {
      const char c = peek();
      static constexpr string_view kKnown = "()[]|/.<>";
      if (c == '\0' || kKnown.find(c) == string_view::npos) throw Unknown();
      ++at_;
      return c == '.' ? 0 : c == '<' ? U'⟨' : c == '>' ? U'⟩' : static_cast<char32_t>(c);
    }
    const MathSymbol* known = math_symbol(name);
    static constexpr std::u32string_view kKnown = U"{}‖|⟨⟩⌈⌉⌊⌋[]↑↓↕⇑⇓\\";
    if (!known || kKnown.find(known->character) == std::u32string_view::npos) throw Unknown();
    at_ += 1 + name.size();
    return known->character;
  }

  MathNode fence(string_view) {
    const char32_t left = delimiter();
    const bool in_brackets = std::exchange(in_brackets_, false);
    MathNode inside = row();
    in_brackets_ = in_brackets;
    if (!take_command("right")) throw Unknown();
    return fenced(left, delimiter(), std::move(inside));
  }

  MathNode middle(string_view) {
    const char32_t mark = delimiter();
    if (mark == 0) throw Unknown();
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

  MathNode text(string_view name) {
    std::u32string out;
    for (const char32_t c : decode_text(raw_group()))
      out += in_alphabet(c, name == "textbf"   ? MathAlphabet::kBold
                            : name == "texttt" ? MathAlphabet::kMono
                            : name == "textit" ? MathAlphabet::kItalic
                                               : MathAlphabet::kUpright);
    return words(std::move(out));
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

  MathNode negated(string_view) {
    MathNode node = argument();
    for (const auto& [plain, negative] : kNegated) {
      if (node.kind == MathKind::kSymbol && node.text == std::u32string(1, plain)) {
        node.text = {negative};
        return node;
      }
    }
    throw Unknown();
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
    MathNode below = optional_argument(), above = argument();
    MathNode arrow = symbol(name == "xrightarrow" ? U'→' : name == "xleftarrow" ? U'←' : U'⇒', MathClass::kRelation);
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

  MathNode boxed(string_view) {
    MathNode node{.kind = MathKind::kBox};
    node.children.push_back(argument());
    return node;
  }

  MathNode tag(string_view) { return row_of({space(2), words(U"(" + decode_text(raw_group()) + U")")}); }
  MathNode label(string_view) { return raw_group(), row_of({}); }
  MathNode nothing(string_view) { return row_of({}); }

  MathNode substack(string_view) {
    skip_blanks();
    if (peek() != '{') throw Unknown();
    ++at_;
    MathNode table = cells({});
    if (peek() != '}') throw Unknown();
    ++at_;
    table.look = MatrixLook::kSmall;
    table.columns = "c";
    return table;
  }

  MathNode environment(string_view) {
    const std::string name = raw_group();
    const auto* known = std::find_if(std::begin(kEnvironments), std::end(kEnvironments),
                                     [&](const Environment& e) { return e.name == name; });
    if (known == std::end(kEnvironments)) throw Unknown();
    std::string columns(known->columns);
    std::vector<size_t> bars;
    if (name == "alignat") raw_group();
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

  std::string array_columns(std::vector<size_t>& bars) {
    std::string columns;
    for (char c : raw_group()) {
      if (c == '|') {
        bars.push_back(columns.size());
      } else if (c == 'l' || c == 'c' || c == 'r') {
        columns += c;
      } else if (!is_blank(c)) {
        throw Unknown();
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
      while (take_command("hline")) table.lines.push_back(rows.size() - 1), skip_blanks();
      rows.back().push_back(row());
      if (peek() == '&') {
        ++at_;
      } else if (take_command("\\") || take_command("cr")) {
        skip_row_gap();
        rows.emplace_back();
      } else {
        break;
      }
    }
    if (!name.empty() && (!take_command("end") || raw_group() != name)) throw Unknown();
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

  string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
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
      {"mbox", &P::text}, {"operatorname", &P::operator_name}, {"bmod", &P::modulus}, {"pmod", &P::modulus},
      {"mod", &P::modulus}, {"not", &P::negated}, {"overset", &P::stacked}, {"underset", &P::stacked},
      {"stackrel", &P::stacked}, {"xrightarrow", &P::long_arrow}, {"xleftarrow", &P::long_arrow},
      {"xRightarrow", &P::long_arrow}, {"displaystyle", &P::style}, {"textstyle", &P::style},
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
    MathNode tree = Parser(source).whole();
    if (tree.children.empty()) return std::nullopt;
    return tree;
  } catch (const Unknown&) {
    return std::nullopt;
  }
}

string_view formula_inside(string_view marked) {
  static constexpr std::pair<string_view, string_view> kMarks[] = {
      {"$$", "$$"}, {"$", "$"}, {"\\(", "\\)"}, {"\\[", "\\]"}};
  for (const auto& [open, close] : kMarks) {
    if (!marked.starts_with(open)) continue;
    if (marked.size() <= 2 * open.size() || !marked.ends_with(close)) return {};
    return marked.substr(open.size(), marked.size() - 2 * open.size());
  }
  return {};
}

}  // namespace warpchat
