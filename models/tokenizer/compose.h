// Unicode Normalisation Form C: a letter and the marks behind it become one character where there is one.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// text: valid UTF-8. Its composed form, written to `storage` unless it is the text itself. Linear in the text.
std::string_view compose_text(std::string_view text, std::string& storage);

}  // namespace warpchat
