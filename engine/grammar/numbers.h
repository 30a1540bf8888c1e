// Numbers as JSON writes them, decided on digits: bounds and multiples of any precision as expressions over the text of
// a number. What a range allows may be written plainly (-12.50) or with an exponent behind one digit (1.25e+1).
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "engine/grammar/expressions.h"

namespace warpchat::grammar {

inline constexpr uint32_t kMaxDigits = 40;  // before the point, and behind it

struct Decimal {  // (-1)^is_negative * whole.fraction
  bool is_negative = false;
  std::string whole = "0";  // no leading zeros
  std::string fraction;     // no trailing zeros
  bool is_integer() const { return fraction.empty(); }
  bool is_zero() const { return whole == "0" && fraction.empty(); }
  std::string text() const;  // "-12.5"
  bool operator==(const Decimal&) const = default;
};

// From a valid JSON number. nullopt: its exponent is beyond 400.
std::optional<Decimal> decimal_of(std::string_view json);

// a < b: negative, a == b: 0, a > b: positive.
int compare(const Decimal& a, const Decimal& b);

class Numbers {
 public:
  explicit Numbers(Expressions& expressions);

  Expr any() const { return any_; }
  Expr integer() const { return integer_; }  // without fraction and exponent
  // Numbers but these. Each is written in one way, without exponent, so that no value of `e` has another spelling here.
  Expr all_but(Expr e) { return e_.both(canonical_, e_.complement(e)); }
  Expr exactly(const Decimal& value);
  Expr at_least(const Decimal& bound, bool is_exclusive);
  Expr at_most(const Decimal& bound, bool is_exclusive);
  // Error if the digits of the step are too many to hold. step: above 0.
  Expr multiple_of(const Decimal& step);

 private:
  struct Magnitude {  // a bound of numbers without sign
    std::string whole, fraction;
    bool is_exclusive;
  };
  Expr magnitude_at_least(const Magnitude& bound);
  Expr magnitude_at_most(const Magnitude& bound);
  Expr plain_at_least(const Magnitude& bound);
  Expr plain_at_most(const Magnitude& bound);
  Expr fraction_at_least(const Magnitude& bound);
  Expr fraction_at_most(const Magnitude& bound);
  Expr scaled(const Magnitude& bound, bool is_at_least);
  Expr exponents(int from, int to);
  Expr whole_between(int from, int to);
  Expr digits(uint32_t min, uint32_t max) { return e_.repeat(digit_, min, max); }
  Expr digit_range(int from, int to);
  Expr text(std::string_view text) { return e_.text(text); }
  Expr optional(Expr e) { return e_.either(kEmptyText, e); }

  Expressions& e_;
  Expr digit_, fraction_, whole_, minus_, any_, integer_, canonical_;
};

}  // namespace warpchat::grammar
