// Text for error messages: readable numbers, and names from files without control characters.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace warpchat {

// 1932735904 -> "1,932,735,904".
std::string grouped(uint64_t number);

// The text with control characters and invalid UTF-8 as \xHH, cut to `limit` bytes (marked by an ellipsis).
std::string printable(std::string_view text, size_t limit = 80);

// "1 token", "2 tokens", "1,024 tokens".
std::string counted(uint64_t number, std::string_view noun);

}  // namespace warpchat
