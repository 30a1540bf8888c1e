// Text that comes from outside: standard input, files, flags. Everything that reaches a tokeniser is valid UTF-8.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

// The offset of the first byte that is no part of a valid UTF-8 character; nullopt if there is none.
std::optional<size_t> invalid_utf8_at(std::string_view text);

// Error "SOURCE: byte 1,234 is not valid UTF-8; ..." if there is one.
void require_utf8(std::string_view text, const std::string& source);

// The same for what a file holds; one of another kind is called by its name: a PDF, a picture, a binary file.
void require_text(std::string_view text, const std::string& source);

// All bytes up to the end. Error naming the source if it cannot be read.
std::string read_standard_input();
std::string read_file(const std::string& path);

// The same of a file alone, and of nothing larger. Error for a folder, a device, a pipe.
std::string read_regular_file(const std::string& path, uint64_t most_bytes);

// The text without its last line end: files and `echo` end with one that nobody means.
std::string without_last_newline(std::string text);

}  // namespace warpchat
