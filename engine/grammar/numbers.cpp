#include "engine/grammar/numbers.h"

#include <algorithm>
#include <numeric>

#include "models/error.h"

namespace warpchat::grammar {

namespace {

constexpr int kMaxExponent = 400;                 // of numbers in a schema
constexpr int kMinScale = -330, kMaxScale = 307;  // of numbers in a text: what a double holds
constexpr uint64_t kMaxModulus = 1'000'000'000;

// The first digit that is not 0: 0 for 1.5, 2 for 150, -3 for 0.0015. The number is not 0.
int scale_of(const std::string& whole, const std::string& fraction) {
  if (whole != "0") return static_cast<int>(whole.size()) - 1;
  return -1 - static_cast<int>(fraction.find_first_not_of('0'));
}

int compare_magnitudes(const Decimal& a, const Decimal& b) {
  if (a.whole.size() != b.whole.size()) return a.whole.size() < b.whole.size() ? -1 : 1;
  if (const int order = a.whole.compare(b.whole); order != 0) return order;
  return a.fraction.compare(b.fraction);  // a shorter one is smaller: the rest is not 0
}

}  // namespace

std::string Decimal::text() const {
  return (is_negative ? "-" : "") + whole + (fraction.empty() ? "" : "." + fraction);
}

std::optional<Decimal> decimal_of(std::string_view json) {
  Decimal value;
  value.is_negative = json.starts_with('-');
  if (value.is_negative) json.remove_prefix(1);
  const size_t mantissa_end = std::min(json.find_first_of("eE"), json.size());
  int exponent = 0;
  if (mantissa_end < json.size()) {
    const std::string_view digits = json.substr(mantissa_end + 1);
    const size_t from = digits.find_first_of("0123456789");
    const size_t nonzero = std::min(digits.find_first_not_of('0', from), digits.size());
    if (digits.size() - nonzero > 3) return std::nullopt;
    for (size_t i = nonzero; i < digits.size(); ++i) exponent = exponent * 10 + (digits[i] - '0');
    if (exponent > kMaxExponent) return std::nullopt;
    if (digits.starts_with('-')) exponent = -exponent;
  }
  const std::string_view mantissa = json.substr(0, mantissa_end);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  std::string digits(mantissa.substr(0, point));
  int n_whole = static_cast<int>(digits.size()) + exponent;
  if (point < mantissa.size()) digits += mantissa.substr(point + 1);
  if (n_whole < 0) {
    digits.insert(0, static_cast<size_t>(-n_whole), '0');
    n_whole = 0;
  }
  if (static_cast<size_t>(n_whole) > digits.size()) digits.resize(static_cast<size_t>(n_whole), '0');
  value.whole = digits.substr(0, static_cast<size_t>(n_whole));
  value.fraction = digits.substr(static_cast<size_t>(n_whole));
  value.whole.erase(0, value.whole.find_first_not_of('0'));
  if (value.whole.empty()) value.whole = "0";
  value.fraction.erase(value.fraction.find_last_not_of('0') + 1);
  if (value.is_zero()) value.is_negative = false;
  return value;
}

int compare(const Decimal& a, const Decimal& b) {
  if (a.is_negative != b.is_negative) return a.is_negative ? -1 : 1;
  const int order = compare_magnitudes(a, b);
  return a.is_negative ? -order : order;
}

Numbers::Numbers(Expressions& expressions)
    : e_(expressions),
      digit_(digit_range(0, 9)),
      fraction_(e_.concat(text("."), digits(1, kMaxDigits))),
      whole_(e_.either(text("0"), e_.concat(digit_range(1, 9), digits(0, kMaxDigits - 1)))),
      minus_(text("-")) {
  integer_ = e_.concat(optional(minus_), whole_);
  const Expr short_whole = e_.either(text("0"), e_.concat(digit_range(1, 9), digits(0, 15)));
  const Expr with_exponent =
      e_.either(e_.concat({short_whole, optional(fraction_), exponents(kMinScale, kMaxScale - 16)}),
                e_.concat({digit_range(1, 9), optional(fraction_), exponents(kMaxScale - 15, kMaxScale)}));
  // The last ones below 1.797e308.
  const Expr largest = e_.concat({text("1"), optional(e_.concat({text("."), digit_range(0, 6), digits(0, kMaxDigits)})),
                                  exponents(kMaxScale + 1, kMaxScale + 1)});
  any_ = e_.concat(optional(minus_), e_.any_of({e_.concat(whole_, optional(fraction_)), with_exponent, largest}));
  const Expr fraction = e_.concat({text("."), digits(0, kMaxDigits - 1), digit_range(1, 9)});
  // At most 16 digits: so a reader with doubles, too, tells them from whole numbers.
  const Expr not_whole = e_.both(e_.concat(whole_, fraction), e_.repeat(e_.bytes(ByteSet::all()), 0, 17));
  const Expr positive = e_.either(whole_, not_whole);
  const Expr negative = e_.both(e_.concat(minus_, positive), e_.complement(text("-0")));
  canonical_ = e_.either(negative, positive);
}

Expr Numbers::digit_range(int from, int to) {
  return from > to ? kNothing : e_.bytes(ByteSet::range('0' + from, '0' + to));
}

Expr Numbers::exactly(const Decimal& value) {
  Expr e = text(value.text());
  if (value.is_zero()) return e;
  // As programs print very large and very small numbers: 1e+20, 1.5e-07.
  const int scale = scale_of(value.whole, value.fraction);
  if (scale > -4 && scale < 16) return e;
  std::string all = value.whole + value.fraction;
  all.erase(0, all.find_first_not_of('0'));
  all.erase(all.find_last_not_of('0') + 1);
  const std::string mantissa = all.substr(0, 1) + (all.size() > 1 ? "." + all.substr(1) : "");
  return e_.either(e, e_.concat({value.is_negative ? minus_ : kEmptyText, text(mantissa), exponents(scale, scale)}));
}

Expr Numbers::at_least(const Decimal& bound, bool is_exclusive) {
  const Magnitude magnitude{bound.whole, bound.fraction, is_exclusive};
  if (bound.is_negative || bound.is_zero()) {
    const Expr below = e_.concat(minus_, magnitude_at_most(magnitude));
    return bound.is_negative ? e_.either(magnitude_at_least({"0", "", false}), below)
                             : e_.either(magnitude_at_least(magnitude), below);
  }
  return magnitude_at_least(magnitude);
}

Expr Numbers::at_most(const Decimal& bound, bool is_exclusive) {
  const Magnitude magnitude{bound.whole, bound.fraction, is_exclusive};
  if (bound.is_negative) return e_.concat(minus_, magnitude_at_least(magnitude));
  const Expr negative = e_.concat(minus_, magnitude_at_least({"0", "", bound.is_zero() && is_exclusive}));
  return e_.either(negative, magnitude_at_most(magnitude));
}

Expr Numbers::magnitude_at_least(const Magnitude& bound) {
  return e_.either(plain_at_least(bound), scaled(bound, true));
}

Expr Numbers::magnitude_at_most(const Magnitude& bound) {
  return e_.either(plain_at_most(bound), scaled(bound, false));
}

Expr Numbers::plain_at_least(const Magnitude& bound) {
  const std::string& whole = bound.whole;
  const auto n = static_cast<uint32_t>(whole.size());
  std::vector<Expr> parts;
  if (n < kMaxDigits) parts.push_back(e_.concat({digit_range(1, 9), digits(n, kMaxDigits - 1), optional(fraction_)}));
  for (uint32_t i = 0; i < n; ++i)
    parts.push_back(e_.concat({text(whole.substr(0, i)), digit_range(whole[i] - '0' + 1, 9),
                               digits(n - i - 1, n - i - 1), optional(fraction_)}));
  parts.push_back(e_.concat(text(whole), fraction_at_least(bound)));
  return e_.both(e_.any_of(std::move(parts)), e_.concat(whole_, optional(fraction_)));
}

Expr Numbers::fraction_at_least(const Magnitude& bound) {
  const std::string& fraction = bound.fraction;
  if (fraction.empty() && !bound.is_exclusive) return optional(fraction_);
  std::vector<Expr> parts;
  for (size_t i = 0; i < fraction.size(); ++i)
    parts.push_back(
        e_.concat({text("." + fraction.substr(0, i)), digit_range(fraction[i] - '0' + 1, 9), digits(0, kMaxDigits)}));
  const Expr rest = bound.is_exclusive ? e_.concat({digits(0, kMaxDigits), digit_range(1, 9), digits(0, kMaxDigits)})
                                       : digits(0, kMaxDigits);
  parts.push_back(e_.concat(text("." + fraction), rest));
  return e_.any_of(std::move(parts));
}

Expr Numbers::plain_at_most(const Magnitude& bound) {
  const std::string& whole = bound.whole;
  const auto n = static_cast<uint32_t>(whole.size());
  std::vector<Expr> parts;
  if (n > 1) {
    const Expr shorter = e_.either(text("0"), e_.concat(digit_range(1, 9), digits(0, n - 2)));
    parts.push_back(e_.concat(shorter, optional(fraction_)));
  }
  for (uint32_t i = 0; i < n; ++i)
    parts.push_back(e_.concat({text(whole.substr(0, i)), digit_range(i == 0 && n > 1 ? 1 : 0, whole[i] - '0' - 1),
                               digits(n - i - 1, n - i - 1), optional(fraction_)}));
  parts.push_back(e_.concat(text(whole), fraction_at_most(bound)));
  return e_.both(e_.any_of(std::move(parts)), e_.concat(whole_, optional(fraction_)));
}

Expr Numbers::fraction_at_most(const Magnitude& bound) {
  const std::string& fraction = bound.fraction;
  std::vector<Expr> parts;
  if (!fraction.empty() || !bound.is_exclusive) parts.push_back(kEmptyText);
  for (size_t i = 0; i < fraction.size(); ++i) {
    const std::string prefix = "." + fraction.substr(0, i);
    parts.push_back(e_.concat({text(prefix), digit_range(0, fraction[i] - '0' - 1), digits(0, kMaxDigits)}));
    // A beginning of the bound's digits is smaller than the bound, unless only zeros follow there, which were dropped.
    if (i > 0) parts.push_back(text(prefix));
  }
  if (!bound.is_exclusive) {
    const Expr zeros = e_.repeat(text("0"), fraction.empty() ? 1 : 0, kMaxDigits);
    parts.push_back(e_.concat(text("." + fraction), zeros));
  }
  return e_.any_of(std::move(parts));
}

// Numbers with one digit other than 0 before the point, and an exponent.
Expr Numbers::scaled(const Magnitude& bound, bool is_at_least) {
  const Expr mantissa = e_.concat(digit_range(1, 9), optional(fraction_));
  if (bound.whole == "0" && bound.fraction.empty())
    return is_at_least ? e_.concat(mantissa, exponents(kMinScale, kMaxScale)) : kNothing;
  const int scale = scale_of(bound.whole, bound.fraction);
  std::string all = bound.whole + bound.fraction;
  all.erase(0, all.find_first_not_of('0'));
  all.erase(all.find_last_not_of('0') + 1);
  const Magnitude first{all.substr(0, 1), all.substr(1), bound.is_exclusive};
  const Expr in_scale = e_.both(is_at_least ? plain_at_least(first) : plain_at_most(first), mantissa);
  const Expr beyond = is_at_least ? exponents(scale + 1, kMaxScale) : exponents(kMinScale, scale - 1);
  return e_.either(e_.concat(in_scale, exponents(scale, scale)), e_.concat(mantissa, beyond));
}

// Whole numbers of up to three digits, with leading zeros.
Expr Numbers::whole_between(int from, int to) {
  std::vector<Expr> parts;
  for (int i = std::max(from, 0); i <= to; ++i) {
    const std::string number = std::to_string(i);
    parts.push_back(e_.concat(e_.repeat(text("0"), 0, static_cast<uint32_t>(3 - number.size())), text(number)));
  }
  return e_.any_of(std::move(parts));
}

Expr Numbers::exponents(int from, int to) {
  const Expr positive = from > to ? kNothing : e_.concat(optional(text("+")), whole_between(from, to));
  const Expr negative = from > to ? kNothing : e_.concat(minus_, whole_between(-to, -from));
  return e_.concat(e_.bytes([] {
    ByteSet set;
    set.insert('e');
    set.insert('E');
    return set;
  }()),
                   e_.either(positive, negative));
}

Expr Numbers::multiple_of(const Decimal& step) {
  const std::string all = step.whole + step.fraction;
  uint64_t modulus = 0;
  for (char c : all) {
    modulus = modulus * 10 + static_cast<uint64_t>(c - '0');
    if (modulus > kMaxModulus) throw Error("a step of more than 9 digits");
  }
  const auto n_fraction = static_cast<uint32_t>(step.fraction.size());
  std::vector<Expr> parts;
  uint64_t power = 1;  // 10^(n_fraction - n)
  for (uint32_t n = n_fraction + 1; n-- > 0; power *= 10) {
    const Expr layout = n == 0 ? whole_ : e_.concat({whole_, text("."), digits(n, n)});
    const auto part = static_cast<uint32_t>(modulus / std::gcd(modulus, power));
    const Expr exact = part == 1 ? layout : e_.both(layout, e_.multiple(part, 0));
    const uint32_t n_zeros = n == n_fraction ? kMaxDigits - n : 0;
    const Expr zeros =
        n == 0 ? optional(e_.concat(text("."), e_.repeat(text("0"), 1, kMaxDigits))) : e_.repeat(text("0"), 0, n_zeros);
    parts.push_back(e_.concat(exact, n_zeros == 0 ? kEmptyText : zeros));
  }
  return e_.concat(optional(minus_), e_.any_of(std::move(parts)));
}

}  // namespace warpchat::grammar
