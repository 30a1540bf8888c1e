// Changes of the stored endpoints and their keys.
#pragma once
#include <string>

#include "app/model_choice/endpoint_book.h"

namespace warpchat {

// Stores the endpoint in place of one of its name, whose key is forgotten; one without a name gets its host's. key: to
// be stored for it; empty: none. Returns the name. UsageError for an invalid name or key, Error if it cannot be stored.
std::string store_endpoint(NamedEndpoint endpoint, const std::string& key);

// With its key; errors as above, or if `to` exists.
void rename_endpoint(const std::string& from, const std::string& to);
void set_default_model(const std::string& endpoint, const std::string& model);  // empty: none
void remove_endpoint(const std::string& name);  // with its key; UsageError if there is none

bool can_name_endpoint(const std::string& name);      // is_endpoint_name(), and no address
void require_endpoint_name(const std::string& name);  // UsageError if it is invalid
bool has_only_key_characters(const std::string& key);
void require_key(const std::string& key);  // UsageError if it is empty or has others

}  // namespace warpchat
