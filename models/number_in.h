// Numbers in texts.
#pragma once
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace warpchat {

// The whole text as a number of this type, independent of the locale; nullopt for anything else.
template <class T>
std::optional<T> number_in(std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace warpchat
