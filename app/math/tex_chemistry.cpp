// One pass from left to right. What a digit or a sign means depends on whether it stands directly behind an atom.
#include "app/math/tex_chemistry.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/math/tex_scan.h"

namespace warpchat {

namespace {

using std::string_view;

struct Arrow {
  string_view source, plain, stretched;
};
// Longer ones first.
constexpr Arrow kArrows[] = {{"<=>>", "\\rightleftharpoons", "\\xrightleftharpoons"},
                             {"<<=>", "\\rightleftharpoons", "\\xrightleftharpoons"},
                             {"<=>", "\\rightleftharpoons", "\\xrightleftharpoons"},
                             {"<->", "\\longleftrightarrow", "\\xleftrightarrow"},
                             {"->", "\\longrightarrow", "\\xrightarrow"},
                             {"<-", "\\longleftarrow", "\\xleftarrow"}};

class Chemistry {
 public:
  explicit Chemistry(string_view source) : scan_(source) {}

  std::string run() {
    while (!scan_.at_end()) step();
    return std::move(out_);
  }

 private:
  void step() {
    const char c = scan_.peek();
    const bool behind_blank = std::exchange(after_blank_, false);
    if (is_blank(c)) {
      scan_.skip_blanks();
      // Signs and arrows bring their own room.
      const bool is_apart = after_atom_ && !scan_.at_end() && !arrow_here() &&
                            string_view("+-=*.").find(scan_.peek()) == string_view::npos;
      if (is_apart) out_ += "\\ ";
      after_atom_ = false, after_blank_ = true;
    } else if (const auto* arrow = arrow_here()) {
      add_arrow(*arrow);
    } else if (behind_blank && is_lone()) {
      add_lone(c);
    } else if (is_digit(c)) {
      add_number();
    } else if (c == '^' || c == '_') {
      add_script();
    } else if (c == '+' || c == '-') {
      add_sign(c, behind_blank);
    } else if (c == '=' || c == '#') {
      scan_.skip(1);
      out_ += c == '#' ? "{\\equiv}" : behind_blank ? "=" : "{=}";
    } else if (c == '*' || c == '.') {
      scan_.skip(1);
      out_ += "\\cdot ";
      after_atom_ = false;
    } else if (c == '\\') {
      out_ += scan_.command();
      after_atom_ = true;
    } else if (c == '{') {
      out_ += "{\\mathrm" + std::string(scan_.group()) + "}";
      after_atom_ = true;
    } else if (c == '$') {
      add_formula();
    } else {
      add_letters();
    }
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '~'; }
  static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  }
  bool is_state() const {  // of matter: "(aq)"
    const string_view rest = scan_.rest();
    return rest.starts_with("(aq)") || rest.starts_with("(s)") || rest.starts_with("(l)") || rest.starts_with("(g)");
  }
  static bool ends(char c) { return c == '\0' || is_blank(c) || string_view(")]}+,;").find(c) != string_view::npos; }

  const Arrow* arrow_here() const {
    const auto* arrow = std::find_if(std::begin(kArrows), std::end(kArrows),
                                     [&](const Arrow& a) { return scan_.rest().starts_with(a.source); });
    return arrow == std::end(kArrows) ? nullptr : arrow;
  }

  void add_arrow(const Arrow& arrow) {
    scan_.skip(arrow.source.size());
    const string_view above = scan_.option(), below = scan_.option();
    const auto condition = [](string_view source) {
      return source.empty() ? std::string() : "\\ce{" + std::string(source) + "}";
    };
    if (above.empty() && below.empty()) {
      out_ += std::string(arrow.plain) + " ";
    } else {
      out_ += std::string(arrow.stretched) + (below.empty() ? "" : "[{" + condition(below) + "}]") + "{" +
              condition(above) + "}";
    }
    after_atom_ = false;
  }

  // Gas and precipitate: "^" and "v" by themselves.
  bool is_lone() const { return (scan_.peek() == '^' || scan_.peek() == 'v') && ends(scan_.peek(1)); }
  void add_lone(char c) {
    scan_.skip(1);
    out_ += c == 'v' ? "\\downarrow " : "\\uparrow ";
  }

  // How many of an atom, or of a molecule.
  void add_number() {
    const std::string number(scan_.run("0123456789"));
    if (after_atom_) {
      out_ += "_{" + number + "}";
      return;
    }
    if (scan_.peek() == '/' && is_digit(scan_.peek(1))) {
      scan_.skip(1);
      out_ += "\\tfrac{" + number + "}{" + std::string(scan_.run("0123456789")) + "}";
    } else {
      out_ += number;
      if (scan_.peek() == '.' && is_digit(scan_.peek(1))) out_ += scan_.run("0123456789.");
    }
    out_ += "\\mkern2mu ";
  }

  // "^{2-}", "^2-", "_4"; before an atom its mass and number.
  void add_script() {
    const char mark = scan_.peek();
    scan_.skip(1);
    if (!after_atom_ && !after_script_) out_ += "{}";
    std::string script(scan_.peek() == '{' ? scan_.group() : scan_.run("0123456789+-"));
    if (script.empty()) script = scan_.letters();
    if (!script.starts_with('{')) script = "{" + script + "}";
    out_ += mark + ("{\\mathrm" + script + "}");
    after_script_ = !after_atom_;
  }

  // A charge, a bond or what it says.
  void add_sign(char c, bool behind_blank) {
    scan_.skip(1);
    const bool is_charge = after_atom_ && !behind_blank && (ends(scan_.peek()) || is_state());
    if (is_charge) {
      out_ += "^{" + std::string(1, c) + "}";
    } else {
      out_ += after_atom_ && c == '-' ? std::string("{-}") : std::string(1, c);
      after_atom_ = false;
    }
  }

  void add_formula() {
    const size_t close = scan_.rest().find('$', 1);
    if (close == string_view::npos) return scan_.skip(1);
    out_ += "{" + std::string(scan_.rest().substr(1, close - 1)) + "}";
    scan_.skip(close + 1);
    after_atom_ = true;
  }

  void add_letters() {
    after_script_ = false;
    const char c = scan_.peek();
    if (is_letter(c)) {
      out_ += "\\mathrm{" + std::string(scan_.letters()) + "}";
      after_atom_ = true;
      return;
    }
    scan_.skip(1);
    out_ += c;
    after_atom_ = c == ')' || c == ']';
  }

  TexScan scan_;
  std::string out_;
  bool after_atom_ = false, after_blank_ = true;
  bool after_script_ = false;  // of an atom that has not come yet
};

}  // namespace

std::string chemistry_as_tex(string_view source) { return Chemistry(source).run(); }

}  // namespace warpchat
