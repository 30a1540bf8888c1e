// Addresses of schemas: what RFC 3986 says about references.
#pragma once
#include <string>
#include <string_view>

namespace warpchat::grammar {

// The address of a reference that stands in a document with the address `base` (section 5.2).
std::string resolve_uri(std::string_view base, std::string_view reference);

std::string without_fragment(std::string_view uri);
std::string decode_percent(std::string_view text);  // "%25" as "%"; what is no escape stays

}  // namespace warpchat::grammar
