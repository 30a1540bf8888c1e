// {"endpoints": [{"name", "url", "key": "keyring" | "file" | "variable:NAME", "model"}]}
#include "app/model_choice/endpoint_book.h"

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/text_input.h"
#include "engine/untrusted_json.h"
#include "models/error.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxBookBytes = 1 << 20;
constexpr size_t kMaxEndpointName = 64;
constexpr std::string_view kKeyring = "keyring", kFile = "file", kVariable = "variable:";

std::string key_text(const NamedEndpoint& endpoint) {
  if (!endpoint.key_variable.empty()) return std::string(kVariable) + endpoint.key_variable;
  if (!endpoint.key_place) return "";
  return std::string(*endpoint.key_place == KeyPlace::kKeyring ? kKeyring : kFile);
}

NamedEndpoint endpoint_of(const ordered_json& json) {
  NamedEndpoint endpoint{json.at("name").get<std::string>(), json.at("url").get<std::string>(), "", std::nullopt};
  endpoint.model = json.value("model", "");
  const std::string key = json.value("key", "");
  if (key == kKeyring) endpoint.key_place = KeyPlace::kKeyring;
  if (key == kFile) endpoint.key_place = KeyPlace::kFile;
  if (key.starts_with(kVariable)) endpoint.key_variable = key.substr(kVariable.size());
  return endpoint;
}

}  // namespace

bool is_endpoint_name(const std::string& text) {
  return !text.empty() && text.size() <= kMaxEndpointName && text.front() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.'; });
}

EndpointBook::EndpointBook() : path_(config_directory() + "/endpoints.json") {
  struct stat status;
  if (stat(path_.c_str(), &status) != 0) return;
  const std::string text = read_regular_file(path_, kMaxBookBytes);
  try {
    const ordered_json json = try_parse_untrusted_json<ordered_json>(text);
    for (const ordered_json& entry : json.at("endpoints")) all_.push_back(endpoint_of(entry));
  } catch (const nlohmann::json::exception&) {
    throw Error(path_ + " is not a list of endpoints; repair or delete it");
  }
}

const NamedEndpoint* EndpointBook::find(const std::string& name) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& e) { return e.name == name; });
  return found == all_.end() ? nullptr : &*found;
}

const NamedEndpoint* EndpointBook::find_url(const std::string& url) const {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& e) { return e.url == url; });
  return found == all_.end() ? nullptr : &*found;
}

void EndpointBook::put(NamedEndpoint endpoint) {
  const std::string name = endpoint.name;
  replace(name, std::move(endpoint));
}

void EndpointBook::replace(const std::string& name, NamedEndpoint endpoint) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const auto& e) { return e.name == name; });
  if (found == all_.end())
    all_.push_back(std::move(endpoint));
  else
    *found = std::move(endpoint);
}

void EndpointBook::remove(const std::string& name) {
  std::erase_if(all_, [&](const auto& e) { return e.name == name; });
}

void EndpointBook::save() const {
  ordered_json list = ordered_json::array();
  for (const NamedEndpoint& endpoint : all_) {
    list.push_back({{"name", endpoint.name}, {"url", endpoint.url}});
    if (const std::string key = key_text(endpoint); !key.empty()) list.back()["key"] = key;
    if (!endpoint.model.empty()) list.back()["model"] = endpoint.model;
  }
  if (!make_private_directory(config_directory())) throw Error("cannot create " + config_directory());
  write_file(path_, ordered_json{{"endpoints", list}}.dump(2) + "\n");
}

}  // namespace warpchat
