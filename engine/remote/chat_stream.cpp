// Servers differ in names and order of fields: unknown fields are ignored, and known ones may be null or missing.
#include "engine/remote/chat_stream.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/remote/refusal.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;

constexpr std::string_view kBlank = " \t\r\n";
constexpr uint32_t kMaxToolCalls = 1024;
constexpr double kMinGap = 1e-6;  // s, for tokens in the same packet; 0 marks a token's second piece

class ReportedError : public Error {  // reported by the server; a complete message
 public:
  using Error::Error;
};

const json* member(const json& object, const char* name) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(name);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

// A string, or the concatenated texts of a list of parts; empty for anything else.
std::string text_of(const json* value) {
  if (value == nullptr) return "";
  if (value->is_string()) return value->get<std::string>();
  std::string text;
  if (value->is_array())
    for (const json& part : *value) text += text_of(member(part, "text"));
  return text;
}

double number_of(const json& object, const char* name) {
  const json* value = member(object, name);
  return value != nullptr && value->is_number() ? std::max(0.0, value->get<double>()) : 0;
}

uint32_t count_of(const json& object, const char* name) {
  return static_cast<uint32_t>(std::min(number_of(object, name), 4e9));
}

}  // namespace

ChatStream::ChatStream(Context context, std::function<void(Event)> emit)
    : context_(std::move(context)),
      emit_(std::move(emit)),
      parser_([this](std::string_view data) { take_data(data); }),
      splitter_(!context_.splits_reasoning ? ReasoningSplitter::State::kAnswer
                : context_.in_thought      ? ReasoningSplitter::State::kThinking
                                           : ReasoningSplitter::State::kUndecided) {}

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
  if (is_done_) return;
  data.remove_prefix(std::min(data.find_first_not_of(kBlank), data.size()));
  if (data.starts_with("[DONE]")) {
    is_done_ = true;
    return;
  }
  const json chunk = json::parse(data, nullptr, /*allow_exceptions=*/false);
  if (chunk.is_discarded()) throw Error("this is not JSON: '" + printable(data) + "'");
  take_chunk(chunk);
}

void ChatStream::take_chunk(const json& chunk) {
  if (const json* error = member(chunk, "error"); error != nullptr || text_of(member(chunk, "object")) == "error") {
    const std::string words = server_words(chunk.dump());
    throw ReportedError(context_.host + " reports an error" + (words.empty() ? "" : ": " + words));
  }
  if (const json* progress = member(chunk, "prompt_progress")) take_progress(*progress);
  const json* choices = member(chunk, "choices");
  const bool has_choice = choices != nullptr && choices->is_array() && !choices->empty();
  if (has_choice)
    for (const json& choice : *choices)
      if (count_of(choice, "index") == 0) take_choice(choice);
  if (const json* timings = member(chunk, "timings")) take_timings(*timings);
  if (const json* usage = member(chunk, "usage")) take_usage(*usage, !has_choice);
}

void ChatStream::take_choice(const json& choice) {
  const json* delta = member(choice, "delta");
  if (delta == nullptr) delta = member(choice, "message");
  if (delta != nullptr) {
    std::string reasoning = text_of(member(*delta, "reasoning_content"));
    if (reasoning.empty()) reasoning = text_of(member(*delta, "reasoning"));
    const std::string content = text_of(member(*delta, "content"));
    const json* calls = member(*delta, "tool_calls");
    if (!reasoning.empty() || !content.empty() || calls != nullptr) count_delta();
    if (!reasoning.empty()) take_text(reasoning, true);
    if (!content.empty()) take_text(content, false);
    if (calls != nullptr && calls->is_array()) take_tool_calls(*calls);
  } else if (const std::string text = text_of(member(choice, "text")); !text.empty()) {
    count_delta();
    take_text(text, false);
  }
  if (const std::string reason = text_of(member(choice, "finish_reason")); !reason.empty()) finish_reason_ = reason;
}

void ChatStream::count_delta() {
  if (n_deltas_++ == 0) timings_.first_token_seconds = now_;
  gap_ = std::max(now_ - std::exchange(last_token_, now_), kMinGap);
}

void ChatStream::emit_text(std::string text, bool thinking) {
  emit_(TextDelta{std::move(text), -1, std::exchange(gap_, 0), thinking});
}

void ChatStream::take_text(const std::string& text, bool thinking) {
  if (thinking) {  // the server separates reasoning, so its content is the answer
    splitter_ = ReasoningSplitter(ReasoningSplitter::State::kAnswer);
    trims_ = true;
    return emit_text(text, true);
  }
  const size_t begin = trims_ ? std::min(text.find_first_not_of("\r\n"), text.size()) : 0;
  trims_ = trims_ && begin == text.size();
  const auto pieces = splitter_.add(std::string_view(text).substr(begin));
  if (pieces.empty()) emit_text("", splitter_.thinking());
  for (const auto& piece : pieces) emit_text(piece.text, piece.thinking);
}

void ChatStream::take_tool_calls(const json& calls) {
  for (size_t i = 0; i < calls.size(); ++i) {
    const json& call = calls[i];
    const json* function = member(call, "function");
    const uint32_t index = member(call, "index") != nullptr ? count_of(call, "index") : static_cast<uint32_t>(i);
    if (index >= kMaxToolCalls) throw Error("it calls more than " + grouped(kMaxToolCalls) + " tools");
    std::string arguments;
    if (function != nullptr)
      if (const json* value = member(*function, "arguments"))  // Ollama and others send an object
        arguments = value->is_object() ? value->dump() : text_of(value);
    emit_(ToolCallDelta{index, text_of(member(call, "id")),
                        function == nullptr ? "" : text_of(member(*function, "name")), std::move(arguments)});
  }
}

// Emitted when the prompt's length is known, when deltas do not count tokens, and at the end.
void ChatStream::take_usage(const json& usage, bool is_last) {
  timings_.prompt_tokens = count_of(usage, "prompt_tokens");
  timings_.generated_tokens = count_of(usage, "completion_tokens");
  if (const json* details = member(usage, "prompt_tokens_details"))
    timings_.reused_tokens = std::min(count_of(*details, "cached_tokens"), timings_.prompt_tokens);
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
}

void ChatStream::take_progress(const json& progress) {
  const uint32_t cached = count_of(progress, "cache"), total = count_of(progress, "total");
  const uint32_t processed = std::clamp(count_of(progress, "processed"), std::min(cached, total), total);
  emit_(PromptProgress{processed - std::min(cached, processed), total - std::min(cached, total)});
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
  if (!is_complete())
    throw Error(n_deltas_ > 0 ? context_.host + " closed the connection before the answer's end"
                              : context_.host + " answers with nothing; the prompt may be too long for it");
  const bool is_full = context_.context > 0 && timings_.prompt_tokens + timings_.generated_tokens >= context_.context;
  if (finish_reason_ == "length")
    return cut(is_full && !context_.limits_tokens ? EndReason::kContextFull : EndReason::kTokenLimit);
  if (finish_reason_ == "content_filter") emit_(Notice{context_.host + " has cut the answer: its content filter"});
  return cut(EndReason::kEndOfText);
}

GenerationEnd ChatStream::cut(EndReason reason, const std::string& error) {
  for (const auto& piece : splitter_.finish()) emit_(TextDelta{piece.text, -1, 0, piece.thinking});
  const bool is_cut = reason == EndReason::kStopped || reason == EndReason::kFailed;
  if (is_cut || !has_usage_) timings_.generated_tokens = std::max(timings_.generated_tokens, n_deltas_);
  timings_.generate_seconds = n_deltas_ > 0 ? last_token_ - timings_.first_token_seconds : 0;
  return {reason, timings_, error};
}

}  // namespace warpchat
