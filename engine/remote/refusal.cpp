// Interprets status codes and error bodies.
#include "engine/remote/refusal.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/http/http_url.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;
constexpr size_t kMaxWords = 300;
constexpr char kTooLongAdvice[] = "; a shorter message, or a new conversation, has room";

std::string text_at(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

// {"error": {"message"}} (OpenAI), {"error": "..."} (Ollama), {"message"} (older vLLM), {"detail": "..." or [{"msg"}]}
// (FastAPI).
std::string words_of(const json& body) {
  if (!body.is_object()) return "";
  if (const auto error = body.find("error"); error != body.end()) {
    if (error->is_string()) return error->get<std::string>();
    if (error->is_object()) return text_at(*error, "message");
  }
  if (const std::string message = text_at(body, "message"); !message.empty()) return message;
  if (const auto detail = body.find("detail"); detail != body.end()) {
    if (detail->is_string()) return detail->get<std::string>();
    if (detail->is_array() && !detail->empty() && (*detail)[0].is_object()) {
      const auto where = (*detail)[0].find("loc");
      return text_at((*detail)[0], "msg") + (where == (*detail)[0].end() ? "" : " at " + where->dump());
    }
  }
  return "";
}

// llama.cpp and OpenAI report it in a field, vLLM and SGLang in text.
bool is_about_length(const std::string& body, const std::string& words) {
  constexpr std::string_view kFields[] = {"exceed_context_size_error", "context_length_exceeded"};
  constexpr std::string_view kWords[] = {"context length", "context size", "context window", "longer than the model"};
  const auto has = [](const std::string& text, const auto& parts) {
    return std::any_of(std::begin(parts), std::end(parts),
                       [&](std::string_view part) { return text.find(part) != std::string::npos; });
  };
  return has(body, kFields) || has(lower_case(words), kWords);
}

bool is_about_key(const HttpAnswer& answer) { return answer.status == 401 || answer.status == 403; }

std::string key_advice(const Endpoint& endpoint) {
  if (!endpoint.key.empty()) return "it rejects the API key from " + endpoint.key_source;
  return "it needs an API key";
}

}  // namespace

std::string server_words(std::string_view body) {
  std::string words = words_of(json::parse(body, nullptr, /*allow_exceptions=*/false));
  for (char& c : words)
    if (c == '\n' || c == '\r' || c == '\t') c = ' ';
  while (words.ends_with('.') || words.ends_with(' ')) words.pop_back();
  return printable(words, kMaxWords);
}

std::string refusal(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries) {
  const std::string host = host_of(endpoint.url), words = server_words(answer.body);
  const std::string says = host + " answers " + std::to_string(answer.status);
  const std::string quoted = words.empty() ? "" : " (" + words + ")";
  const std::string given_up = n_tries > 1 ? "; given up after " + std::to_string(n_tries) + " tries" : "";
  if (answer.status / 100 == 3) {
    const std::string to = host_of(resolve_url(answer.url, answer.header("location")));
    return host + " redirects to " + (to.empty() ? "nowhere" : to) +
           "; not followed, the text and the key stay here; if that is the right address, name it as the endpoint";
  }
  if (is_about_key(answer)) return says + ": " + key_advice(endpoint) + quoted;
  if (answer.status == 404)
    return says + " for " + endpoint.url + quoted + "; is this the address of an OpenAI-compatible endpoint?";
  if (answer.status == 429) return says + ", which means too many requests" + quoted + given_up;
  if (answer.status == 400 || answer.status == 413 || answer.status == 422)
    return host + " refuses the request" + (words.empty() ? ", without a reason" : ": " + words) +
           (is_about_length(answer.body, words) ? kTooLongAdvice : "");
  return says + quoted + given_up;
}

Remedy remedy_of_refusal(const Endpoint& endpoint, const HttpAnswer& answer) {
  return {is_about_key(answer) && endpoint.key.empty() ? Remedy::Kind::kEndpointKey : Remedy::Kind::kNone};
}

void require_no_web_page(const std::string& host, std::string_view body) {
  const size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || body[begin] != '<') return;
  throw Error(host +
              " answers with a web page where an answer in JSON was expected; is the address right, or a login page of "
              "the network in between?");
}

}  // namespace warpchat
