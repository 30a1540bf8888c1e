// The reason in a server's error body, whatever its shape.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// The text with every occurrence of the key replaced by "[API key]". Short keys such as "none" only as whole words.
std::string without_key(std::string text, const std::string& key);

// The texts in the body that say what is wrong, outermost first, shortened and printable; without any, the body itself.
// Empty for an empty body and for a web page. The key is never part of it.
std::string server_words(std::string_view body, const std::string& key);

}  // namespace warpchat
