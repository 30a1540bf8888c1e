// Addresses and model lists. Lists of different servers share nothing but "id".
#include "engine/remote/endpoint.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "engine/http/http_client.h"
#include "engine/http/http_url.h"
#include "engine/remote/refusal.h"
#include "engine/untrusted_json.h"
#include "models/ascii.h"
#include "models/number_in.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr size_t kNearNames = 5, kLongestCompared = 200;
constexpr std::chrono::seconds kListTimeout{60};
constexpr milliseconds kWaitSlice{100};
constexpr std::chrono::seconds kLongestWait{120};  // that a server may request
constexpr size_t kShownBody = 120;                 // bytes of an answer, in a sentence
constexpr std::string_view kEndings[] = {"/chat/completions", "/completions", "/models"};
constexpr std::pair<std::string_view, ServerKind> kOwners[] = {{"vllm", ServerKind::kVllm},
                                                               {"sglang", ServerKind::kSgLang},
                                                               {"llamacpp", ServerKind::kLlamaCpp},
                                                               {"library", ServerKind::kOllama}};
// Used by vLLM and SGLang, LM Studio, Groq, others.
constexpr const char* kContextNames[] = {"max_model_len", "loaded_context_length", "context_length", "context_window",
                                         "max_context_length"};

std::string seconds_text(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g s", static_cast<double>(time.count()) / 1000);
  return time.count() >= 10000 ? std::to_string(time.count() / 1000) + " s" : text;
}

bool has_scheme(std::string_view url) { return url.find("://") != std::string_view::npos; }

// "gpu-box:8000", "gpu-box:8000/v1"
std::optional<uint16_t> port_in(std::string_view url) {
  const std::string_view host = url.substr(0, url.find('/'));
  const size_t colon = host.rfind(':');
  return colon == 0 || colon == std::string_view::npos ? std::nullopt : number_in<uint16_t>(host.substr(colon + 1));
}

std::string with_scheme(const std::string& url) {
  constexpr uint16_t kHttps = 443;
  if (has_scheme(url)) return url;
  const std::optional<uint16_t> port = port_in(url);
  if (is_loopback("http://" + url) || (port && *port != kHttps)) return "http://" + url;
  return port || url.substr(0, url.find('/')).find('.') != std::string::npos ? "https://" + url : url;
}

void drop_slashes(std::string& url) {
  while (url.ends_with('/')) url.pop_back();
}

uint32_t tokens_of(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return 0;
  const double number = found->get<double>();
  return number >= 1 && number < 4e9 ? static_cast<uint32_t>(number) : 0;
}

uint32_t context_of(const json& model) {
  for (const char* name : kContextNames)
    if (const uint32_t n = tokens_of(model, name)) return n;
  const auto meta = model.find("meta");  // llama.cpp
  if (meta == model.end() || !meta->is_object()) return 0;
  const uint32_t n = tokens_of(*meta, "n_ctx");
  return n != 0 ? n : tokens_of(*meta, "n_ctx_train");
}

ServerKind kind_of(const json& model) {
  const auto owner = model.find("owned_by");
  if (owner == model.end() || !owner->is_string()) return ServerKind::kUnknown;
  const std::string name = owner->get<std::string>();
  for (const auto& [owns, kind] : kOwners)
    if (name == owns) return kind;
  return ServerKind::kUnknown;
}

// What servers call them: LM Studio and Ollama, Mistral, OpenRouter, llama.cpp, others.
constexpr std::pair<std::string_view, std::string_view> kCapabilityNames[] = {
    {"image", "images"},      {"images", "images"},     {"vision", "images"},
    {"multimodal", "images"}, {"audio", "audio"},       {"tools", "tools"},
    {"tool_use", "tools"},    {"tool_call", "tools"},   {"function_calling", "tools"},
    {"thinking", "thinking"}, {"reasoning", "thinking"}};
constexpr std::string_view kCapabilities[] = {"images", "audio", "tools", "thinking"};  // in the order of a list

void add_capability(std::string_view name, std::set<std::string_view>& known) {
  for (const auto& [theirs, ours] : kCapabilityNames)
    if (name == theirs) known.insert(ours);
}

// A list of names, or an object of flags.
void add_capabilities(const json& object, const char* key, std::set<std::string_view>& known) {
  const auto found = object.find(key);
  if (found == object.end()) return;
  for (const auto& [name, value] : found->items()) {
    if (found->is_object() && value.is_boolean() && value.get<bool>()) add_capability(name, known);
    if (found->is_array() && value.is_string()) add_capability(value.get_ref<const std::string&>(), known);
  }
}

std::vector<std::string> capabilities_of(const json& model) {
  std::set<std::string_view> known;
  for (const char* key : {"capabilities", "supported_parameters", "input_modalities"})
    add_capabilities(model, key, known);
  if (model.value("type", json()) == "vlm") known.insert("images");
  if (const auto architecture = model.find("architecture"); architecture != model.end() && architecture->is_object())
    add_capabilities(*architecture, "input_modalities", known);
  std::vector<std::string> list;
  for (const std::string_view name : kCapabilities)
    if (known.contains(name)) list.emplace_back(name);
  return list;
}

// llama.cpp has them in a second list, "models".
void add_listed_capabilities(const json& document, std::vector<RemoteModel>& models) {
  const auto list = document.is_object() ? document.find("models") : document.end();
  if (!document.is_object() || list == document.end() || !list->is_array()) return;
  for (const json& entry : *list) {
    const auto name = entry.is_object() ? entry.find("name") : entry.end();
    if (!entry.is_object() || name == entry.end() || !name->is_string()) continue;
    for (RemoteModel& model : models)
      if (model.capabilities.empty() && model.id == name->get<std::string>())
        model.capabilities = capabilities_of(entry);
  }
}

// Levenshtein distance: insertions, deletions and replacements.
size_t distance(const std::string& a, const std::string& b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({diagonal + (a[i] != b[j] ? 1 : 0), row[j] + 1, row[j + 1] + 1}));
  }
  return row.back();
}

void read_limit(const char* name, std::chrono::milliseconds unit, std::chrono::milliseconds& limit) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == 0) return;
  const std::string_view text = value;
  const std::optional<int64_t> number = number_in<int64_t>(text);
  if (!number || *number < 1 || *number > 1'000'000)
    throw Error(std::string(name) + " takes a whole number from 1 to 1,000,000, found '" + printable(text) + "'");
  limit = *number * unit;
}

}  // namespace

std::string base_url(std::string_view text) {
  const std::string url = with_scheme(std::string(text));
  const std::string origin = origin_of(url);
  const size_t path = url.find('/', url.find("://") + 3);
  if (!origin.empty() && url.find('?') != std::string::npos)
    throw Error("an endpoint's address has no '?', found '" + printable(text) +
                "'; leave out what follows it (for Azure, the address ends with /openai/v1)");
  if (origin.empty() || url.find_first_of("# ") != std::string::npos || url.substr(0, path).find('@') != url.npos)
    throw Error("an endpoint is a web address such as http://127.0.0.1:8000/v1, found '" + printable(text) + "'");
  std::string below = path == std::string::npos ? "" : url.substr(path);
  drop_slashes(below);
  for (const std::string_view ending : kEndings) {
    if (below.ends_with(ending)) below.resize(below.size() - ending.size());
  }
  return origin + (below.empty() ? "/v1" : below);
}

bool is_server_address(std::string_view text) {
  const std::string url(text);
  if (url.find_first_of(" \t\n") != std::string::npos) return false;
  return has_scheme(url) ? !origin_of(url).empty() : is_loopback("http://" + url) || port_in(url);
}

void read_limits(Endpoint& endpoint) {
  read_limit("WARPCHAT_ENDPOINT_TIMEOUT", milliseconds(1000), endpoint.first_token_limit);
  read_limit("WARPCHAT_ENDPOINT_STALL", milliseconds(1000), endpoint.stall);
  read_limit("WARPCHAT_ENDPOINT_WAIT_MS", milliseconds(1), endpoint.first_wait);
}

HttpOptions http_options(const Endpoint& endpoint) {
  HttpOptions options;
  options.token = endpoint.key;
  options.origin = origin_of(endpoint.url);
  options.user_agent = endpoint.user_agent;
  return options;
}

bool is_mistral(const Endpoint& endpoint) {
  const std::string host = "." + host_of(endpoint.url);
  return host.ends_with(".mistral.ai");
}

std::vector<RemoteModel> parse_models(const std::string& body) {
  const json document = try_parse_untrusted_json(body);
  if (document.is_discarded()) throw Error("it is not JSON");
  const json* list = document.is_array() ? &document : nullptr;
  if (document.is_object() && document.contains("data")) list = &document["data"];
  if (list == nullptr || !list->is_array())
    throw Error("it is not a list of models but '" + printable(body, kShownBody) + "'");
  std::vector<RemoteModel> models;
  for (const json& model : *list) {
    if (!model.is_object() || !model.contains("id") || !model["id"].is_string()) continue;
    models.push_back({model["id"].get<std::string>(), context_of(model), kind_of(model), capabilities_of(model)});
  }
  add_listed_capabilities(document, models);
  if (models.empty() && !list->empty())
    throw Error("no entry has a text as 'id', as in '" + printable(list->front().dump(), kShownBody) + "'");
  return models;
}

std::optional<NextTry> next_try(const Endpoint& endpoint, const HttpAnswer& answer, int n_tries) {
  const milliseconds wanted = answer.retry_after();
  if ((answer.status != 429 && answer.status != 503) || n_tries >= kMaxTries || wanted > kLongestWait ||
      is_quota_spent(answer))
    return std::nullopt;
  const auto wait = std::max<milliseconds>(endpoint.first_wait * (1 << (n_tries - 1)), wanted);
  return NextTry{wait, refusal(endpoint, answer, /*n_tries=*/0) + "; try " + std::to_string(n_tries + 1) + " of " +
                           std::to_string(kMaxTries) + " in " + seconds_text(wait)};
}

std::vector<RemoteModel> list_models(const Endpoint& endpoint, const Waiting& waiting) {
  const auto is_cancelled = [&] { return waiting.cancelled && waiting.cancelled(); };
  HttpClient client(http_options(endpoint));
  const HttpRequest request{
      .url = endpoint.url + "/models", .redirects = Redirects::kNone, .timeout = kListTimeout, .longest_silence = [&] {
        return is_cancelled() ? milliseconds(0) : kListTimeout;
      }};
  HttpAnswer answer = client.send(request);
  int n_tries = 1;
  while (const std::optional<NextTry> next = next_try(endpoint, answer, n_tries)) {
    if (waiting.note) waiting.note(next->sentence);
    const auto end = std::chrono::steady_clock::now() + next->wait;
    while (std::chrono::steady_clock::now() < end && !is_cancelled()) client.wait(std::min(next->wait, kWaitSlice));
    answer = client.send(request);
    ++n_tries;
  }
  if (answer.status != 200) throw ErrorWithRemedy(refusal(endpoint, answer, n_tries), remedy_of_refusal(answer));
  require_no_web_page(host_of(endpoint.url), answer.body);
  try {
    return parse_models(answer.body);
  } catch (const Error& fault) {
    throw Error("cannot read the model list of " + host_of(endpoint.url) + ": " + fault.what() +
                "; name a model, then no list is needed");
  }
}

std::string near_names(const std::vector<RemoteModel>& models, const std::string& wanted) {
  std::vector<std::pair<size_t, std::string>> names;
  for (const RemoteModel& model : models) {
    const std::string id = model.id.substr(0, kLongestCompared);
    names.emplace_back(distance(lower_case(id), lower_case(wanted.substr(0, kLongestCompared))), model.id);
  }
  std::sort(names.begin(), names.end());
  std::string list;
  for (size_t i = 0; i < std::min(names.size(), kNearNames); ++i) list += (i ? ", " : "") + printable(names[i].second);
  return list + (names.size() > kNearNames ? ", ..." : "");
}

}  // namespace warpchat
