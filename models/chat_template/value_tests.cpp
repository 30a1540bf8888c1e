// Tests of jinja2: `value is odd`, `value is in list`.
#include "models/chat_template/filters.h"
#include "models/chat_template/operators.h"
#include "models/chat_template/python_text.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

// A test without parameters, from a predicate.
template <bool (*question)(const Value&)>
bool plain(Heap&, const Value& v, const Arguments& arguments) {
  bind_nothing("this test", arguments);
  return question(v);
}

// A test with one parameter.
template <bool (*question)(Heap&, const Value&, const Value&)>
bool compared(Heap& heap, const Value& v, const Arguments& arguments) {
  if (arguments.positional.size() != 1 || !arguments.named.empty()) throw Fault("this test takes one argument");
  return question(heap, v, arguments.positional[0]);
}

bool is_undefined(const Value& v) { return v.undefined() != nullptr; }
bool is_defined(const Value& v) { return !v.undefined(); }
bool is_none(const Value& v) { return v.is_none(); }
bool is_boolean(const Value& v) { return v.boolean() != nullptr; }
bool is_the_true(const Value& v) { return v.boolean() && *v.boolean(); }
bool is_the_false(const Value& v) { return v.boolean() && !*v.boolean(); }
bool is_integer(const Value& v) { return v.integer() != nullptr; }
bool is_float(const Value& v) { return v.real() != nullptr; }
bool is_string(const Value& v) { return v.text() != nullptr; }
bool is_mapping(const Value& v) { return v.dict() != nullptr; }
bool is_escaped(const Value& v) { return v.text() && v.text()->markup; }
bool is_filter(const Value& v) { return v.text() && find_filter(v.text()->bytes); }
bool is_test(const Value& v) { return v.text() && find_test(v.text()->bytes); }

// Has a length and subscripts, like strings and dicts.
bool is_sequence(const Value& v) { return v.undefined() || v.text() || v.dict() || (v.list() && !v.list()->is_view()); }

template <bool (*is_case)(char32_t), bool (*is_other_case)(char32_t)>
bool is_all_cased(const Value& v) {
  bool has_case = false;
  for (const char32_t c : decode(str(v).bytes)) {
    if (is_other_case(c)) return false;
    has_case |= is_case(c);
  }
  return has_case;
}

bool leaves(Heap& heap, const Value& v, const Value& divisor, int64_t rest) {
  return equal(modulo(heap, v, divisor), Value(rest));
}
bool odd(Heap& heap, const Value& v, const Arguments& arguments) {
  bind_nothing("odd", arguments);
  return leaves(heap, v, Value(2), 1);
}
bool even(Heap& heap, const Value& v, const Arguments& arguments) {
  bind_nothing("even", arguments);
  return leaves(heap, v, Value(2), 0);
}

bool divisible(Heap& heap, const Value& a, const Value& b) { return leaves(heap, a, b, 0); }
bool same(Heap&, const Value& a, const Value& b) { return identical(a, b); }
bool in(Heap& heap, const Value& a, const Value& b) { return contains(heap, b, a); }
bool eq(Heap&, const Value& a, const Value& b) { return equal(a, b); }
bool ne(Heap&, const Value& a, const Value& b) { return !equal(a, b); }
bool lt(Heap&, const Value& a, const Value& b) { return less(a, b); }
bool gt(Heap&, const Value& a, const Value& b) { return less(b, a); }
bool le(Heap&, const Value& a, const Value& b) { return less(a, b) || equal(a, b); }
bool ge(Heap&, const Value& a, const Value& b) { return less(b, a) || equal(a, b); }

struct ValueTest {
  std::string_view name;
  Test test;
};

constexpr ValueTest kTests[] = {
    {"!=", compared<ne>},
    {"<", compared<lt>},
    {"<=", compared<le>},
    {"==", compared<eq>},
    {">", compared<gt>},
    {">=", compared<ge>},
    {"boolean", plain<is_boolean>},
    {"callable", plain<is_callable>},
    {"defined", plain<is_defined>},
    {"divisibleby", compared<divisible>},
    {"eq", compared<eq>},
    {"equalto", compared<eq>},
    {"escaped", plain<is_escaped>},
    {"even", even},
    {"false", plain<is_the_false>},
    {"filter", plain<is_filter>},
    {"float", plain<is_float>},
    {"ge", compared<ge>},
    {"greaterthan", compared<gt>},
    {"gt", compared<gt>},
    {"in", compared<in>},
    {"integer", plain<is_integer>},
    {"iterable", plain<is_iterable>},
    {"le", compared<le>},
    {"lessthan", compared<lt>},
    {"lower", plain<is_all_cased<is_lower, is_upper>>},
    {"lt", compared<lt>},
    {"mapping", plain<is_mapping>},
    {"ne", compared<ne>},
    {"none", plain<is_none>},
    {"number", plain<is_number>},
    {"odd", odd},
    {"sameas", compared<same>},
    {"sequence", plain<is_sequence>},
    {"string", plain<is_string>},
    {"test", plain<is_test>},
    {"true", plain<is_the_true>},
    {"undefined", plain<is_undefined>},
    {"upper", plain<is_all_cased<is_upper, is_lower>>},
};

}  // namespace

Test find_test(std::string_view name) {
  for (const ValueTest& row : kTests) {
    if (row.name == name) return row.test;
  }
  return nullptr;
}

}  // namespace warpchat::jinja
