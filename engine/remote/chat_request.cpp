// Sends only necessary fields, because strict servers refuse unknown ones.
#include "engine/remote/chat_request.h"

#include <algorithm>
#include <cmath>

#include "engine/remote/strict_schema.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr char kResponseFormat[] = "response_format";
constexpr JsonLimits kSchemaLimits{.depth = 400};  // more than a constraint may have

constexpr float kUnset = -1;  // below any temperature or share

// Fields that OpenAI lacks, then OpenAI's fields that some servers or models refuse.
constexpr std::string_view kExtras[] = {
    "top_k", "min_p", "repeat_penalty", "repetition_penalty", "return_progress", "chat_template_kwargs"};
constexpr std::string_view kOptional[] = {"temperature",       "top_p",          "seed",      "presence_penalty",
                                          "frequency_penalty", "stream_options", "max_tokens"};

// Names by which servers refuse a form: the field's, and the kind of form that is asked for.
constexpr std::string_view kFormNames[] = {kResponseFormat, "response format", "json_schema"};

// The same of tools, and what such a server wants instead of them.
constexpr char kTools[] = "tools";
constexpr std::string_view kToolNames[] = {kTools, "tool choice", "tool use", "tool call", "function call"};
constexpr std::string_view kToolDemands[] = {"requires", "require "};

// Beginnings of words by which servers refuse a field, not its value or anything else.
constexpr std::string_view kRefusalWords[] = {
    "unsupported",  "not support",   "t support",        "unknown",        "unrecognized",      "unrecognised",
    "unexpected",   "extra",         "not permitted",    "not allowed",    "not accepted",      "does not accept",
    "cannot find",  "no such field", "not a valid",      "invalid field",  "invalid parameter", "invalid argument",
    "not valid",    "deprecated",    "not implement",    "not recogni",    "not available",     "not enabled",
    "unavailable",  "cannot both",   "can't both",       "cannot be used", "can't be used",     "cannot be set",
    "can't be set", "only 1",        "only the default", "only one of",    "must be omitted",   "must not be set",
    "not a known"};

// Words in errors about a value, which the user must fix; the field is not dropped.
constexpr std::string_view kRangeWords[] = {
    "must be at", "must be between", "must be less", "must be greater", "must be in", "must be a ", "must be an ",
    "should be",  "expected",        "maximum",      "minimum",         "range",      "between"};

bool is_one_of(const auto& names, const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

// Whether the word, or a longer one unless is_whole, begins somewhere in the text.
bool has_word(std::string_view text, std::string_view word, bool is_whole) {
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_word_character(text[at - 1]);
    const size_t end = at + word.size();
    const bool goes_on = end < text.size() && is_word_character(text[end]);
    if (begins && !(is_whole && goes_on)) return true;
  }
  return false;
}

bool has_any(std::string_view text, const auto& words) {
  return std::any_of(std::begin(words), std::end(words),
                     [&](std::string_view word) { return has_word(text, word, /*is_whole=*/false); });
}

// 0.7, not 0.699999988079071.
double rounded(float value) { return std::round(static_cast<double>(value) * 1e6) / 1e6; }

ordered_json message_json(const Message& message, std::string content) {
  ordered_json json = {{"role", message.role}, {"content", std::move(content)}};
  for (const ToolCall& call : message.tool_calls)
    json["tool_calls"].push_back(
        {{"id", call.id}, {"type", "function"}, {"function", {{"name", call.name}, {"arguments", call.arguments}}}});
  if (!message.tool_call_id.empty()) json["tool_call_id"] = message.tool_call_id;
  return json;
}

// An unfinished answer as the model wrote it, with its reasoning. Finished answers omit it, as templates do.
std::string unfinished_text(const Message& message) {
  if (message.reasoning.empty()) return message.content;
  const auto& [open, close, after_open, before_close, after_close] = kUsualMarks;
  const std::string opened = std::string(open) + std::string(after_open) + message.reasoning;
  if (message.content.empty() && !message.reasoning_ended) return opened;
  return opened + std::string(before_close) + std::string(close) + std::string(after_close) + message.content;
}

ordered_json messages_json(const std::vector<Message>& messages, const AnswerOptions& options) {
  ordered_json list = ordered_json::array();
  if (!options.system_prompt.empty()) list.push_back({{"role", "system"}, {"content", options.system_prompt}});
  for (const Message& message : messages) {
    const bool is_unfinished = &message == &messages.back() && message.role == "assistant";
    list.push_back(message_json(message, is_unfinished ? unfinished_text(message) : text_for_model(message)));
  }
  return list;
}

void add_sampling(ordered_json& body, const SamplingParams& p, ServerKind kind) {
  if (p.temperature >= 0) body["temperature"] = rounded(p.temperature);
  if (p.top_p >= 0) body["top_p"] = rounded(p.top_p);
  if (p.seed_is_chosen) body["seed"] = p.seed & 0x7fffffff;  // some servers store it as a signed 32-bit number
  if (p.presence_penalty != 0) body["presence_penalty"] = rounded(p.presence_penalty);
  if (p.frequency_penalty != 0) body["frequency_penalty"] = rounded(p.frequency_penalty);
  if (p.top_k != 0) body["top_k"] = p.top_k;
  if (p.min_p != 0) body["min_p"] = rounded(p.min_p);
  if (p.repeat_penalty != 1)
    body[kind == ServerKind::kVllm ? "repetition_penalty" : "repeat_penalty"] = rounded(p.repeat_penalty);
}

// llama.cpp goes on with a last answer by itself.
void continue_answer(RemoteRequest& request, const Message& answer, ServerKind kind) {
  if (!continues_answers(kind))
    throw Error("this server may begin the answer anew instead of going on with it; ask it to go on in a message");
  request.begin = begin_behind(answer);
  if (kind == ServerKind::kVllm || kind == ServerKind::kSgLang) request.body["continue_final_message"] = true;
  if (kind == ServerKind::kVllm) request.body["add_generation_prompt"] = false;
  if (kind == ServerKind::kMistral) request.body["messages"].back()["prefix"] = true;
}

ordered_json parsed_schema(const std::string& text) try {
  return parse_untrusted_json<ordered_json>(text, kSchemaLimits);
} catch (const Error& error) {
  throw Error(std::string("the schema cannot be sent to a server: ") + error.what());
}

void add_schema(RemoteRequest& request, ordered_json schema, ServerKind kind) {
  ordered_json& body = request.body;
  if (body.contains("messages")) {
    ordered_json format = {{"name", "answer"}};
    if (fits_strict_mode(schema)) format["strict"] = true;
    format["schema"] = std::move(schema);
    body[kResponseFormat] = {{"type", "json_schema"}, {"json_schema", std::move(format)}};
  } else if (kind == ServerKind::kLlamaCpp) {
    body["json_schema"] = std::move(schema);
  } else if (kind == ServerKind::kVllm) {
    body["structured_outputs"]["json"] = std::move(schema);
  } else {
    throw Error(
        "this server has no field for the schema of a text that it completes; ask for the answer in a message instead");
  }
}

void add_form(RemoteRequest& request, const AnswerForm& form, ServerKind kind) {
  if (form.is_free()) return;
  if (form.kind == AnswerForm::Kind::kSchema) return add_schema(request, parsed_schema(form.text), kind);
  if (kind == ServerKind::kLlamaCpp)
    request.body["grammar"] = form.text;
  else if (kind == ServerKind::kVllm)
    request.body["structured_outputs"]["grammar"] = form.text;
  else
    throw Error(
        "this server has no field for a grammar, which llama-server and vLLM have; use a JSON Schema, or describe the "
        "form in the prompt");
}

void add_streaming(ordered_json& body, ServerKind kind) {
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (kind == ServerKind::kVllm) body["stream_options"]["continuous_usage_stats"] = true;
  if (kind == ServerKind::kLlamaCpp) body["return_progress"] = true;
}

}  // namespace

bool continues_answers(ServerKind kind) {
  return kind == ServerKind::kVllm || kind == ServerKind::kSgLang || kind == ServerKind::kLlamaCpp ||
         kind == ServerKind::kMistral;
}

SamplingParams servers_own_sampling() { return {.top_k = 0, .top_p = kUnset, .min_p = 0, .temperature = kUnset}; }

RemoteRequest remote_request(const Prompt& prompt, const AnswerOptions& options, const RemoteModel& model,
                             const std::set<std::string>& left_out) {
  if (!options.chat_template.empty()) throw Error("an endpoint uses the chat template of its model and takes no other");
  RemoteRequest request;
  request.body["model"] = model.id;
  if (const auto* conversation = std::get_if<std::vector<Message>>(&prompt)) {
    const std::vector<Message> messages = messages_for_model(*conversation);
    request.path = "/chat/completions";
    request.body["messages"] = messages_json(messages, options);
    for (const ToolDeclaration& tool : options.tools) request.body["tools"].push_back(as_json(tool));
    if (!options.template_variables.empty()) request.body["chat_template_kwargs"] = options.template_variables;
    if (!messages.empty() && messages.back().role == "assistant") continue_answer(request, messages.back(), model.kind);
  } else if (const auto* text = std::get_if<std::string>(&prompt)) {
    request.path = "/completions";
    request.body["prompt"] = *text;
  } else {
    throw Error("an endpoint takes messages or text, not tokens");
  }
  add_sampling(request.body, options.sampling, model.kind);
  if (options.max_tokens >= 0) request.body["max_tokens"] = options.max_tokens;
  add_form(request, options.form, model.kind);
  add_streaming(request.body, model.kind);
  for (const std::string& name : left_out) {
    if (name == "max_tokens" && request.body.contains(name)) request.body["max_completion_tokens"] = options.max_tokens;
    request.body.erase(name);
  }
  return request;
}

namespace {

// The field that says which kind of form an answer has. Its one value is not the user's, so that it is refused, too,
// where a server lists the kinds that it takes; but not where the schema has a fault.
bool refuses_form(std::string_view fault) {
  if (!has_any(fault, kFormNames) || has_word(fault, "invalid schema", /*is_whole=*/true)) return false;
  return has_any(fault, kRefusalWords) || has_word(fault, "json_object", /*is_whole=*/true);
}

// A model without a place for tools; not a fault of one tool's schema.
bool refuses_tools(std::string_view fault) {
  if (!has_any(fault, kToolNames) || fault.find("schema") != std::string_view::npos) return false;
  return has_any(fault, kRefusalWords) || has_any(fault, kToolDemands);
}

}  // namespace

std::set<std::string> refused_fields(const ordered_json& body, const std::string& words) {
  const std::string lower = lower_case(words);
  std::set<std::string> refused;
  for (size_t begin = 0; begin < lower.size();) {  // a server lists several faults as "...; ..."
    const size_t end = std::min(lower.find("; ", begin), lower.size());
    const std::string_view fault = std::string_view(lower).substr(begin, end - begin);
    begin = end + 2;
    if (body.contains(kResponseFormat) && refuses_form(fault)) {
      refused.insert(kResponseFormat);
      continue;
    }
    if (body.contains(kTools) && refuses_tools(fault)) {
      refused.insert(kTools);
      continue;
    }
    if (!has_any(fault, kRefusalWords) || has_any(fault, kRangeWords)) continue;
    for (const auto& [name, value] : body.items())
      if ((is_one_of(kExtras, name) || is_one_of(kOptional, name)) && has_word(fault, name, /*is_whole=*/true))
        refused.insert(name);
  }
  const bool with_extra =
      std::any_of(refused.begin(), refused.end(), [](const auto& n) { return is_one_of(kExtras, n); });
  for (const auto& [name, value] : body.items())
    if (with_extra && is_one_of(kExtras, name)) refused.insert(name);
  return refused;
}

}  // namespace warpchat
