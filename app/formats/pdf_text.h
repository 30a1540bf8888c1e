// The text of a PDF, as pdftotext of poppler-utils finds it.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace warpchat {

bool is_pdf(const std::string& path);  // a file that begins as one; false where it cannot be read
bool has_pdf(std::string_view bytes);  // they are a file's that begins as one

// UTF-8, in reading order. Error, one sentence with the path: poppler-utils is not installed, or the file is encrypted,
// damaged, a scan without text, or too large for the limits of time, memory and text. Empty once it is stopped.
std::string text_of_pdf(const std::string& path, uint64_t max_bytes, const std::atomic<bool>& stopped);

// The same of an opened file, which is read from where its descriptor stands.
std::string text_of_opened_pdf(int descriptor, const std::string& source, uint64_t max_bytes,
                               std::chrono::milliseconds max_time, const std::atomic<bool>& stopped);

// The same of a PDF's bytes, which come from `source`.
std::string text_of_pdf_bytes(std::string_view bytes, const std::string& source, uint64_t max_bytes);

}  // namespace warpchat
