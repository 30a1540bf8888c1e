// The limits are checked on the text, before a value exists.
#include "engine/untrusted_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <vector>

#include "engine/json_reader.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr uint64_t kMaxNamePairs = 500'000'000;  // about a second

// Follows brackets, commas and colons outside strings: all that decides over depth and number of values. Of a text that
// is not JSON it may find a limit exceeded before the parser finds the fault.
class ShapeCheck {
 public:
  // searches_names: the parser compares each new name with all earlier ones of its object.
  ShapeCheck(std::string_view text, const JsonLimits& limits, bool searches_names)
      : text_(text), limits_(limits), searches_names_(searches_names) {}

  void run() {
    if (text_.size() > limits_.bytes) fail("its JSON is longer than " + grouped(limits_.bytes) + " bytes");
    for (; at_ < text_.size(); ++at_) look(text_[at_]);
  }

 private:
  void look(char c) {
    if (c == '"') return skip_string();
    if (c == '[' || c == '{') {
      if (members_.size() >= limits_.depth)
        fail("its JSON is nested deeper than " + std::to_string(limits_.depth) + " levels");
      members_.push_back(0);
      count_value();
    } else if (c == ']' || c == '}') {
      if (!members_.empty()) members_.pop_back();
    } else if (c == ',') {
      count_value();
    } else if (c == ':' && searches_names_ && !members_.empty()) {
      n_name_pairs_ += members_.back()++;
      if (n_name_pairs_ > kMaxNamePairs) fail("its JSON has an object with too many members");
    }
  }

  void skip_string() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\') ++at_;
  }

  void count_value() {
    if (++n_values_ > limits_.values) fail("its JSON has more than " + grouped(limits_.values) + " values");
  }

  [[noreturn]] void fail(const std::string& sentence) const { throw JsonError(sentence, at_, false); }

  std::string_view text_;
  const JsonLimits& limits_;
  const bool searches_names_;
  size_t at_ = 0, n_values_ = 0;
  uint64_t n_name_pairs_ = 0;
  std::vector<uint64_t> members_;  // names so far, per open array or object
};

}  // namespace

template <class Json>
Json parse_untrusted_json(std::string_view text, const JsonLimits& limits) {
  ShapeCheck(text, limits, std::is_same_v<Json, nlohmann::ordered_json>).run();
  try {
    return Json::parse(text);
  } catch (const typename Json::parse_error& error) {
    const size_t byte = error.byte > 0 ? error.byte - 1 : 0;
    throw JsonError("it is not valid JSON (byte " + grouped(byte) + ")", byte, true);
  } catch (const typename Json::exception&) {  // its text may hold a number of any length
    throw JsonError("a number in its JSON is out of range", 0, false);
  }
}

template <class Json>
Json try_parse_untrusted_json(std::string_view text, const JsonLimits& limits) try {
  return parse_untrusted_json<Json>(text, limits);
} catch (const JsonError&) {
  return Json(Json::value_t::discarded);
}

void read_untrusted_json(std::string_view text, const JsonLimits& limits, nlohmann::json_sax<nlohmann::json>& reader) {
  ShapeCheck(text, limits, /*searches_names=*/false).run();
  if (!nlohmann::json::sax_parse(text, &reader)) throw JsonError("it is not valid JSON", 0, true);
}

template nlohmann::json parse_untrusted_json(std::string_view, const JsonLimits&);
template nlohmann::json try_parse_untrusted_json(std::string_view, const JsonLimits&);
template nlohmann::ordered_json parse_untrusted_json(std::string_view, const JsonLimits&);
template nlohmann::ordered_json try_parse_untrusted_json(std::string_view, const JsonLimits&);

}  // namespace warpchat
