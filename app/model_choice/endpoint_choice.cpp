// Names, addresses, keys and models of endpoints, as the command line gives them.
#include "app/model_choice/endpoint_choice.h"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "app/model_choice/endpoint_changes.h"
#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/program_name.h"
#include "app/platform/version.h"
#include "engine/http/http_url.h"
#include "engine/hub/model_name.h"
#include "engine/remote/served_context.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kMaxChoices = 20;  // in a sentence

std::string names_of(const std::vector<NamedEndpoint>& endpoints) {
  return word_list(endpoints, ", ", &NamedEndpoint::name);
}

// What looks like a name is no address, so that a mistyped name is reported as one.
NamedEndpoint named_endpoint(const std::string& text) {
  const EndpointBook book;
  if (book.find(text) == nullptr && is_endpoint_name(text) && !is_server_address(text))
    throw UsageError("no endpoint is named '" + text + "'" +
                     (book.all().empty() ? "" : "; known: " + names_of(book.all())) + "; '" + program_name() +
                     " endpoint add NAME URL' adds one, and an address begins with http:// or https://");
  return stored_or_new_endpoint(text);
}

std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr || *value == 0)
    throw UsageError("the variable " + printable(name) + " is not set; set it to the endpoint's key");
  return value;
}

Endpoint endpoint_at(const std::string& url) {
  Endpoint endpoint;
  endpoint.url = url;
  endpoint.user_agent = std::string("warpchat/") + kVersion;
  read_limits(endpoint);
  return endpoint;
}

void read_key(const NamedEndpoint& named, const std::string& variable_name, Endpoint& endpoint) {
  if (!variable_name.empty()) {
    endpoint.key = variable(variable_name);
    endpoint.key_source = "the variable " + variable_name;
  } else if (named.key_place) {
    endpoint.key = find_key(named.name, *named.key_place).value_or("");
    endpoint.key_source = *named.key_place == KeyPlace::kKeyring ? "the desktop's keyring" : key_file();
    if (endpoint.key.empty())
      throw ErrorWithRemedy("the key of endpoint '" + named.name + "' is missing from " + endpoint.key_source,
                            Remedy::Kind::kEndpointKey);
  }
  while (!endpoint.key.empty() && std::string_view(" \t\r\n").find(endpoint.key.back()) != std::string_view::npos)
    endpoint.key.pop_back();
  if (!has_only_key_characters(endpoint.key))
    throw Error("the key in " + endpoint.key_source + " has characters that a key cannot have");
}

std::string choices(const std::vector<RemoteModel>& models) {
  const auto shown = std::span(models).first(std::min(models.size(), kMaxChoices));
  return word_list(shown, ", ", [](const RemoteModel& model) { return printable(model.id); }) +
         (models.size() > kMaxChoices ? ", ...; --list-models lists all " + grouped(models.size()) : "");
}

// nullopt: the server does not list its models.
std::optional<std::vector<RemoteModel>> listed_models(const Endpoint& endpoint, const Waiting& waiting) {
  try {
    return list_models(endpoint, waiting);
  } catch (const HttpBroken&) {
    throw;
  } catch (const Error&) {
    return std::nullopt;
  }
}

RemoteModel only_model(const Endpoint& endpoint, const std::vector<RemoteModel>& models, const std::string& missing) {
  const std::string host = host_of(endpoint.url);
  if (models.empty()) throw UsageError(host + " lists no models; name one with -m");
  if (models.size() > 1)
    throw SeveralServedModels(host + " has several models" +
                                  (missing.empty() ? "" : " and no longer '" + printable(missing) + "'") +
                                  "; name one with -m: " + choices(models),
                              models);
  return models.front();
}

RemoteModel default_model(const Endpoint& endpoint, const std::string& name, const Waiting& waiting) {
  if (name.empty()) return only_model(endpoint, list_models(endpoint, waiting), "");
  const std::optional<std::vector<RemoteModel>> models = listed_models(endpoint, waiting);
  if (!models) return {name};
  const auto found = std::ranges::find(*models, name, &RemoteModel::id);
  return found != models->end() ? *found : only_model(endpoint, *models, name);
}

}  // namespace

bool is_endpoint(const std::string& text) {
  return (is_server_address(text) && !is_hub_address(text)) || EndpointBook().find(text) != nullptr;
}

std::optional<LastServer> last_known_server() {
  const std::optional<LastServer> last = last_server(state_directory());
  try {
    return last && is_endpoint(last->endpoint) ? last : std::nullopt;
  } catch (const Error&) {  // lists of servers report the damage
    return std::nullopt;
  }
}

Endpoint find_endpoint(const ChatOptions& options) {
  const NamedEndpoint named = named_endpoint(options.endpoint);
  Endpoint endpoint = endpoint_at(named.url);
  read_key(named, options.api_key_env.empty() ? named.key_variable : options.api_key_env, endpoint);
  return endpoint;
}

NamedEndpoint stored_or_new_endpoint(const std::string& text) {
  const EndpointBook book;
  if (const NamedEndpoint* found = book.find(text)) return *found;
  const std::string url = base_url(text);
  if (const NamedEndpoint* found = book.find_url(url)) return *found;
  return {"", url, "", std::nullopt};
}

Endpoint open_with_key(const NamedEndpoint& named, const std::string& key) {
  Endpoint endpoint = endpoint_at(named.url);
  if (key.empty()) {
    read_key(named, named.key_variable, endpoint);
  } else {
    require_key(key);
    endpoint.key = key;
    endpoint.key_source = "your input";
  }
  return endpoint;
}

Waiting wait_at_terminal() {
  return {.note = [](const std::string& sentence) { print_error(sentence); }};
}

RemoteModel choose_remote_model(const Endpoint& endpoint, const ChatOptions& options, const Waiting& waiting) {
  const std::string& name = options.model;
  if (name.empty()) return default_model(endpoint, stored_or_new_endpoint(options.endpoint).model, waiting);
  const std::optional<std::vector<RemoteModel>> models = listed_models(endpoint, waiting);
  if (!models) return {name};
  std::vector<RemoteModel> near;
  for (const RemoteModel& model : *models) {
    if (model.id == name) return model;
    if (lower_case(model.id).find(lower_case(name)) != std::string::npos) near.push_back(model);
  }
  if (near.size() > 1)
    throw UsageError(host_of(endpoint.url) + " has several models like '" + printable(name) + "': " + choices(near));
  return near.empty() ? RemoteModel{name} : near.front();
}

std::unique_ptr<RemoteResponder> open_endpoint(const ChatOptions& options, const Waiting& waiting) {
  const Endpoint endpoint = find_endpoint(options);
  RemoteModel model = choose_remote_model(endpoint, options, waiting);
  model.context = served_context(endpoint, model);
  return std::make_unique<RemoteResponder>(endpoint, model);
}

std::string where_text_goes(const std::string& url) {
  if (url.empty() || is_loopback(url)) return "";
  return host_of(url) + (url.starts_with("http://") ? ", without encryption" : "");
}

}  // namespace warpchat
