// Sends only necessary fields, because strict servers refuse unknown ones.
#include "engine/remote/chat_request.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "models/ascii.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr float kUnset = -1;  // below any temperature or share

// Fields that OpenAI lacks, then OpenAI's fields that some servers or models refuse.
constexpr std::string_view kExtras[] = {
    "top_k", "min_p", "repeat_penalty", "repetition_penalty", "return_progress", "chat_template_kwargs"};
constexpr std::string_view kOptional[] = {"temperature",       "top_p",          "seed",      "presence_penalty",
                                          "frequency_penalty", "stream_options", "max_tokens"};

// Words in errors about a value, which the user must fix; the field is not dropped.
constexpr std::string_view kRangeWords[] = {"must be", "should be", "expected", "maximum",
                                            "minimum", "range",     "between"};

bool is_one_of(const auto& names, const std::string& name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
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
  if (message.content.empty()) return "<think>\n" + message.reasoning;
  return "<think>\n" + message.reasoning + "\n</think>\n\n" + message.content;
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
  body["seed"] = p.seed & 0x7fffffff;  // some servers store it as a signed 32-bit number
  if (p.presence_penalty != 0) body["presence_penalty"] = rounded(p.presence_penalty);
  if (p.frequency_penalty != 0) body["frequency_penalty"] = rounded(p.frequency_penalty);
  if (p.top_k != 0) body["top_k"] = p.top_k;
  if (p.min_p != 0) body["min_p"] = rounded(p.min_p);
  if (p.repeat_penalty != 1)
    body[kind == ServerKind::kVllm ? "repetition_penalty" : "repeat_penalty"] = rounded(p.repeat_penalty);
}

void add_streaming(ordered_json& body, ServerKind kind) {
  body["stream"] = true;
  body["stream_options"] = {{"include_usage", true}};
  if (kind == ServerKind::kVllm) body["stream_options"]["continuous_usage_stats"] = true;
  if (kind == ServerKind::kLlamaCpp) body["return_progress"] = true;
}

}  // namespace

SamplingParams servers_own_sampling() { return {.top_k = 0, .top_p = kUnset, .min_p = 0, .temperature = kUnset}; }

RemoteRequest remote_request(const Prompt& prompt, const AnswerOptions& options, const RemoteModel& model,
                             const std::set<std::string>& left_out) {
  if (!options.chat_template.empty()) throw Error("an endpoint uses the chat template of its model and takes no other");
  RemoteRequest request;
  request.body["model"] = model.id;
  if (const auto* messages = std::get_if<std::vector<Message>>(&prompt)) {
    request.path = "/chat/completions";
    request.body["messages"] = messages_json(*messages, options);
    if (!options.template_variables.empty()) request.body["chat_template_kwargs"] = options.template_variables;
    if (!messages->empty() && messages->back().role == "assistant") {
      const Message& last = messages->back();
      request.in_thought = !last.reasoning.empty() && last.content.empty();
      if (model.kind == ServerKind::kVllm) {
        request.body["continue_final_message"] = true;
        request.body["add_generation_prompt"] = false;
      }
    }
  } else if (const auto* text = std::get_if<std::string>(&prompt)) {
    request.path = "/completions";
    request.body["prompt"] = *text;
  } else {
    throw Error("an endpoint takes messages or text, not tokens");
  }
  add_sampling(request.body, options.sampling, model.kind);
  if (options.max_tokens >= 0) request.body["max_tokens"] = options.max_tokens;
  add_streaming(request.body, model.kind);
  for (const std::string& name : left_out) {
    if (name == "max_tokens" && request.body.contains(name)) request.body["max_completion_tokens"] = options.max_tokens;
    request.body.erase(name);
  }
  return request;
}

std::set<std::string> refused_fields(const ordered_json& body, const std::string& words) {
  const auto is_named = [&](const std::string& name) {
    for (size_t at = words.find(name); at != std::string::npos; at = words.find(name, at + 1)) {
      const auto is_letter = [&](size_t i) {
        return i < words.size() && (std::isalnum(static_cast<unsigned char>(words[i])) != 0 || words[i] == '_');
      };
      if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + name.size())) return true;
    }
    return false;
  };
  const std::string lower = lower_case(words);
  std::set<std::string> refused;
  if (std::any_of(std::begin(kRangeWords), std::end(kRangeWords),
                  [&](std::string_view word) { return lower.find(word) != std::string::npos; }))
    return refused;
  for (const auto& [name, value] : body.items())
    if ((is_one_of(kExtras, name) || is_one_of(kOptional, name)) && is_named(name)) refused.insert(name);
  const bool with_extra =
      std::any_of(refused.begin(), refused.end(), [](const auto& n) { return is_one_of(kExtras, n); });
  for (const auto& [name, value] : body.items())
    if (with_extra && is_one_of(kExtras, name)) refused.insert(name);
  return refused;
}

}  // namespace warpchat
