// Changes of the stored endpoints and their keys.
#pragma once
#include <string>

#include "app/endpoint_book.h"

namespace warpchat {

// Stores the endpoint in place of one of its name, whose key is forgotten; one without a name gets its host's. key: to
// be stored for it; empty: none. Returns the name. UsageError for an invalid name or key, Error if it cannot be stored.
std::string store_endpoint(NamedEndpoint endpoint, const std::string& key);

void rename_endpoint(const std::string& from,
                     const std::string& to);    // with its key; errors as above, or if `to` exists
void remove_endpoint(const std::string& name);  // with its key; UsageError if there is none

void require_endpoint_name(const std::string& name);  // UsageError if it is invalid
void require_key(const std::string& key);             // UsageError if it is invalid

}  // namespace warpchat
