// Text that comes from outside: standard input, files, flags. Everything that reaches a tokeniser is valid UTF-8.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpchat {

// Error "SOURCE: byte 1,234 is not valid UTF-8; ..." if the text is invalid.
void require_utf8(std::string_view text, const std::string& source);

// The same for a file's content; the error names other formats, such as a PDF, an image or Latin-1.
void require_text(std::string_view text, const std::string& source);

// All bytes up to the end. Error naming the source if it cannot be read.
std::string read_standard_input();
std::string read_file(const std::string& path);

// The same for regular files up to max_bytes. Error for a folder, a device, a pipe.
std::string read_regular_file(const std::string& path, uint64_t max_bytes);

// The text without its last line end, which files and `echo` add.
std::string without_last_newline(std::string text);

}  // namespace warpchat
