// The whole answer is kept, and all that is known about it is offsets into it: so a snapshot is small whatever a call
// holds. Each byte is looked at a bounded number of times.
#include "engine/calls/call_parser.h"

#include <algorithm>

#include "engine/calls/call_reader.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

using calls::is_letter_or_digit;
using calls::openers_of;

constexpr std::string_view kCutOff = "the call cannot be read: the answer ended within it";
constexpr std::string_view kInterrupted = "the call cannot be read: another one began within it";
constexpr std::string_view kUnreadable = "the call cannot be read: it is not valid JSON";
constexpr size_t kMaxKeptIds = 64;  // of the model in one answer
constexpr size_t kIdBytes = 9;      // some templates refuse other lengths

std::string made_id(uint64_t number) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9;  // splitmix64
  number = (number ^ number >> 27) * 0x94D049BB133111EB;
  number ^= number >> 31;
  std::string id;
  for (size_t i = 0; i < kIdBytes; ++i, number /= kDigits.size()) id += kDigits[number % kDigits.size()];
  return id;
}

std::span<const std::string_view> closers_of(CallFormat format) {
  static constexpr std::string_view kTags[] = {calls::kCallClose, calls::kFunctionClose};
  return calls::has_tags(format) ? std::span(kTags) : std::span<const std::string_view>();
}

}  // namespace

CallParser::CallParser(CallFormat format, std::span<const CallTool> tools, uint64_t id_seed)
    : format_(tools.empty() ? CallFormat::kNone : format), tools_(tools), id_seed_(id_seed) {}

std::vector<CallPiece> CallParser::add(std::string_view text) {
  Pieces pieces;
  if (format_ == CallFormat::kNone) {
    if (!text.empty()) pieces.push_back({.kind = CallPiece::Kind::kText, .text = std::string(text)});
    return pieces;
  }
  text_ += text;
  run(pieces);
  return pieces;
}

std::vector<CallPiece> CallParser::add_marker(std::string_view text) {
  Pieces pieces;
  if (format_ == CallFormat::kNone) return pieces;
  const auto openers = openers_of(format_);
  if (std::ranges::find(openers, text) != openers.end()) {
    const size_t from = text_.size();
    if (m_.state == State::kOpen || is_in_call()) end_call(from, from, kInterrupted, pieces);
    if (m_.state == State::kAfter) m_.given = from;
    text_ += text;
    m_.at = text_.size();
    open(from, /*is_certain=*/true);
  } else if (m_.state != State::kText && m_.state != State::kBare) {
    text_ += text;
    run(pieces);
  } else {
    m_.n_dropped += text.size();
  }
  return pieces;
}

std::vector<CallPiece> CallParser::finish() {
  Pieces pieces;
  if (format_ == CallFormat::kNone) return pieces;
  const size_t end = text_.size();
  if (is_in_call() || (m_.state == State::kOpen && m_.is_certain)) {
    end_call(end, end, kCutOff, pieces);
  } else if (m_.state != State::kAfter) {
    give_text(end, /*keeps_blanks=*/!m_.has_call || m_.has_text_since_call, pieces);
  } else if (m_.mark != kNoMark) {  // the beginning of a closing marker is no text
    const bool is_closing = std::ranges::any_of(
        closers_of(format_), [&](std::string_view tag) { return tag.starts_with(text_between(m_.mark, end)); });
    if (!is_closing) give_text(end, /*keeps_blanks=*/true, pieces);
  }
  return pieces;
}

CallParser::Snapshot CallParser::snapshot() const {
  Snapshot snapshot;
  snapshot.machine = m_;
  snapshot.n_bytes = text_.size();
  snapshot.n_kept_ids = kept_ids_.size();
  return snapshot;
}

void CallParser::restore(const Snapshot& snapshot) {
  m_ = snapshot.machine;
  text_.resize(snapshot.n_bytes);
  kept_ids_.resize(snapshot.n_kept_ids);
}

void CallParser::run(Pieces& pieces) {
  while (m_.at < text_.size())
    if (step(pieces)) ++m_.at;
  if (m_.state == State::kText) give_text(std::min(m_.mark, text_.size()), /*keeps_blanks=*/false, pieces);
}

// false: the state has changed, and the byte is to be looked at again.
bool CallParser::step(Pieces& pieces) {
  switch (m_.state) {
    case State::kText:
      return text_step(pieces);
    case State::kOpen:
      return open_step(pieces);
    case State::kBare:
      return bare_step(pieces);
    case State::kAfter:
      return after_step(pieces);
    case State::kFunctionTag:
      return function_tag_step(pieces);
    case State::kJson:
    case State::kMistralArgs:
      return json_step(pieces);
    case State::kXml:
      return xml_step(pieces);
    case State::kMistralName:
    case State::kMistralTag:
    case State::kMistralId:
      return mistral_step(pieces);
    case State::kPython:
      return python_step(pieces);
    case State::kBroken:
      return broken_step(pieces);
  }
  return true;
}

CallParser::Match CallParser::match_mark() const {
  const std::string_view read = text_between(m_.mark, m_.at + 1);
  const auto openers = openers_of(format_), closers = closers_of(format_);
  const auto is_beginning = [&](std::string_view marker) { return marker.starts_with(read); };
  if (std::ranges::find(openers, read) != openers.end()) return Match::kOpener;
  if (m_.state != State::kText) {
    if (std::ranges::find(closers, read) != closers.end()) return Match::kCloser;
    if (std::ranges::any_of(closers, is_beginning)) return Match::kBeginning;
  }
  return std::ranges::any_of(openers, is_beginning) ? Match::kBeginning : Match::kNone;
}

// Markers have their first character nowhere else, so a text that does not go on as one holds no other.
CallParser::Match CallParser::follow_mark() {
  Match match = m_.mark == kNoMark ? Match::kNone : match_mark();
  if (match != Match::kNone) return match;
  m_.mark = m_.at;
  match = match_mark();
  if (match == Match::kNone) m_.mark = kNoMark;
  return match;
}

bool CallParser::is_at_line_start(size_t at) const {
  while (at > m_.floor && (text_[at - 1] == ' ' || text_[at - 1] == '\t')) --at;
  return at == m_.floor || text_[at - 1] == '\n';
}

bool CallParser::is_in_code(size_t at) {
  m_.code.add(text_between(m_.code_to, at));
  m_.code_to = at;
  return m_.code.is_inside();
}

bool CallParser::text_step(Pieces& pieces) {
  const Match match = follow_mark();
  if (match == Match::kOpener) return on_opener(pieces);
  if (match == Match::kNone && format_ == CallFormat::kLlama && text_[m_.at] == '{' && is_at_line_start(m_.at) &&
      !is_in_code(m_.at)) {
    begin_bare();
    return false;
  }
  return true;
}

// At the last byte of an opening marker that is spelled in the text.
bool CallParser::on_opener(Pieces& pieces) {
  const size_t from = m_.mark;
  m_.mark = kNoMark;
  const bool is_function = text_between(from, m_.at + 1) == calls::kFunctionOpen, is_line = is_at_line_start(from);
  if ((is_function && !is_line) || is_in_code(from)) {
    m_.state = State::kText;
    return true;
  }
  open(from, is_line || closers_of(format_).empty());  // a <tool_call> within a sentence may be about it
  if (is_function) begin_xml(pieces);
  return true;
}

void CallParser::open(size_t from, bool is_certain) {
  m_.state = State::kOpen;
  m_.format = format_;
  m_.from = from;
  m_.is_open = true;
  m_.is_list = m_.has_begun = false;
  m_.is_certain = is_certain;
  m_.name = m_.id = {};
  m_.mark = kNoMark;
}

bool CallParser::back_to_text(size_t from) {
  if (m_.state == State::kAfter) m_.given = from;
  m_.state = State::kText;
  m_.mark = kNoMark;
  return false;
}

bool CallParser::is_tool(std::string_view name) const {
  return std::ranges::find(tools_, name, &CallTool::name) != tools_.end();
}

void CallParser::give_name(std::string name, size_t end, bool can_be_held, Pieces& pieces) {
  if (name.empty()) return;
  const bool is_held = can_be_held && is_tool(name);
  pieces.push_back({.kind = CallPiece::Kind::kName,
                    .text = std::move(name),
                    .format = m_.format,
                    .end = end + m_.n_dropped,
                    .can_be_held = is_held});
}

// Blanks beside calls are no text. Text behind a call is a paragraph of its own.
void CallParser::give_text(size_t to, bool keeps_blanks, Pieces& pieces) {
  std::string_view text = text_between(m_.given, std::max(m_.given, to));
  const bool is_first = m_.has_call && !m_.has_text_since_call;
  while (is_first && !text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!keeps_blanks && !text.empty() && is_blank(text.back())) text.remove_suffix(1);
  if (text.empty()) return;
  m_.given = static_cast<size_t>(text.data() - text_.data()) + text.size();
  pieces.push_back(
      {.kind = CallPiece::Kind::kText, .text = (is_first && m_.has_text ? "\n\n" : "") + std::string(text)});
  m_.has_text = m_.has_text_since_call = true;
}

std::string CallParser::known_name() const {
  const State state = m_.state == State::kBroken ? m_.broken : m_.state;
  if (state == State::kJson && m_.json.name().is_known())
    return calls::text_of_json_string(m_.json.name().of(text_)).value_or("");
  if (state == State::kXml && m_.xml.name().is_known()) return std::string(trimmed(m_.xml.name().of(text_)));
  return m_.name.is_known() ? std::string(trimmed(m_.name.of(text_))) : "";
}

// The open call, of which what is before `to` belongs to its JSON, XML or Python.
ParsedCall CallParser::read(size_t to) const {
  const std::string_view body = m_.body == kNoMark ? "" : trimmed(text_between(m_.body, std::max(m_.body, to)));
  const auto moved = [this](Range range) {
    return range.is_known() ? Range{range.from - m_.body, range.to - m_.body} : Range();
  };
  calls::ReadCall call;
  switch (m_.state == State::kBroken ? m_.broken : m_.state) {
    case State::kJson:
      call = calls::read_json_call(body, moved(m_.json.name()), moved(m_.json.arguments()));
      break;
    case State::kMistralArgs:
      call = calls::read_arguments(known_name(), body);
      break;
    case State::kXml:
      call = calls::read_xml_call(body, tools_);
      break;
    case State::kPython:
      call = calls::read_python_call(body);
      break;
    default:
      break;
  }
  if (m_.state == State::kBroken && call.error.empty()) call.error = kUnreadable;
  return {
      .id = "", .name = std::move(call.name), .arguments = std::move(call.arguments), .error = std::move(call.error)};
}

std::string CallParser::id_of_call() {
  std::string id;
  if (m_.state == State::kJson && m_.json.id().is_known())
    id = calls::text_of_json_string(m_.json.id().of(text_)).value_or("");
  else if (m_.id.is_known())
    id = m_.id.of(text_);
  const bool is_usable = id.size() == kIdBytes && std::ranges::all_of(id, is_letter_or_digit) &&
                         kept_ids_.size() < kMaxKeptIds && std::ranges::find(kept_ids_, id) == kept_ids_.end();
  ++m_.n_calls;
  if (!is_usable) return made_id(id_seed_ * 0x9E3779B97F4A7C15 + m_.n_calls);
  kept_ids_.push_back(id);
  return id;
}

void CallParser::end_call(size_t read_to, size_t to, std::string_view error, Pieces& pieces) {
  begin(pieces);
  ParsedCall call;
  if (error.empty() || m_.state == State::kBroken) call = read(read_to);
  if (call.error.empty()) call.error = error;
  if (!call.error.empty()) {
    call.arguments = "{}";
    call.name = known_name();
  }
  call.id = id_of_call();
  call.raw = text_between(m_.from, to);
  pieces.push_back({.kind = CallPiece::Kind::kCall, .call = std::move(call)});
  m_.state = State::kAfter;
  m_.mark = kNoMark;
  m_.has_call = true;
  m_.has_text_since_call = m_.has_begun = false;
  m_.given = m_.floor = m_.code_to = to;
  m_.code = {};
}

}  // namespace warpchat
