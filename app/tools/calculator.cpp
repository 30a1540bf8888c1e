// Recursive descent, one function a level of precedence: sum, product, sign, power, factorial, value.
#include "app/tools/calculator.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <optional>
#include <vector>

#include "models/ascii.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr size_t kMaxBytes = 10'000;
constexpr int kMaxDepth = 200;

struct Number {
  std::optional<int64_t> whole;  // exact
  double real = 0;               // the same, or the value
};

Number whole(int64_t value) { return {value, static_cast<double>(value)}; }

struct Function {
  const char* name;
  double (*of_one)(double);
};
constexpr Function kFunctions[] = {
    {"sqrt", std::sqrt}, {"cbrt", std::cbrt},   {"exp", std::exp},   {"ln", std::log},      {"log10", std::log10},
    {"log2", std::log2}, {"sin", std::sin},     {"cos", std::cos},   {"tan", std::tan},     {"asin", std::asin},
    {"acos", std::acos}, {"atan", std::atan},   {"sinh", std::sinh}, {"cosh", std::cosh},   {"tanh", std::tanh},
    {"abs", std::fabs},  {"floor", std::floor}, {"ceil", std::ceil}, {"round", std::round},
};

struct Spelling {
  std::string_view typed, sign;
};
constexpr Spelling kSpellings[] = {{"**", "^"}, {"\u00d7", "*"}, {"\u00b7", "*"}, {"\u00f7", "/"}, {"\u2212", "-"}};

class Calculator {
 public:
  explicit Calculator(std::string_view text) : text_(text) {}

  Number run() {
    const Number value = sum();
    if (skip_blanks(); at_ == text_.size()) return value;
    if (text_[at_] == ',') fail("a comma parts the arguments of a function alone; write numbers without separators");
    fail(is_word_character(text_[at_]) || text_[at_] == '(' ? "an operator is missing before it"
                                                            : "it is not expected");
  }
  bool is_rounded() const { return is_rounded_; }  // whole numbers were too large to stay exact

 private:
  [[noreturn]] void fail(const std::string& why) {
    skip_blanks();
    if (at_ >= text_.size()) throw Error("the expression ends too early: " + why);
    const size_t n = first_character(text_.substr(at_)).bytes;
    throw Error("cannot read '" + printable(text_.substr(at_, n)) + "' at character " + std::to_string(at_ + 1) + ": " +
                why);
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }

  bool accept(std::string_view sign) {
    skip_blanks();
    for (const Spelling& other : kSpellings) {
      if (!text_.substr(at_).starts_with(other.typed)) continue;
      if (other.sign == sign) at_ += other.typed.size();
      return other.sign == sign;
    }
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  Number checked(double value, const std::string& what) {
    if (std::isnan(value)) throw Error(what + " has no real value here");
    if (std::isinf(value)) throw Error(what + " gives a number that is too large");
    return {std::nullopt, value};
  }

  void note_rounded(const Number& left, const Number& right) {
    if (left.whole && right.whole) is_rounded_ = true;
  }

  Number sum() {
    Number left = product();
    for (;;) {
      if (accept("+"))
        left = add(left, product(), /*sign=*/1);
      else if (accept("-"))
        left = add(left, product(), /*sign=*/-1);
      else
        return left;
    }
  }

  Number add(const Number& left, const Number& right, int sign) {
    int64_t exact = 0;
    if (left.whole && right.whole &&
        !(sign > 0 ? __builtin_add_overflow(*left.whole, *right.whole, &exact)
                   : __builtin_sub_overflow(*left.whole, *right.whole, &exact)))
      return whole(exact);
    note_rounded(left, right);
    return checked(left.real + sign * right.real, "a sum");
  }

  Number product() {
    Number left = sign();
    for (;;) {
      if (accept("*"))
        left = multiply(left, sign());
      else if (accept("/"))
        left = divide(left, sign());
      else if (accept("%"))
        left = remainder(left, sign());
      else
        return left;
    }
  }

  Number multiply(const Number& left, const Number& right) {
    int64_t exact = 0;
    if (left.whole && right.whole && !__builtin_mul_overflow(*left.whole, *right.whole, &exact)) return whole(exact);
    note_rounded(left, right);
    return checked(left.real * right.real, "a product");
  }

  Number divide(const Number& left, const Number& right) {
    if (right.real == 0) throw Error("there is a division by zero");
    // -2^63 / -1 overflows.
    if (left.whole && right.whole && *left.whole != INT64_MIN && *left.whole % *right.whole == 0)
      return whole(*left.whole / *right.whole);
    return checked(left.real / right.real, "a quotient");
  }

  Number remainder(const Number& left, const Number& right) {
    if (right.real == 0) throw Error("there is a remainder of a division by zero");
    if (left.whole && right.whole) {
      if (*right.whole == -1) return whole(0);
      const int64_t rest = *left.whole % *right.whole;
      return whole(rest != 0 && (rest < 0) != (*right.whole < 0) ? rest + *right.whole : rest);
    }
    const double rest = std::fmod(left.real, right.real);
    return checked(rest != 0 && (rest < 0) != (right.real < 0) ? rest + right.real : rest, "a remainder");
  }

  Number sign() {
    const Depth depth(*this);
    if (accept("-")) return add(whole(0), sign(), -1);
    if (accept("+")) return sign();
    return power();
  }

  // Stronger than a sign at its left, and 2^3^2 is 2^(3^2).
  Number power() {
    const Number base = factorial();
    if (!accept("^")) return base;
    const Number exponent = sign();
    if (base.whole && exponent.whole && *exponent.whole >= 0)
      if (const std::optional<int64_t> exact = whole_power(*base.whole, *exponent.whole)) return whole(*exact);
    if (!exponent.whole || *exponent.whole >= 0) note_rounded(base, exponent);
    return checked(std::pow(base.real, exponent.real), "a power");
  }

  static std::optional<int64_t> whole_power(int64_t base, int64_t exponent) {
    int64_t value = 1;
    if (base == 0 || base == 1) return exponent == 0 ? 1 : base;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    for (int64_t i = 0; i < exponent; ++i)
      if (__builtin_mul_overflow(value, base, &value)) return std::nullopt;  // after at most 63 steps
    return value;
  }

  Number factorial() {
    Number value = operand();
    while (accept("!")) {
      constexpr int64_t kMax = 170;  // above, no double has it
      if (!value.whole || *value.whole < 0 || *value.whole > kMax)
        throw Error("a factorial needs a whole number from 0 to 170");
      Number result = whole(1);
      for (int64_t i = 2; i <= *value.whole; ++i) result = multiply(result, whole(i));
      value = result;
    }
    return value;
  }

  Number operand() {
    skip_blanks();
    if (accept("(")) {
      const Number value = sum();
      if (!accept(")")) fail("a closing parenthesis is missing");
      return value;
    }
    if (at_ < text_.size() && (text_[at_] == '.' || (text_[at_] >= '0' && text_[at_] <= '9'))) return number();
    if (at_ < text_.size() && is_word_character(text_[at_])) return named();
    fail("a number is missing");
  }

  Number number() {
    const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
    Number value;
    const auto read = std::from_chars(begin, end, value.real);
    if (read.ec == std::errc::result_out_of_range) fail("this number is too large or too small");
    if (read.ec != std::errc()) fail("a number is missing");
    int64_t exact = 0;
    if (const auto all = std::from_chars(begin, end, exact); all.ec == std::errc() && all.ptr == read.ptr)
      value = whole(exact);
    else if (all.ec == std::errc::result_out_of_range && all.ptr == read.ptr)
      is_rounded_ = true;
    at_ += static_cast<size_t>(read.ptr - begin);
    if (at_ < text_.size() && (is_word_character(text_[at_]) || text_[at_] == '.'))
      fail("it is no part of a number, and an operator is missing");
    return value;
  }

  Number named() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_word_character(text_[at_])) ++at_;
    const std::string name = lower_case(text_.substr(begin, at_ - begin));
    if (name == "pi") return {std::nullopt, std::numbers::pi};
    if (name == "e") return {std::nullopt, std::numbers::e};
    if (!accept("(")) {
      at_ = begin;
      fail("there is no constant '" + printable(name) + "'; there are pi and e, and functions with parentheses");
    }
    const std::vector<Number> arguments = list();
    if (name == "min" || name == "max") return smallest(arguments, name == "max");
    const auto function = std::ranges::find(kFunctions, name, &Function::name);
    if (function == std::end(kFunctions)) {
      at_ = begin;
      fail("there is no function '" + printable(name) + "'; there are " + calculator_functions());
    }
    if (arguments.size() != 1) throw Error(name + " needs one argument, not " + std::to_string(arguments.size()));
    return apply(*function, arguments[0]);
  }

  std::vector<Number> list() {
    std::vector<Number> values;
    do values.push_back(sum());
    while (accept(","));
    if (!accept(")")) fail("a closing parenthesis is missing");
    return values;
  }

  static Number smallest(const std::vector<Number>& values, bool wants_largest) {
    const auto is_less = [](const Number& a, const Number& b) {
      return a.whole && b.whole ? *a.whole < *b.whole : a.real < b.real;
    };
    return wants_largest ? *std::ranges::max_element(values, is_less) : *std::ranges::min_element(values, is_less);
  }

  Number apply(const Function& function, const Number& argument) {
    const std::string_view name = function.name;
    if (argument.whole && (name == "floor" || name == "ceil" || name == "round")) return argument;
    if (argument.whole && name == "abs") return *argument.whole < 0 ? add(whole(0), argument, -1) : argument;
    if ((name == "ln" || name.starts_with("log")) && argument.real <= 0)
      throw Error(std::string(name) + " has no real value for a number that is not positive");
    Number value = checked(function.of_one(argument.real), std::string(name));
    const bool makes_whole = name == "floor" || name == "ceil" || name == "round" || (name == "sqrt" && argument.whole);
    constexpr double kMaxExact = 9007199254740992.0;  // 2^53
    if (makes_whole && value.real == std::floor(value.real) && std::fabs(value.real) < kMaxExact) {
      const auto root = static_cast<int64_t>(value.real);
      int64_t square = 0;
      const bool is_exact =
          name != "sqrt" || (!__builtin_mul_overflow(root, root, &square) && square == *argument.whole);
      if (is_exact) value = whole(root);
    }
    return value;
  }

  struct Depth {
    explicit Depth(Calculator& of) : calculator(of) {
      if (++calculator.depth_ > kMaxDepth) throw Error("the expression is nested too deep");
    }
    ~Depth() { --calculator.depth_; }
    Calculator& calculator;
  };

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool is_rounded_ = false;
};

std::string shown(const Number& value, bool is_rounded) {
  if (value.whole) return std::to_string(*value.whole);
  constexpr double kMaxExact = 9007199254740992.0;  // 2^53: from here on doubles are whole, and rounded
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value.real, std::chars_format::general, 15);
  const std::string digits(text, end.ptr);
  return is_rounded || std::fabs(value.real) >= kMaxExact ? "about " + digits : digits == "-0" ? "0" : digits;
}

}  // namespace

std::string calculate(std::string_view expression) {
  if (trimmed(expression).empty()) throw Error("the expression is empty");
  if (expression.size() > kMaxBytes) throw Error("the expression is longer than " + grouped(kMaxBytes) + " bytes");
  Calculator calculator(expression);
  const Number value = calculator.run();
  return shown(value, calculator.is_rounded());
}

std::string calculator_functions() { return word_list(kFunctions, ", ", &Function::name) + ", min, max"; }

}  // namespace warpchat
