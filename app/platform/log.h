// The log file: what the program does and how long it takes, never message texts.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

void open_log(const std::string& path);  // appends; Error if it cannot be opened
bool has_log();
void log_line(std::string_view text);  // nothing happens without a log

}  // namespace warpchat
