// Interprets status codes and error bodies.
#include "engine/remote/refusal.h"

#include <algorithm>
#include "engine/http/http_url.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr char kTooLongAdvice[] = "; a shorter message, or a new conversation, has room";

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

// "in 90 s", "in 2 hours"; empty for no wait.
std::string later_in_words(std::chrono::milliseconds wait) {
  const auto seconds = static_cast<uint64_t>(std::chrono::ceil<std::chrono::seconds>(wait).count());
  if (seconds == 0) return "";
  if (seconds < 120) return "in " + std::to_string(seconds) + " s";
  if (seconds < 7200) return "in " + counted((seconds + 59) / 60, "minute");
  return "in " + counted((seconds + 3599) / 3600, "hour");
}

std::string end_of_tries(const HttpAnswer& answer, int n_tries) {
  const std::string later = n_tries > 0 ? later_in_words(answer.retry_after()) : "";
  return (n_tries > 1 ? "; given up after " + std::to_string(n_tries) + " tries" : "") +
         (later.empty() ? "" : "; it wants to be asked again " + later);
}

}  // namespace

bool is_quota_spent(const HttpAnswer& answer) {
  constexpr std::string_view kCodes[] = {"insufficient_quota", "insufficient_balance", "billing_hard_limit_reached",
                                         "billing_not_active", "credit balance is too low"};
  return std::any_of(std::begin(kCodes), std::end(kCodes),
                     [&](std::string_view code) { return answer.body.find(code) != std::string::npos; });
}

std::string refusal(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries) {
  const std::string host = host_of(endpoint.url), words = server_words(answer.body, endpoint.key);
  const std::string says = host + " answers " + std::to_string(answer.status);
  const std::string quoted = words.empty() ? "" : " (" + words + ")";
  const std::string given_up = end_of_tries(answer, n_tries);
  if (answer.status / 100 == 3) {
    const std::string to = host_of(resolve_url(answer.url, answer.header("location")));
    return host + " redirects to " + (to.empty() ? "nowhere" : to) +
           "; not followed, the text and the key stay here; if that is the right address, name it as the endpoint";
  }
  if (is_about_key(answer)) return says + ": " + key_advice(endpoint) + quoted;
  if (answer.status == 404)
    return says + " for " + endpoint.url + quoted + "; is this the address of an OpenAI-compatible endpoint?";
  if (answer.status == 429 && is_quota_spent(answer))
    return says + ": the quota or the credit of the account is used up" + quoted;
  if (answer.status == 429) return says + ", which means too many requests" + quoted + given_up;
  if (answer.status == 400 || answer.status == 413 || answer.status == 422)
    return host + " refuses the request" + (words.empty() ? ", without a reason" : ": " + words) +
           (is_about_length(answer.body, words) ? kTooLongAdvice : "");
  return says + quoted + given_up;
}

Remedy remedy_of_refusal(const HttpAnswer& answer) {
  return {is_about_key(answer) ? Remedy::Kind::kEndpointKey : Remedy::Kind::kNone};
}

void require_no_web_page(const std::string& host, std::string_view body) {
  const size_t begin = body.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || body[begin] != '<') return;
  throw Error(host +
              " answers with a web page where an answer in JSON was expected; is the address right, or a login page of "
              "the network in between?");
}

}  // namespace warpchat
