// Endpoints by name, in endpoints.json of the configuration; their keys are elsewhere (key_store.h).
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/platform/key_store.h"

namespace warpchat {

struct NamedEndpoint {
  std::string name, url;
  std::string key_variable;           // the environment variable that holds its key; empty: none
  std::optional<KeyPlace> key_place;  // where its key is kept; nullopt: nowhere
  std::string model = {};             // that answers if none is named; empty: its only one
};

class EndpointBook {
 public:
  EndpointBook();  // as it is on disk, empty where there is none; Error for a damaged one

  const std::vector<NamedEndpoint>& all() const { return all_; }
  const NamedEndpoint* find(const std::string& name) const;
  const NamedEndpoint* find_url(const std::string& url) const;  // the first with this address

  void put(NamedEndpoint endpoint);                               // in place of one of that name
  void replace(const std::string& name, NamedEndpoint endpoint);  // the one of that name, at its place
  void remove(const std::string& name);
  void save() const;  // at once or not at all; Error if it cannot be written

 private:
  std::string path_;
  std::vector<NamedEndpoint> all_;
};

// A valid name differs from an address: letters, digits, - _ and dots, at most 64.
bool is_endpoint_name(const std::string& text);

}  // namespace warpchat
