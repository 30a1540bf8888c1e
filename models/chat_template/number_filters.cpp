// Filters with numeric results.
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "models/chat_template/filters.h"
#include "models/chat_template/numbers.h"
#include "models/chat_template/operators.h"

namespace warpchat::jinja {
namespace {

int64_t whole(double x) {
  if (!(std::fabs(x) < 9.2e18)) throw Fault("an int is beyond 64 bits");
  return static_cast<int64_t>(x);
}

// int(value), else int(float(value)), else the default.
Value filter_int(Heap&, const Value& input, const Arguments& arguments) {
  const auto given = bind("int", arguments, {{"default", 0}, {"base", 10}});
  if (input.undefined()) fail_undefined(*input.undefined());
  if (const Text* text = input.text()) {
    if (const auto number = parse_integer(text->bytes, to_integer(given[1], "int's base"))) return *number;
    const auto real = parse_real(text->bytes);
    return real && std::isfinite(*real) ? Value(whole(*real)) : given[0];
  }
  if (const double* real = input.real()) {
    if (std::isinf(*real)) throw Fault("infinity is no int");
    return std::isnan(*real) ? given[0] : Value(whole(*real));
  }
  return is_number(input) ? plus(input) : given[0];
}

Value filter_float(Heap&, const Value& input, const Arguments& arguments) {
  const auto given = bind("float", arguments, {{"default", 0.0}});
  if (input.undefined()) fail_undefined(*input.undefined());
  if (const Text* text = input.text()) {
    const auto real = parse_real(text->bytes);
    return real ? Value(*real) : given[0];
  }
  if (!is_number(input)) return given[0];
  return input.real() ? *input.real() : static_cast<double>(to_integer(input, "a number"));
}

Value filter_abs(Heap&, const Value& input, const Arguments& arguments) {
  bind_nothing("abs", arguments);
  if (input.undefined()) fail_undefined(*input.undefined());
  if (const double* real = input.real()) return std::fabs(*real);
  const int64_t number = to_integer(input, "what the filter abs takes");
  return number < 0 ? negate(Value(number)) : Value(number);
}

// Rounds to a multiple of ten to the n, ties to even, as Python's round() for int.
int64_t round_integer(int64_t number, int64_t n) {
  if (n > 18) return 0;
  int64_t unit = 1;
  for (int64_t i = 0; i < n; ++i) unit *= 10;
  const int64_t rest = number % unit, down = number - rest;
  const int64_t size = std::abs(rest), half = unit / 2;
  const bool away = size > half || (size == half && (down / unit) % 2 != 0);
  int64_t rounded = down;
  if (away && __builtin_add_overflow(down, number < 0 ? -unit : unit, &rounded))
    throw Fault("an int is beyond 64 bits");
  return rounded;
}

// Correctly rounded decimal places, with ties of the exact binary value to even, as in printf.
double round_real(double x, int64_t places) {
  if (!std::isfinite(x) || places > 322) return x;
  if (places < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-places));
    return std::isfinite(unit) ? std::nearbyint(x / unit) * unit : std::copysign(0.0, x);
  }
  char decimal[700];
  std::snprintf(decimal, sizeof decimal, "%.*f", static_cast<int>(places), x);
  return *parse_real(decimal);
}

Value filter_round(Heap&, const Value& input, const Arguments& arguments) {
  const auto given = bind("round", arguments, {{"precision", 0}, {"method", literal_text("common")}});
  const std::string& method = to_bytes(given[1], "round's method");
  const int64_t precision = to_integer(given[0], "round's precision");
  if (input.undefined()) fail_undefined(*input.undefined());
  const bool is_integer = !input.real();
  const int64_t number = is_integer ? to_integer(input, "what the filter round takes") : 0;
  if (method == "common") {
    if (!is_integer) return round_real(*input.real(), precision);
    return precision >= 0 ? number : round_integer(number, -std::max<int64_t>(precision, -100));
  }
  if (method != "ceil" && method != "floor") throw Fault("round's method must be common, ceil or floor");
  const double unit = std::pow(10.0, static_cast<double>(precision));
  const double scaled = (is_integer ? static_cast<double>(number) : *input.real()) * unit;
  if (!std::isfinite(scaled)) throw Fault("the number is too large to be rounded");
  return (method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / unit;
}

Value filter_length(Heap&, const Value& input, const Arguments& arguments) {
  bind_nothing("length", arguments);
  return length_of(input);
}

constexpr FilterRow kNumberFilters[] = {
    {"abs", filter_abs}, {"count", filter_length},  {"float", filter_float},
    {"int", filter_int}, {"length", filter_length}, {"round", filter_round},
};

}  // namespace

Filter find_number_filter(std::string_view name) { return find_in(kNumberFilters, name); }

}  // namespace warpchat::jinja
