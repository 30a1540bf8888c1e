// The states of CallParser within a call and next to one.
#include <algorithm>
#include <array>

#include "engine/calls/call_parser.h"
#include "engine/calls/call_reader.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

using calls::has_tags;
using calls::is_letter_or_digit;
using calls::is_mistral;
using calls::JsonShape;
using calls::XmlShape;

constexpr size_t kMaxNameBytes = 256;  // without a bracket or a quote at its end
constexpr std::string_view kPythonCall = ".call";

}  // namespace

// What is before the call is given out, without blanks at its end.
void CallParser::begin(Pieces& pieces) {
  if (m_.has_begun) return;
  give_text(m_.from, /*keeps_blanks=*/false, pieces);
  pieces.push_back({.kind = CallPiece::Kind::kBegin});
  m_.has_begun = true;
}

void CallParser::begin_json(Pieces& pieces) {
  begin(pieces);
  m_.state = State::kJson;
  m_.body = m_.at;
  m_.json = JsonShape();
  if (has_tags(format_)) m_.format = CallFormat::kHermes;
  if (m_.is_list || is_mistral(format_)) m_.format = CallFormat::kMistralJson;
}

void CallParser::begin_bare() {
  open(m_.at, /*is_certain=*/true);
  m_.state = State::kBare;
  m_.body = m_.at;
  m_.json = JsonShape();
}

// At the last byte of <function=.
void CallParser::begin_xml(Pieces& pieces) {
  begin(pieces);
  m_.format = CallFormat::kXml;
  m_.state = State::kXml;
  m_.mark = kNoMark;
  m_.body = m_.at + 1;
  m_.xml = XmlShape(m_.body);
}

// Behind the name of a call whose arguments alone are JSON. end: of the marker behind the name.
void CallParser::begin_arguments(size_t name_end, size_t end, Pieces& pieces) {
  if (!m_.name.is_known()) m_.name.to = name_end;
  m_.state = State::kMistralArgs;
  m_.format = CallFormat::kMistralArgs;
  m_.body = m_.mark = kNoMark;
  m_.json = JsonShape();
  give_name(known_name(), end, /*can_be_held=*/true, pieces);
}

// mark: where a marker may begin that ends the call.
bool CallParser::begin_broken(size_t mark, Pieces& pieces) {
  begin(pieces);
  m_.broken = m_.state;
  m_.state = State::kBroken;
  m_.mark = mark;
  return false;
}

// What follows the marker decides how the call is written.
bool CallParser::open_step(Pieces& pieces) {
  const char c = text_[m_.at];
  if (is_blank(c)) return true;
  if (c == '{') {
    begin_json(pieces);
    return false;
  }
  if (m_.is_list && c == ']') {  // an empty one
    give_text(m_.from, /*keeps_blanks=*/false, pieces);
    m_.state = State::kAfter;
    m_.is_list = false;
    m_.given = m_.floor = m_.code_to = m_.at + 1;
    return true;
  }
  if (c == '[' && !m_.is_list) {
    m_.is_list = true;
    return true;
  }
  if (c == '<' && has_tags(format_) && !m_.is_list) {
    m_.state = State::kFunctionTag;
    m_.mark = m_.at;
    return true;
  }
  if (!m_.is_certain) return back_to_text(m_.from);
  begin(pieces);
  if (!m_.is_list && is_mistral(format_)) {
    m_.state = State::kMistralName;
    m_.name = {m_.at, 0};
    return false;
  }
  m_.body = m_.at;
  if (m_.is_list || format_ != CallFormat::kLlama) return begin_broken(kNoMark, pieces);
  m_.state = State::kPython;
  m_.n_brackets = 0;
  m_.quote = 0;
  return false;
}

bool CallParser::function_tag_step(Pieces& pieces) {
  const std::string_view read = text_between(m_.mark, m_.at + 1);
  if (read == calls::kFunctionOpen) {
    begin_xml(pieces);
    return true;
  }
  if (read == calls::kCallOpen) {  // some models write it twice
    open(m_.from, m_.is_certain);
    return true;
  }
  if (calls::kFunctionOpen.starts_with(read) || calls::kCallOpen.starts_with(read)) return true;
  m_.body = m_.mark;
  return m_.is_certain ? begin_broken(m_.mark, pieces) : back_to_text(m_.from);
}

bool CallParser::json_step(Pieces& pieces) {
  const bool has_name_before = m_.state == State::kMistralArgs;
  if (m_.body == kNoMark) {
    const char c = text_[m_.at];
    if (is_blank(c)) return true;
    m_.body = m_.at;
    if (c != '{') return begin_broken(kNoMark, pieces);
  }
  switch (m_.json.step(text_, m_.at)) {
    case JsonShape::Step::kName:
      if (!has_name_before) give_name(known_name(), m_.at + 1, !m_.json.has_arguments(), pieces);
      return true;
    case JsonShape::Step::kEnds:
      end_call(m_.at + 1, m_.at + 1, "", pieces);
      return true;
    case JsonShape::Step::kBreaks:
      return begin_broken(kNoMark, pieces);
    default:
      return true;
  }
}

// Without a marker, JSON is a call if it has nothing but what calls have, and names a tool. Only where it is the whole
// answer, another name beside arguments makes it a call as well.
bool CallParser::bare_step(Pieces& pieces) {
  constexpr std::array kKeys = {std::string_view("\"name\""), std::string_view("\"parameters\""),
                                std::string_view("\"arguments\""), std::string_view("\"type\""),
                                std::string_view("\"id\"")};
  const JsonShape::Step step = m_.json.step(text_, m_.at);
  if (step == JsonShape::Step::kBreaks || step == JsonShape::Step::kEnds) return back_to_text(m_.from);
  const bool is_key = step == JsonShape::Step::kKey || m_.json.is_in_key();
  const std::string_view key = m_.json.string().of(text_);
  if (is_key && std::ranges::none_of(kKeys, [&](std::string_view known) { return known.starts_with(key); }))
    return back_to_text(m_.from);
  if ((step != JsonShape::Step::kName && step != JsonShape::Step::kKey) || !m_.json.name().is_known()) return true;
  const std::string name = calls::text_of_json_string(m_.json.name().of(text_)).value_or("");
  const bool is_known = is_tool(name), has_arguments = m_.json.has_arguments();
  if (!is_known) {
    const std::string_view before = text_between(m_.given, m_.from);
    if (m_.has_text || !std::ranges::all_of(before, is_blank)) return back_to_text(m_.from);
    if (!has_arguments) return true;
  }
  begin(pieces);
  m_.state = State::kJson;
  give_name(name, m_.at + 1, is_known && !has_arguments, pieces);
  return true;
}

bool CallParser::xml_step(Pieces& pieces) {
  const size_t end = m_.at + 1;
  switch (m_.xml.step(text_, m_.at)) {
    case XmlShape::Step::kName:
      give_name(known_name(), end, /*can_be_held=*/true, pieces);
      return true;
    case XmlShape::Step::kEnds:
    case XmlShape::Step::kLastEnds:
    case XmlShape::Step::kBreaksAndEnds:
      if (text_between(m_.body, end).ends_with(calls::kCallClose)) m_.is_open = false;
      end_call(end, end, "", pieces);
      return true;
    case XmlShape::Step::kBreaks:
      return begin_broken(m_.xml.tag_from(), pieces);
    default:
      return true;
  }
}

bool CallParser::mistral_step(Pieces& pieces) {
  const char c = text_[m_.at];
  if (m_.state == State::kMistralTag) {
    const std::string_view read = text_between(m_.mark, m_.at + 1);
    if (read == calls::kArgsMark) {
      begin_arguments(m_.mark, m_.at + 1, pieces);
      return true;
    }
    if (read == calls::kCallIdMark) {
      if (!m_.name.is_known()) m_.name.to = m_.mark;
      m_.id = {m_.at + 1, 0};
      m_.state = State::kMistralId;
      return true;
    }
    if (calls::kArgsMark.starts_with(read) || calls::kCallIdMark.starts_with(read)) return true;
    return begin_broken(m_.mark, pieces);
  }
  const bool is_name = m_.state == State::kMistralName;
  if (c == '{' || c == '[') {
    if (!is_name) m_.id.to = m_.at;
    if (c == '{') {
      begin_arguments(m_.at, m_.at, pieces);
      return false;
    }
    m_.mark = m_.at;
    m_.state = State::kMistralTag;
    return true;
  }
  const bool can_be = is_name ? c != '\n' && m_.at - m_.name.from < kMaxNameBytes : is_letter_or_digit(c);
  return can_be || begin_broken(kNoMark, pieces);
}

// name.call(key="value"), up to its last bracket.
bool CallParser::python_step(Pieces& pieces) {
  const char c = text_[m_.at];
  if (m_.n_brackets == 0) {
    const std::string_view name = text_between(m_.body, m_.at);
    if (c == '(' && name.ends_with(kPythonCall) && name.size() > kPythonCall.size()) {
      m_.n_brackets = 1;
      m_.name = {m_.body, m_.at - kPythonCall.size()};
      give_name(known_name(), m_.at, /*can_be_held=*/false, pieces);
      return true;
    }
    return (calls::is_of_python_name(c) && name.size() < kMaxNameBytes) || begin_broken(kNoMark, pieces);
  }
  if (m_.quote != 0) {
    if (m_.is_escaped)
      m_.is_escaped = false;
    else if (c == '\\')
      m_.is_escaped = true;
    else if (c == m_.quote)
      m_.quote = 0;
  } else if (c == '"' || c == '\'') {
    m_.quote = c;
  } else if (c == '(' || c == '[' || c == '{') {
    ++m_.n_brackets;
  } else if ((c == ')' || c == ']' || c == '}') && --m_.n_brackets == 0) {
    end_call(m_.at + 1, m_.at + 1, "", pieces);
  }
  return true;
}

bool CallParser::broken_step(Pieces& pieces) {
  const Match match = follow_mark();
  if (match == Match::kCloser) {
    if (text_between(m_.mark, m_.at + 1) == calls::kCallClose) m_.is_open = false;
    end_call(m_.mark, m_.at + 1, "", pieces);
  } else if (match == Match::kOpener) {
    const size_t from = m_.mark;
    end_call(from, from, "", pieces);
    m_.mark = from;
    return on_opener(pieces);
  }
  return true;
}

bool CallParser::after_step(Pieces& pieces) {
  const char c = text_[m_.at];
  const size_t begun = m_.mark;
  switch (follow_mark()) {
    case Match::kBeginning:
      if (begun == kNoMark || m_.mark == begun) return true;
      return back_to_text(begun);  // it is looked at again, as text
    case Match::kOpener:
      return on_opener(pieces);
    case Match::kCloser:
      m_.is_open = m_.is_open && text_between(m_.mark, m_.at + 1) != calls::kCallClose;
      m_.mark = kNoMark;
      m_.given = m_.at + 1;
      return true;
    case Match::kNone:
      if (begun != kNoMark) return back_to_text(begun);
      break;
  }
  const bool is_in_tags = m_.is_open && has_tags(format_);
  if (c == '{' && format_ == CallFormat::kLlama && !m_.is_list) {
    begin_bare();
    return false;
  }
  if (c == '{' && (m_.is_list || is_in_tags)) {
    const bool is_list = m_.is_list;
    open(m_.at, /*is_certain=*/true);
    m_.is_list = is_list;
    begin_json(pieces);
    return false;
  }
  const bool is_between = is_blank(c) || (c == ',' && (m_.is_list || is_in_tags)) || (c == ']' && m_.is_list) ||
                          (c == '}' && is_in_tags) || (c == ';' && format_ == CallFormat::kLlama);
  if (!is_between) return back_to_text(m_.at);
  if (c == ']') m_.is_list = false;
  m_.given = m_.at + 1;
  return true;
}

}  // namespace warpchat
