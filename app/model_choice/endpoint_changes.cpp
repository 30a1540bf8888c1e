// A key is stored under its endpoint's name, so it changes together with the book.
#include "app/model_choice/endpoint_changes.h"

#include <algorithm>
#include <utility>

#include "app/model_choice/model_lookup.h"
#include "engine/http/http_url.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

constexpr size_t kLongestHost = 50;             // bytes of it in a name
constexpr const char* kThisHost = "localhost";  // is an address, so no name

// A name made of the address's host and port, with a number if that name is taken.
std::string free_name(const EndpointBook& book, const std::string& url) {
  std::string host = host_of(url).substr(0, kLongestHost);
  for (char& c : host)
    if (!is_endpoint_name({'x', c})) c = '-';
  host.erase(0, host.find_first_not_of('-'));
  std::string name = host;
  for (int n = 2; name == kThisHost || book.find(name) != nullptr; ++n) name = host + "-" + std::to_string(n);
  return name;
}

const NamedEndpoint& endpoint_in(const EndpointBook& book, const std::string& name) {
  const NamedEndpoint* endpoint = book.find(name);
  if (endpoint == nullptr) throw UsageError("no endpoint is named '" + printable(name) + "'");
  return *endpoint;
}

void forget_key_of(const NamedEndpoint& endpoint) {
  if (endpoint.key_place) forget_key(endpoint.name, *endpoint.key_place);
}

}  // namespace

bool can_name_endpoint(const std::string& name) { return is_endpoint_name(name) && name != kThisHost; }

void require_endpoint_name(const std::string& name) {
  if (!can_name_endpoint(name))
    throw UsageError("an endpoint's name may have letters, digits, - _ and dots, found '" + printable(name) + "'");
}

bool has_only_key_characters(const std::string& key) {
  return std::all_of(key.begin(), key.end(), [](char c) { return c > ' ' && c < 127; });
}

void require_key(const std::string& key) {
  if (key.empty() || !has_only_key_characters(key)) throw UsageError("a key has only ASCII characters and no spaces");
}

std::string store_endpoint(NamedEndpoint endpoint, const std::string& key) {
  EndpointBook book;
  if (endpoint.name.empty()) endpoint.name = free_name(book, endpoint.url);
  require_endpoint_name(endpoint.name);
  if (!key.empty()) require_key(key);
  if (const NamedEndpoint* before = book.find(endpoint.name)) forget_key_of(*before);
  endpoint.key_place.reset();
  if (!key.empty()) {
    endpoint.key_variable.clear();
    endpoint.key_place = store_key(endpoint.name, key);
  }
  std::string name = endpoint.name;
  book.put(std::move(endpoint));
  book.save();
  return name;
}

void rename_endpoint(const std::string& from, const std::string& to) {
  if (from == to) return;
  require_endpoint_name(to);
  EndpointBook book;
  const NamedEndpoint before = endpoint_in(book, from);
  if (book.find(to) != nullptr) throw UsageError("there is another endpoint named '" + to + "'; choose another name");
  NamedEndpoint renamed = before;
  renamed.name = to;
  if (before.key_place) {
    const std::optional<std::string> key = find_key(from, *before.key_place);
    renamed.key_place = key ? std::optional(store_key(to, *key)) : std::nullopt;
  }
  book.replace(from, std::move(renamed));
  book.save();
  forget_key_of(before);
}

void set_default_model(const std::string& endpoint, const std::string& model) {
  EndpointBook book;
  NamedEndpoint changed = endpoint_in(book, endpoint);
  changed.model = model;
  book.put(std::move(changed));
  book.save();
}

void remove_endpoint(const std::string& name) {
  EndpointBook book;
  forget_key_of(endpoint_in(book, name));
  book.remove(name);
  book.save();
}

}  // namespace warpchat
