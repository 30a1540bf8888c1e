// Numbers as the window writes them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "app/platform/text/numbers.h"

namespace warpchat::gui {

std::string compact(uint64_t n);                      // "950", "1.2k", "34k", "1.5M"
std::string as_sentence(std::string_view message);    // with a capital, unless it begins with a name of a file
std::string full_sentence(std::string_view message);  // the same with a full stop, unless it ends with a mark
std::string seconds_text(double seconds);             // "85 ms", "1.4 s"

// "40 tokens  ·  500 of 8.2k": unsent, used and context in tokens. context 0: unknown, "540 tokens" or nothing.
std::string context_text(uint64_t used, uint64_t unsent, uint32_t context);

}  // namespace warpchat::gui
