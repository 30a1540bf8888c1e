#include "app/math/tex_symbols.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "models/ascii.h"

namespace warpchat {

namespace {

using enum MathClass;

// clang-format off
constexpr MathSymbol kSymbols[] = {
    // Greek
    {"alpha", U'α'}, {"beta", U'β'}, {"gamma", U'γ'}, {"delta", U'δ'}, {"epsilon", U'ϵ'}, {"varepsilon", U'ε'},
    {"zeta", U'ζ'}, {"eta", U'η'}, {"theta", U'θ'}, {"vartheta", U'ϑ'}, {"iota", U'ι'}, {"kappa", U'κ'},
    {"lambda", U'λ'}, {"mu", U'μ'}, {"nu", U'ν'}, {"xi", U'ξ'}, {"omicron", U'ο'}, {"pi", U'π'}, {"varpi", U'ϖ'},
    {"rho", U'ρ'}, {"varrho", U'ϱ'}, {"sigma", U'σ'}, {"varsigma", U'ς'}, {"tau", U'τ'}, {"upsilon", U'υ'},
    {"phi", U'ϕ'}, {"varphi", U'φ'}, {"chi", U'χ'}, {"psi", U'ψ'}, {"omega", U'ω'}, {"Gamma", U'Γ'}, {"Delta", U'Δ'},
    {"Theta", U'Θ'}, {"Lambda", U'Λ'}, {"Xi", U'Ξ'}, {"Pi", U'Π'}, {"Sigma", U'Σ'}, {"Upsilon", U'Υ'}, {"Phi", U'Φ'},
    {"Psi", U'Ψ'}, {"Omega", U'Ω'},
    // large operators
    {"sum", U'∑', kOperator, true, true}, {"prod", U'∏', kOperator, true, true},
    {"coprod", U'∐', kOperator, true, true}, {"bigcup", U'⋃', kOperator, true, true},
    {"bigcap", U'⋂', kOperator, true, true}, {"bigvee", U'⋁', kOperator, true, true},
    {"bigwedge", U'⋀', kOperator, true, true}, {"bigoplus", U'⨁', kOperator, true, true},
    {"bigotimes", U'⨂', kOperator, true, true}, {"bigodot", U'⨀', kOperator, true, true},
    {"bigsqcup", U'⨆', kOperator, true, true}, {"biguplus", U'⨄', kOperator, true, true},
    {"int", U'∫', kOperator, true}, {"iint", U'∬', kOperator, true}, {"iiint", U'∭', kOperator, true},
    {"oint", U'∮', kOperator, true}, {"oiint", U'∯', kOperator, true},
    // binary operations
    {"pm", U'±', kBinary}, {"mp", U'∓', kBinary}, {"times", U'×', kBinary}, {"div", U'÷', kBinary},
    {"cdot", U'⋅', kBinary}, {"ast", U'∗', kBinary}, {"star", U'⋆', kBinary}, {"circ", U'∘', kBinary},
    {"bullet", U'∙', kBinary}, {"cap", U'∩', kBinary}, {"cup", U'∪', kBinary}, {"uplus", U'⊎', kBinary},
    {"sqcap", U'⊓', kBinary}, {"sqcup", U'⊔', kBinary}, {"vee", U'∨', kBinary}, {"lor", U'∨', kBinary},
    {"wedge", U'∧', kBinary}, {"land", U'∧', kBinary}, {"setminus", U'∖', kBinary}, {"smallsetminus", U'∖', kBinary},
    {"wr", U'≀', kBinary}, {"oplus", U'⊕', kBinary}, {"ominus", U'⊖', kBinary}, {"otimes", U'⊗', kBinary},
    {"oslash", U'⊘', kBinary}, {"odot", U'⊙', kBinary}, {"dagger", U'†', kBinary}, {"ddagger", U'‡', kBinary},
    {"amalg", U'⨿', kBinary}, {"ltimes", U'⋉', kBinary}, {"rtimes", U'⋊', kBinary}, {"diamond", U'⋄', kBinary},
    // relations
    {"le", U'≤', kRelation}, {"leq", U'≤', kRelation}, {"ge", U'≥', kRelation}, {"geq", U'≥', kRelation},
    {"leqslant", U'⩽', kRelation}, {"geqslant", U'⩾', kRelation}, {"lt", U'<', kRelation}, {"gt", U'>', kRelation},
    {"ne", U'≠', kRelation}, {"neq", U'≠', kRelation}, {"ll", U'≪', kRelation}, {"gg", U'≫', kRelation},
    {"equiv", U'≡', kRelation}, {"sim", U'∼', kRelation}, {"simeq", U'≃', kRelation}, {"approx", U'≈', kRelation},
    {"cong", U'≅', kRelation}, {"propto", U'∝', kRelation}, {"asymp", U'≍', kRelation}, {"doteq", U'≐', kRelation},
    {"coloneqq", U'≔', kRelation}, {"triangleq", U'≜', kRelation}, {"in", U'∈', kRelation},
    {"notin", U'∉', kRelation}, {"ni", U'∋', kRelation}, {"subset", U'⊂', kRelation}, {"supset", U'⊃', kRelation},
    {"subseteq", U'⊆', kRelation}, {"supseteq", U'⊇', kRelation}, {"subsetneq", U'⊊', kRelation},
    {"supsetneq", U'⊋', kRelation}, {"sqsubseteq", U'⊑', kRelation}, {"sqsupseteq", U'⊒', kRelation},
    {"prec", U'≺', kRelation}, {"succ", U'≻', kRelation}, {"preceq", U'⪯', kRelation}, {"succeq", U'⪰', kRelation},
    {"mid", U'∣', kRelation}, {"nmid", U'∤', kRelation}, {"parallel", U'∥', kRelation}, {"perp", U'⟂', kRelation},
    {"vdash", U'⊢', kRelation}, {"dashv", U'⊣', kRelation}, {"models", U'⊨', kRelation}, {"vDash", U'⊨', kRelation},
    {"bowtie", U'⋈', kRelation}, {"lesssim", U'≲', kRelation}, {"gtrsim", U'≳', kRelation},
    {"nsubseteq", U'⊈', kRelation}, {"nleq", U'≰', kRelation}, {"ngeq", U'≱', kRelation},
    {"therefore", U'∴', kRelation}, {"because", U'∵', kRelation}, {"colon", U':', kPunctuation},
    // arrows
    {"to", U'→', kRelation}, {"rightarrow", U'→', kRelation}, {"gets", U'←', kRelation},
    {"leftarrow", U'←', kRelation}, {"leftrightarrow", U'↔', kRelation}, {"uparrow", U'↑', kRelation},
    {"downarrow", U'↓', kRelation}, {"updownarrow", U'↕', kRelation}, {"Rightarrow", U'⇒', kRelation},
    {"Leftarrow", U'⇐', kRelation}, {"Leftrightarrow", U'⇔', kRelation}, {"Uparrow", U'⇑', kRelation},
    {"Downarrow", U'⇓', kRelation}, {"implies", U'⟹', kRelation}, {"impliedby", U'⟸', kRelation},
    {"iff", U'⟺', kRelation}, {"longrightarrow", U'⟶', kRelation}, {"longleftarrow", U'⟵', kRelation},
    {"Longrightarrow", U'⟹', kRelation}, {"Longleftarrow", U'⟸', kRelation}, {"Longleftrightarrow", U'⟺', kRelation},
    {"longleftrightarrow", U'⟷', kRelation}, {"mapsto", U'↦', kRelation}, {"longmapsto", U'⟼', kRelation},
    {"hookrightarrow", U'↪', kRelation}, {"hookleftarrow", U'↩', kRelation}, {"nearrow", U'↗', kRelation},
    {"searrow", U'↘', kRelation}, {"swarrow", U'↙', kRelation}, {"nwarrow", U'↖', kRelation},
    {"rightharpoonup", U'⇀', kRelation}, {"rightleftharpoons", U'⇌', kRelation}, {"leadsto", U'⇝', kRelation},
    {"rightsquigarrow", U'⇝', kRelation}, {"nrightarrow", U'↛', kRelation},
    // letters and signs
    {"infty", U'∞'}, {"partial", U'∂'}, {"nabla", U'∇'}, {"forall", U'∀'}, {"exists", U'∃'}, {"nexists", U'∄'},
    {"neg", U'¬'}, {"lnot", U'¬'}, {"emptyset", U'∅'}, {"varnothing", U'∅'}, {"hbar", U'ℏ'}, {"ell", U'ℓ'},
    {"Re", U'ℜ'}, {"Im", U'ℑ'}, {"wp", U'℘'}, {"aleph", U'ℵ'}, {"beth", U'ℶ'}, {"imath", U'𝚤'}, {"jmath", U'𝚥'},
    {"prime", U'′'}, {"angle", U'∠'}, {"measuredangle", U'∡'}, {"triangle", U'△'}, {"square", U'□'}, {"Box", U'□'},
    {"blacksquare", U'■'}, {"top", U'⊤'}, {"bot", U'⊥'}, {"degree", U'°'}, {"checkmark", U'✓'}, {"surd", U'√'},
    {"sharp", U'♯'}, {"flat", U'♭'}, {"natural", U'♮'}, {"clubsuit", U'♣'}, {"diamondsuit", U'♢'},
    {"heartsuit", U'♡'}, {"spadesuit", U'♠'}, {"backslash", U'\\'}, {"$", U'$'}, {"%", U'%'}, {"&", U'&'},
    {"#", U'#'}, {"_", U'_'}, {"lbrace", U'{', kOpening}, {"rbrace", U'}', kClosing}, {"{", U'{', kOpening},
    {"}", U'}', kClosing}, {"|", U'‖'}, {"Vert", U'‖'}, {"vert", U'|'}, {"lvert", U'|', kOpening},
    {"rvert", U'|', kClosing}, {"lVert", U'‖', kOpening}, {"rVert", U'‖', kClosing}, {"langle", U'⟨', kOpening},
    {"rangle", U'⟩', kClosing}, {"lceil", U'⌈', kOpening}, {"rceil", U'⌉', kClosing}, {"lfloor", U'⌊', kOpening},
    {"rfloor", U'⌋', kClosing}, {"lbrack", U'[', kOpening}, {"rbrack", U']', kClosing}, {"pounds", U'£'},
    // dots
    {"ldots", U'…', kInner}, {"dots", U'…', kInner}, {"dotsc", U'…', kInner}, {"dotso", U'…', kInner},
    {"cdots", U'⋯', kInner}, {"dotsb", U'⋯', kInner}, {"dotsm", U'⋯', kInner}, {"dotsi", U'⋯', kInner},
    {"vdots", U'⋮'}, {"ddots", U'⋱', kInner},
};
// clang-format on

constexpr MathFunction kFunctions[] = {
    {"arccos"}, {"arcsin"},    {"arctan"},    {"arg"},       {"cos"},       {"cosh"},         {"cot"},
    {"coth"},   {"csc"},       {"deg"},       {"det", true}, {"dim"},       {"exp"},          {"gcd", true},
    {"hom"},    {"inf", true}, {"ker"},       {"lg"},        {"lim", true}, {"liminf", true}, {"limsup", true},
    {"ln"},     {"log"},       {"max", true}, {"min", true}, {"Pr", true},  {"sec"},          {"sin"},
    {"sinh"},   {"sup", true}, {"tan"},       {"tanh"},
};

constexpr MathAccent kAccents[] = {
    {"hat", U'\u0302'},
    {"widehat", U'\u0302', true},
    {"tilde", U'\u0303'},
    {"widetilde", U'\u0303', true},
    {"bar", U'\u0304'},
    {"vec", U'\u20D7'},
    {"dot", U'\u0307'},
    {"ddot", U'\u0308'},
    {"dddot", U'\u20DB'},
    {"check", U'\u030C'},
    {"breve", U'\u0306'},
    {"acute", U'\u0301'},
    {"grave", U'\u0300'},
    {"mathring", U'\u030A'},
    {"overline", U'\u0305', true},
    {"underline", U'\u0332', true, true},
    {"overbrace", U'\u23DE', true},
    {"underbrace", U'\u23DF', true, true},
    {"overrightarrow", U'\u20D7', true},
    {"overleftarrow", U'\u20D6', true},
};

template <class Row, size_t n>
std::vector<Row> sorted(const Row (&rows)[n]) {
  std::vector<Row> list(rows, rows + n);
  std::sort(list.begin(), list.end(), [](const Row& a, const Row& b) { return a.name < b.name; });
  return list;
}

template <class Row>
const Row* find(const std::vector<Row>& rows, std::string_view name) {
  const auto at = std::lower_bound(rows.begin(), rows.end(), name, [](const Row& a, auto b) { return a.name < b; });
  return at != rows.end() && at->name == name ? &*at : nullptr;
}

// Where an alphabet's A, a and 0 are; 0: it has none.
struct AlphabetRow {
  char32_t capital, small, digit, greek_capital, greek_small;
};
constexpr AlphabetRow kAlphabets[] = {
    {0x1D434, 0x1D44E, 0, 0, 0x1D6FC},              // italic: capital Greek letters stay upright, as in TeX
    {0, 0, 0, 0, 0},                                // upright
    {0x1D400, 0x1D41A, 0x1D7CE, 0x1D6A8, 0x1D6C2},  // bold
    {0x1D468, 0x1D482, 0x1D7CE, 0x1D71C, 0x1D736},  // bold italic
    {0x1D538, 0x1D552, 0x1D7D8, 0, 0},              // blackboard
    {0x1D49C, 0x1D4B6, 0, 0, 0},                    // script
    {0x1D504, 0x1D51E, 0, 0, 0},                    // fraktur
    {0x1D5A0, 0x1D5BA, 0x1D7E2, 0, 0},              // sans
    {0x1D670, 0x1D68A, 0x1D7F6, 0, 0},              // mono
};

// Letters that Unicode had before the alphabets: where the alphabet would have them -> where they are.
constexpr std::pair<char32_t, char32_t> kEarlier[] = {
    {0x1D455, U'ℎ'}, {0x1D49D, U'ℬ'}, {0x1D4A0, U'ℰ'}, {0x1D4A1, U'ℱ'}, {0x1D4A3, U'ℋ'}, {0x1D4A4, U'ℐ'},
    {0x1D4A7, U'ℒ'}, {0x1D4A8, U'ℳ'}, {0x1D4AD, U'ℛ'}, {0x1D4BA, U'ℯ'}, {0x1D4BC, U'ℊ'}, {0x1D4C4, U'ℴ'},
    {0x1D506, U'ℭ'}, {0x1D50B, U'ℌ'}, {0x1D50C, U'ℑ'}, {0x1D515, U'ℜ'}, {0x1D51D, U'ℨ'}, {0x1D53A, U'ℂ'},
    {0x1D53F, U'ℍ'}, {0x1D545, U'ℕ'}, {0x1D547, U'ℙ'}, {0x1D548, U'ℚ'}, {0x1D549, U'ℝ'}, {0x1D551, U'ℤ'},
};

// Greek letters' other shapes stand behind omega: of ϵ ϑ ϰ ϕ ϱ ϖ.
constexpr char32_t kGreekShapes[] = {U'ϵ', U'ϑ', U'ϰ', U'ϕ', U'ϱ', U'ϖ'};

constexpr MathEnvironment aligned(std::string_view name, bool stands_alone, std::string_view columns = "rl") {
  return {name, 0, 0, MatrixLook::kAligned, columns, stands_alone};
}

constexpr MathEnvironment kEnvironments[] = {
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
    aligned("aligned", false),
    aligned("alignedat", false),
    aligned("split", false),
    aligned("gathered", false, "c"),
    aligned("multlined", false, "c"),
    aligned("align", true),
    aligned("align*", true),
    aligned("alignat", true),
    aligned("alignat*", true),
    aligned("flalign", true),
    aligned("flalign*", true),
    aligned("eqnarray", true, "rcl"),
    aligned("eqnarray*", true, "rcl"),
    aligned("gather", true, "c"),
    aligned("gather*", true, "c"),
    aligned("equation", true, "c"),
    aligned("equation*", true, "c"),
    aligned("multline", true, "c"),
    aligned("multline*", true, "c"),
    aligned("displaymath", true, "c"),
};

constexpr std::pair<char32_t, char32_t> kNegated[] = {
    {'=', U'≠'}, {U'∈', U'∉'}, {U'⊂', U'⊄'}, {U'⊃', U'⊅'}, {U'⊆', U'⊈'}, {U'≡', U'≢'}, {U'∼', U'≁'}, {U'≈', U'≉'},
    {'<', U'≮'}, {'>', U'≯'},  {U'≤', U'≰'}, {U'≥', U'≱'}, {U'∃', U'∄'}, {U'∣', U'∤'}, {U'∥', U'∦'}, {U'≅', U'≇'}};

// Named as in LaTeX's color and xcolor packages.
constexpr std::pair<std::string_view, uint32_t> kColours[] = {
    {"black", 0x000000},   {"blue", 0x0000FF},  {"brown", 0xBF8040},  {"cyan", 0x00FFFF},  {"darkgray", 0x404040},
    {"gray", 0x808080},    {"grey", 0x808080},  {"green", 0x00B000},  {"lime", 0xBFFF00},  {"lightgray", 0xBFBFBF},
    {"magenta", 0xFF00FF}, {"olive", 0x808000}, {"orange", 0xFF8000}, {"pink", 0xFFBFBF},  {"purple", 0xBF0040},
    {"red", 0xFF0000},     {"teal", 0x008080},  {"violet", 0x800080}, {"white", 0xFFFFFF}, {"yellow", 0xFFFF00},
};

}  // namespace

const MathSymbol* math_symbol(std::string_view name) {
  static const std::vector<MathSymbol> kSorted = sorted(kSymbols);
  return find(kSorted, name);
}

const MathFunction* math_function(std::string_view name) {
  static const std::vector<MathFunction> kSorted = sorted(kFunctions);
  return find(kSorted, name);
}

const MathAccent* math_accent(std::string_view name) {
  static const std::vector<MathAccent> kSorted = sorted(kAccents);
  return find(kSorted, name);
}

const MathEnvironment* math_environment(std::string_view name) {
  static const std::vector<MathEnvironment> kSorted = sorted(kEnvironments);
  return find(kSorted, name);
}

char32_t negated(char32_t relation) {
  for (const auto& [plain, negative] : kNegated) {
    if (plain == relation) return negative;
  }
  return 0;
}

std::optional<uint32_t> math_colour(std::string_view name) {
  const std::string lower = lower_case(name);
  for (const auto& [known, colour] : kColours) {
    if (lower == known) return colour;
  }
  std::string hex = lower.starts_with('#') ? lower.substr(1) : lower;
  if (hex.size() == 3) hex = {hex[0], hex[0], hex[1], hex[1], hex[2], hex[2]};
  uint32_t colour = 0;
  const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), colour, 16);
  if (hex.size() != 6 || error != std::errc() || end != hex.data() + hex.size()) return std::nullopt;
  return colour;
}

MathSymbol math_character(char32_t c) {
  switch (c) {
    case '-':
      return {"", U'−', kBinary};
    case '*':
      return {"", U'∗', kBinary};
    case '+':
    case U'±':
    case U'×':
    case U'·':
    case U'÷':
      return {"", c, kBinary};
    case '=':
    case '<':
    case '>':
    case ':':
    case U'≤':
    case U'≥':
    case U'≠':
    case U'≈':
    case U'∈':
    case U'→':
    case U'⇒':
      return {"", c, kRelation};
    case '(':
    case '[':
      return {"", c, kOpening};
    case ')':
    case ']':
    case '!':
    case '?':
      return {"", c, kClosing};
    case ',':
    case ';':
      return {"", c, kPunctuation};
    case '\'':
      return {"", U'′'};
    default:
      return {"", c};
  }
}

char32_t in_alphabet(char32_t c, MathAlphabet alphabet) {
  const AlphabetRow& row = kAlphabets[static_cast<size_t>(alphabet)];
  char32_t out = c;
  if (c >= 'A' && c <= 'Z' && row.capital) out = row.capital + (c - 'A');
  if (c >= 'a' && c <= 'z' && row.small) out = row.small + (c - 'a');
  if (c >= '0' && c <= '9' && row.digit) out = row.digit + (c - '0');
  if (c >= U'Α' && c <= U'Ω' && row.greek_capital) out = row.greek_capital + (c - U'Α');
  if (c >= U'α' && c <= U'ω' && row.greek_small) out = row.greek_small + (c - U'α');
  if (c == U'∂' && row.greek_small) out = row.greek_small + 25;
  for (size_t i = 0; row.greek_small && i < std::size(kGreekShapes); ++i) {
    if (c == kGreekShapes[i]) out = row.greek_small + 26 + static_cast<char32_t>(i);
  }
  for (const auto& [gap, earlier] : kEarlier) {
    if (out == gap) return earlier;
  }
  return out;
}

}  // namespace warpchat
