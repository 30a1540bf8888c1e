// "%s of %d" % values.
#include <algorithm>
#include <cmath>
#include <optional>

#include "models/chat_template/arguments.h"
#include "models/chat_template/format_spec.h"
#include "models/chat_template/python_text.h"
#include "models/chat_template/string_format.h"
#include "models/chat_template/unicode.h"

namespace warpchat::jinja {
namespace {

class PrintfFormatter {
 public:
  PrintfFormatter(const Text& format, const Value& values) : format_(format), text_(format.bytes) {
    const List* list = values.list();
    if (list && list->form == List::Form::kTuple) {
      queue_ = list->items;
    } else {
      queue_ = {values};
    }
    // Unless the value is a mapping or list, every value must be used.
    mapping_ = values.dict();
    may_be_left_ = mapping_ || values.undefined() || (list && list->form != List::Form::kTuple);
  }

  TracedText run() {
    TracedText out;
    while (at_ < text_.size()) {
      const size_t percent = std::min(text_.find('%', at_), text_.size());
      out.append(format_, at_, percent);
      at_ = percent + 1;
      if (percent < text_.size()) out.append(conversion());
      if (out.bytes.size() > kMaxTextBytes) throw Fault("a formatted text is longer than 64 MiB");
    }
    if (next_ < queue_.size() && !may_be_left_) throw Fault("a string has fewer % conversions than values");
    return out;
  }

 private:
  char next_char() {
    if (at_ >= text_.size()) throw Fault("a string ends within a % conversion");
    return text_[at_++];
  }

  Value next_value() {
    if (named_) return *std::exchange(named_, std::nullopt);
    if (next_ >= queue_.size()) throw Fault("a string has more % conversions than values");
    return queue_[next_++];
  }

  void read_name() {
    const size_t end = text_.find(')', at_);
    if (end == std::string::npos) throw Fault("a name after % lacks its closing parenthesis");
    const Value key = literal_text(text_.substr(at_, end - at_));
    at_ = end + 1;
    const Value* found = mapping_ ? mapping_->find(key) : nullptr;
    if (!found) throw Fault("nothing is given for %(" + key.text()->bytes + ")");
    named_ = *found;
  }

  int64_t read_number() {
    if (at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      return to_integer(next_value(), "a width");
    }
    int64_t n = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      n = n * 10 + (text_[at_++] - '0');
      if (n > kMaxWidth) throw Fault("a width is too large");
    }
    return n;
  }

  FormatSpec read_spec() {
    FormatSpec spec;
    bool zeros = false;
    for (; at_ < text_.size() && std::string_view("-+ 0#").find(text_[at_]) != std::string_view::npos; ++at_) {
      const char flag = text_[at_];
      if (flag == '-') spec.align = '<';
      if (flag == '+' || (flag == ' ' && spec.sign == '-')) spec.sign = flag;
      if (flag == '#') spec.alternate = true;
      zeros |= flag == '0';
    }
    spec.width = read_number();
    if (spec.width < 0) spec.align = '<', spec.width = -spec.width;
    if (spec.width > kMaxWidth) throw Fault("a width is too large");
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      spec.precision = std::clamp<int64_t>(read_number(), 0, kMaxWidth);
    }
    while (at_ < text_.size() && std::string_view("hlL").find(text_[at_]) != std::string_view::npos) ++at_;
    spec.conversion = next_char();
    if (zeros && !spec.align && spec.conversion != 's' && spec.conversion != 'r' && spec.conversion != 'c') {
      spec.align = '=';
      spec.fill = "0";
    }
    return spec;
  }

  TracedText conversion() {
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      read_name();
    }
    const FormatSpec spec = read_spec();
    if (spec.conversion == '%') return format_.cut(at_ - 1, at_);
    return convert(next_value(), spec);
  }

  TracedText convert(const Value& v, const FormatSpec& spec) const {
    switch (spec.conversion) {
      case 's':
        return format_text(format_.markup ? str_as_markup(v) : str(v), spec, '>');
      case 'r':
        return format_text(format_.markup ? escape_html(repr(v)) : repr(v), spec, '>');
      case 'c':
        return format_text(character(v), spec, '>');
      case 'd':
      case 'i':
      case 'u':
        return own_text(format_integer(v.real() ? truncate_real(*v.real()) : to_integer(v, "the value of %d"), spec));
      case 'x':
      case 'X':
      case 'o':
        return own_text(format_integer(to_integer(v, "the value of %x"), spec));
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return own_text(format_real(to_real(v), spec));
      default:
        throw Fault(std::string("the conversion %") + spec.conversion + " is not supported");
    }
  }

  // A character made from a number counts as content, since the number may come from content.
  static TracedText character(const Value& v) {
    if (v.text() && count_code_points(v.text()->bytes) == 1) return *v.text();
    const int64_t c = to_integer(v, "the value of %c");
    if (c < 0 || c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) throw Fault("the value of %c is no character");
    return text_for(encode(std::u32string(1, static_cast<char32_t>(c))), true);
  }

  static int64_t truncate_real(double x) {
    if (!(std::fabs(x) < 9.2e18)) throw Fault("the value of %d is beyond 64 bits");
    return static_cast<int64_t>(x);
  }

  const Text& format_;
  const std::string& text_;  // bytes of format_
  std::vector<Value> queue_;
  Dict* mapping_ = nullptr;
  bool may_be_left_ = false;
  size_t next_ = 0, at_ = 0;
  std::optional<Value> named_;
};

}  // namespace

Value format_printf(Heap& heap, const Text& format, const Value& values) {
  return heap.text(PrintfFormatter(format, values).run(), format.markup);
}

}  // namespace warpchat::jinja
