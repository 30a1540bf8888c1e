// Servers differ in names and order of fields: unknown fields are ignored, and known ones may be null or missing.
#include "engine/remote/chat_stream.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/remote/refusal.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;

constexpr std::string_view kBlank = " \t\r\n";
constexpr uint32_t kMaxToolCalls = 1024;
constexpr double kMinGap = 1e-6;  // s, for tokens in the same packet; 0 marks a token's second piece
constexpr const char* kReasoningNames[] = {"reasoning_content", "reasoning", "thinking", "reasoning_details"};
constexpr const char* kTextNames[] = {"text", "thinking", "summary", "refusal", "content"};  // of parts
constexpr const char* kWrappers[] = {"data", "response", "result"};  // some gateways put the completion into one

class ReportedError : public Error {  // reported by the server; a complete message
 public:
  using Error::Error;
};

const json* member(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_of(const json* value);

std::string text_of_part(const json& part) {
  for (const char* name : kTextNames)
    if (std::string text = text_of(member(part, name)); !text.empty()) return text;
  return "";
}

// A string, or the concatenated texts of parts; empty for anything else.
std::string text_of(const json* value) {
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  if (value->is_object()) return text_of_part(*value);
  std::string text;
  if (value->is_array())
    for (const json& part : *value) text += text_of(&part);
  return text;
}

bool is_thought(const json& part) {
  const json* type = member(part, "type");
  const std::string name = type != nullptr && type->is_string() ? type->get<std::string>() : "";
  return name == "thinking" || name.starts_with("reasoning") || member(part, "thinking") != nullptr;
}

struct DeltaText {
  std::string reasoning, content;
};

DeltaText text_of_delta(const json& delta) {
  DeltaText text;
  for (const char* name : kReasoningNames)
    if (text.reasoning.empty()) text.reasoning = text_of(member(delta, name));
  const json* content = member(delta, "content");
  if (content != nullptr && content->is_array()) {
    for (const json& part : *content) (is_thought(part) ? text.reasoning : text.content) += text_of(&part);
  } else {
    text.content = text_of(content);
  }
  if (text.content.empty()) text.content = text_of(member(delta, "refusal"));
  return text;
}

// A number, or one as a text; nullopt for anything else.
std::optional<double> told_number(const json& object, const char* name) {
  const json* value = member(object, name);
  if (value == nullptr) return std::nullopt;
  if (value->is_number()) return std::max(0.0, value->get<double>());
  if (!value->is_string()) return std::nullopt;
  const std::optional<double> number = number_in<double>(value->get_ref<const std::string&>());
  return number && *number >= 0 ? number : std::nullopt;
}

double number_of(const json& object, const char* name) { return told_number(object, name).value_or(0); }

uint32_t count_of(const json& object, const char* name) {
  return static_cast<uint32_t>(std::min(number_of(object, name), 4e9));
}

// null, false, 0, "", [], {}, or a container of such values.
bool is_nothing(const json& value) {
  if (value.is_structured())
    return std::all_of(value.begin(), value.end(), [](const json& inner) { return is_nothing(inner); });
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  if (value.is_number()) return value.get<double>() == 0;
  return value.is_null() || value == false;
}

bool is_error(const json& chunk) {
  if (const json* error = member(chunk, "error"); error != nullptr && !is_nothing(*error)) return true;
  return text_of(member(chunk, "object")) == "error" || text_of(member(chunk, "type")) == "error";
}

// Each half of a surrogate pair in a text of its own is not JSON; the marked text is.
json chunk_of(std::string_view data) {
  json chunk = try_parse_untrusted_json(data);
  return chunk.is_discarded() ? try_parse_untrusted_json(with_marked_parts(data)) : chunk;
}

std::string whole_characters(const std::string& text) {
  SplitCharacters parts;
  std::string whole = parts.add(text);
  return whole + parts.finish();
}

ReasoningSplitter splitter_of(const ChatStream::Context& context) {
  using State = ReasoningSplitter::State;
  if (!context.splits_reasoning) return ReasoningSplitter({}, {.state = State::kAnswer}, /*finds_unopened=*/false);
  const ReasoningSplitter::Begin presumed{.state = State::kThinking};
  return ReasoningSplitter(kThoughtMarks, context.presumes_thought ? presumed : context.begin, /*finds_unopened=*/true);
}

}  // namespace

ChatStream::ChatStream(Context context, std::function<void(Event)> emit)
    : context_(std::move(context)),
      emit_(std::move(emit)),
      parser_([this](std::string_view data) { take_data(data); }),
      splitter_(splitter_of(context_)) {}

void ChatStream::add(std::string_view bytes, double seconds) {
  now_ = seconds;
  try {
    take_bytes(bytes);
  } catch (const ReportedError&) {
    throw;
  } catch (const Error& fault) {
    throw Error("cannot read the answer of " + context_.host + ": " + fault.what());
  }
}

// A server without streaming sends one JSON document.
void ChatStream::take_bytes(std::string_view bytes) {
  if (body_ == Body::kEvents) return parser_.add(bytes);
  start_ += bytes;
  const size_t begin = start_.find_first_not_of(kBlank);
  if (body_ == Body::kUnknown && begin != std::string::npos)
    body_ = start_[begin] == '{' || start_[begin] == '<' ? Body::kWhole : Body::kEvents;
  if (body_ == Body::kEvents) return parser_.add(std::exchange(start_, {}));
  if (start_.size() > SseParser::kMaxEventBytes)
    throw Error("it is longer than " + grouped(SseParser::kMaxEventBytes) + " bytes and not an event stream");
}

void ChatStream::take_data(std::string_view data) {
  if (is_done_ || !is_payload(data)) return;
  data.remove_prefix(data.find_first_not_of(kBlank));
  if (data.starts_with("[DONE]")) {
    is_done_ = true;
    return;
  }
  if (parser_.event() == "error") throw_reported(data);
  const json chunk = chunk_of(data);
  if (chunk.is_discarded()) {
    n_lost_ += data.front() == '{' ? 1 : 0;
    if (n_unreadable_++ == 0) unreadable_ = printable(without_key(std::string(data), context_.key));
    return;
  }
  ++n_chunks_;
  take_chunk(chunk);
  if (is_error(chunk)) throw_reported(data);
}

void ChatStream::throw_reported(std::string_view data) const {
  const std::string words = server_words(data, context_.key);
  throw ReportedError(context_.host + " reports an error" + (words.empty() ? "" : ": " + words));
}

void ChatStream::take_chunk(const json& chunk) {
  if (const json* progress = member(chunk, "prompt_progress")) take_progress(*progress);
  const json* choices = member(chunk, "choices");
  for (const char* name : kWrappers)
    if (const json* inner = member(chunk, name); choices == nullptr && inner != nullptr && member(*inner, "choices"))
      return take_chunk(*inner);
  const bool has_choice = choices != nullptr && choices->is_structured() && !choices->empty();
  if (has_choice && choices->is_object()) take_choice(*choices);
  if (has_choice && choices->is_array())
    for (const json& choice : *choices)
      if (count_of(choice, "index") == 0) take_choice(choice);
  if (const json* timings = member(chunk, "timings")) take_timings(*timings);
  const json* usage = member(chunk, "usage");
  if (const json* groq = member(chunk, "x_groq"); usage == nullptr && groq != nullptr) usage = member(*groq, "usage");
  if (usage != nullptr) take_usage(*usage, !has_choice);
}

void ChatStream::take_choice(const json& choice) {
  const json* delta = member(choice, "delta");
  if (delta == nullptr) delta = member(choice, "message");
  if (delta != nullptr) {
    const DeltaText text = text_of_delta(*delta);
    const json *calls = member(*delta, "tool_calls"), *call = member(*delta, "function_call");
    if (!text.reasoning.empty() || !text.content.empty() || calls != nullptr || call != nullptr) count_delta();
    if (!text.reasoning.empty()) take_text(text.reasoning, true);
    if (!text.content.empty()) take_text(text.content, false);
    if (calls != nullptr && calls->is_array())
      take_tool_calls(*calls);
    else if (call != nullptr)
      take_tool_call(0, *delta, call);
  } else if (const std::string text = text_of(member(choice, "text")); !text.empty()) {
    count_delta();
    take_text(text, false);
  }
  const json* reason = member(choice, "finish_reason");
  if (reason != nullptr && reason->is_object()) reason = member(*reason, "type");
  take_finish(text_of(reason));
}

// A known reason stays, whatever comes after it.
void ChatStream::take_finish(const std::string& reason) {
  const Finish finish = finish_of(reason);
  if (finish == Finish::kNone || (finish == Finish::kUnknown && finish_ != Finish::kNone)) return;
  finish_ = finish;
  if (finish == Finish::kUnknown) unknown_reason_ = printable(without_key(reason, context_.key));
}

void ChatStream::count_delta() {
  finishes_early_ |= finish_ != Finish::kNone;
  if (n_deltas_++ == 0) timings_.first_token_seconds = now_;
  gap_ = std::max(now_ - std::exchange(last_token_, now_), kMinGap);
}

void ChatStream::emit_text(std::string text, bool thinking) {
  emit_(TextDelta{std::move(text), -1, std::exchange(gap_, 0), thinking});
}

void ChatStream::take_text(const std::string& text, bool thinking) {
  take_whole_text((thinking ? reasoning_parts_ : content_parts_).add(text), thinking);
}

// The server separates reasoning, so its content is the answer.
void ChatStream::begin_apart() {
  if (std::exchange(is_apart_, true)) return;
  for (const auto& piece : splitter_.finish())
    if (!trimmed(piece.text).empty()) emit_text(piece.text, piece.thinking);
  splitter_ = ReasoningSplitter({}, {.state = ReasoningSplitter::State::kAnswer}, /*finds_unopened=*/false);
}

void ChatStream::take_whole_text(const std::string& text, bool thinking) {
  if (thinking) {
    begin_apart();
    repeated_.add_reasoning(text);
    trims_ = true;
    return emit_text(text, true);
  }
  if (!is_apart_) return emit_pieces(splitter_.add(text));
  reasoning_ended_ = true;
  const std::string own = repeated_.add(text);
  const size_t begin = trims_ ? std::min(own.find_first_not_of("\r\n"), own.size()) : 0;
  trims_ = trims_ && begin == own.size();
  emit_text(own.substr(begin), false);
}

void ChatStream::emit_pieces(const std::vector<ReasoningSplitter::Piece>& pieces) {
  if (pieces.empty()) emit_text("", splitter_.thinking());
  for (const auto& piece : pieces) {
    if (piece.was_thought)
      emit_(Reclassified{true});
    else
      emit_text(piece.text, piece.thinking);
  }
}

void ChatStream::take_tool_calls(const json& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const json& call = calls[i];
    const uint32_t index = member(call, "index") != nullptr ? count_of(call, "index") : static_cast<uint32_t>(i);
    if (index >= kMaxToolCalls) throw Error("it calls more than " + grouped(kMaxToolCalls) + " tools");
    take_tool_call(index, call, member(call, "function"));
  }
}

void ChatStream::take_tool_call(uint32_t index, const json& call, const json* function) {
  std::string name, arguments;
  if (function != nullptr) {
    name = whole_characters(text_of(member(*function, "name")));
    if (const json* value = member(*function, "arguments"))  // Ollama and others send an object
      arguments = whole_characters(value->is_object() ? value->dump() : text_of(value));
  }
  emit_(ToolCallDelta{index, whole_characters(text_of(member(call, "id"))), std::move(name), std::move(arguments)});
}

// Emitted when the prompt's length is known, when deltas do not count tokens, and at the end. Zeros mean that nothing
// was counted.
void ChatStream::take_usage(const json& usage, bool is_last) {
  const bool is_told = told_number(usage, "prompt_tokens") || told_number(usage, "completion_tokens");
  if (!is_told || (count_of(usage, "prompt_tokens") == 0 && count_of(usage, "completion_tokens") == 0)) return;
  timings_.prompt_tokens = count_of(usage, "prompt_tokens");
  timings_.generated_tokens = count_of(usage, "completion_tokens");
  if (const json* details = member(usage, "prompt_tokens_details"); details && told_number(*details, "cached_tokens")) {
    timings_.reused_tokens = std::min(count_of(*details, "cached_tokens"), timings_.prompt_tokens);
    knows_reused_ = true;
  }
  const uint32_t expected = told_tokens_ + (n_deltas_ - told_deltas_);
  if (has_usage_ && !is_last && timings_.generated_tokens == expected) return;
  has_usage_ = true;
  told_tokens_ = timings_.generated_tokens;
  told_deltas_ = n_deltas_;
  emit_(Usage{timings_.prompt_tokens, timings_.generated_tokens});
}

void ChatStream::take_timings(const json& timings) {
  const uint32_t cached = count_of(timings, "cache_n"), computed = count_of(timings, "prompt_n");
  timings_.prompt_seconds = number_of(timings, "prompt_ms") / 1000;
  if (!has_usage_ && computed > 0) timings_.prompt_tokens = cached + computed;
  if (cached > 0) timings_.reused_tokens = cached;
  knows_reused_ |= told_number(timings, "cache_n").has_value();
}

void ChatStream::take_progress(const json& progress) {
  const uint32_t cached = count_of(progress, "cache"), total = count_of(progress, "total");
  const uint32_t processed = std::clamp(count_of(progress, "processed"), std::min(cached, total), total);
  emit_(PromptProgress{processed - std::min(cached, processed), total - std::min(cached, total)});
}

uint64_t ChatStream::payload_bytes() const { return body_ == Body::kEvents ? parser_.payload_bytes() : start_.size(); }

void ChatStream::throw_incomplete() const {
  const std::string& host = context_.host;
  if (n_chunks_ == 0 && n_unreadable_ > 0)
    throw Error("cannot read the answer of " + host + ": this is not JSON: '" + unreadable_ + "'");
  if (finish_ == Finish::kUnknown)
    throw Error(host + " ended the answer with the unknown reason '" + unknown_reason_ + "'; it may be incomplete");
  if (n_deltas_ > 0) throw Error(host + " closed the connection before the answer's end");
  const std::string words = body_ == Body::kWhole ? server_words(start_, context_.key) : "";
  throw Error(host + (words.empty() ? " answers with nothing; the prompt may be too long for it"
                                    : " answers with something other than a completion: " + words));
}

GenerationEnd ChatStream::finish(double seconds) {
  now_ = seconds;
  if (body_ == Body::kWhole) require_no_web_page(context_.host, start_);
  try {
    if (body_ == Body::kWhole) take_data(start_);
    if (body_ == Body::kEvents && !is_complete()) parser_.finish();
  } catch (const ReportedError&) {
    throw;
  } catch (const Error& fault) {
    if (n_deltas_ == 0) throw Error("cannot read the answer of " + context_.host + ": " + fault.what());
  }  // an incomplete event: the connection was closed
  if (!is_complete() || (n_chunks_ == 0 && n_unreadable_ > 0)) throw_incomplete();
  if (n_lost_ > 0)
    emit_(Notice{context_.host + " sent " + counted(n_lost_, "event") +
                 " that cannot be read; a part of the answer may be missing"});
  const bool is_full = context_.context > 0 && timings_.prompt_tokens + timings_.generated_tokens >= context_.context;
  if (finish_ == Finish::kLength)
    return cut(is_full && !context_.limits_tokens ? EndReason::kContextFull : EndReason::kTokenLimit);
  if (finish_ != Finish::kFiltered) return cut(EndReason::kEndOfText);
  emit_(Notice{context_.host + " has cut the answer: its content filter"});
  return cut(EndReason::kContentFilter);
}

// An answer that was cut within a character keeps what is before it.
GenerationEnd ChatStream::cut(EndReason reason, const std::string& error) {
  if (reason == EndReason::kEndOfText) {
    if (const std::string rest = reasoning_parts_.finish(); !rest.empty()) take_whole_text(rest, true);
    if (const std::string rest = content_parts_.finish(); !rest.empty()) take_whole_text(rest, false);
  }
  if (const std::string rest = repeated_.finish(); !trimmed(rest).empty()) emit_text(rest, false);
  if (const auto rest = splitter_.finish(); !rest.empty()) emit_pieces(rest);
  const bool is_whole = reason == EndReason::kEndOfText || reason == EndReason::kContentFilter;
  if (context_.presumes_thought && is_whole && splitter_.thinking()) emit_(Reclassified{false});
  const bool is_cut = reason == EndReason::kStopped || reason == EndReason::kFailed;
  if (is_cut || !has_usage_) timings_.generated_tokens = std::max(timings_.generated_tokens, n_deltas_);
  timings_.generate_seconds = n_deltas_ > 0 ? last_token_ - timings_.first_token_seconds : 0;
  return {.reason = reason,
          .timings = timings_,
          .error = error,
          .told = {.prompt = timings_.prompt_tokens > 0, .reused = knows_reused_, .generated = has_usage_},
          .reasoning_ended = reasoning_ended_ || splitter_.has_ended_thought()};
}

}  // namespace warpchat
