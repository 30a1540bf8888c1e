// Table of context sources by server.
#include "engine/remote/served_context.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/http/http_client.h"
#include "engine/untrusted_json.h"

namespace warpchat {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds kContextTimeout{5};

uint32_t tokens(const json& number) {
  const double n = number.is_number() ? number.get<double>() : 0;
  return n >= 1 && n < 4e9 ? static_cast<uint32_t>(n) : 0;
}

// {"default_generation_settings": {"n_ctx"}}: per slot.
uint32_t of_props(const json& answer, const std::string&) {
  return tokens(answer.value("/default_generation_settings/n_ctx"_json_pointer, json()));
}

// {"models": [{"name", "context_length"}]}: loaded models.
uint32_t of_loaded(const json& answer, const std::string& id) {
  for (const json& model : answer.value("models", json::array()))
    if (model.value("name", "") == id) return tokens(model.value("context_length", json()));
  return 0;
}

// {"parameters": "num_ctx 8192\nstop \"...\""}
uint32_t of_modelfile(const json& answer, const std::string&) {
  std::istringstream lines(answer.value("parameters", ""));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    double number = 0;
    if (words >> name >> number && name == "num_ctx") return tokens(number);
  }
  return 0;
}

struct Source {
  ServerKind kind;
  const char* path;  // next to the endpoint's /v1
  bool names_model;  // POST with the model's name; else GET
  uint32_t (*read)(const json& answer, const std::string& id);
};
constexpr Source kSources[] = {
    {ServerKind::kLlamaCpp, "/props", false, of_props},
    {ServerKind::kOllama, "/api/ps", false, of_loaded},
    {ServerKind::kOllama, "/api/show", true, of_modelfile},
};

uint32_t ask(HttpClient& client, const std::string& base, const Source& source, const std::string& id) {
  HttpRequest request{.url = base + source.path, .redirects = Redirects::kNone, .timeout = kContextTimeout};
  if (source.names_model) request.json = json{{"model", id}}.dump(-1, ' ', false, json::error_handler_t::replace);
  try {
    const HttpAnswer answer = client.send(request);
    return answer.status == 200 ? source.read(try_parse_untrusted_json(answer.body), id) : 0;
  } catch (const Error&) {  // optional information
  } catch (const json::exception&) {
  }
  return 0;
}

}  // namespace

uint32_t served_context(const Endpoint& endpoint, const RemoteModel& model) {
  if (!endpoint.url.ends_with("/v1")) return model.context;
  const std::string base = endpoint.url.substr(0, endpoint.url.size() - 3);
  HttpClient client(http_options(endpoint));
  for (const Source& source : kSources) {
    const uint32_t n = source.kind == model.kind ? ask(client, base, source, model.id) : 0;
    if (n > 0) return n;
  }
  return model.context;
}

}  // namespace warpchat
