// Untrusted files are parsed in another process.
#include "app/pdf_text.h"

#include <filesystem>
#include <fstream>

#include "app/child_process.h"
#include "app/text_input.h"
#include "models/error.h"
#include "models/human_bytes.h"

namespace warpchat {

namespace {

constexpr std::chrono::seconds kMaxTime{30};
constexpr uint64_t kMaxMemory = 1 << 30;
constexpr int kForbidden = 3;  // pdftotext's exit code

std::string fault_of(const ChildEnd& end, uint64_t max_bytes) {
  switch (end.kind) {
    case ChildEnd::Kind::kNotFound:
      return "it is a PDF, and pdftotext is not installed; install poppler-utils";
    case ChildEnd::Kind::kTooLong:
      return "reading it took longer than " + std::to_string(kMaxTime.count()) + " s; attach fewer pages";
    case ChildEnd::Kind::kTooMuch:
      return "it has more than " + human_bytes(max_bytes) + " of text; attach fewer pages";
    case ChildEnd::Kind::kExited:
    case ChildEnd::Kind::kCrashed:
    case ChildEnd::Kind::kStopped:
      break;
  }
  if (end.kind == ChildEnd::Kind::kExited && end.code == 0) return "";
  if (end.errors.find("Incorrect password") != std::string::npos)
    return "it is encrypted; save it without a password first";
  if (end.kind == ChildEnd::Kind::kExited && end.code == kForbidden) return "it does not allow copying its text";
  if (end.kind == ChildEnd::Kind::kCrashed || end.errors.find("memory") != std::string::npos)
    return "pdftotext needs more than " + std::to_string(kMaxMemory >> 30) + " GiB of memory for it";
  return "it is a damaged PDF";
}

}  // namespace

bool is_pdf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  char start[5] = {};
  return file.read(start, sizeof start) && std::string_view(start, sizeof start) == "%PDF-";
}

std::string text_of_pdf(const std::string& path, uint64_t max_bytes, const std::atomic<bool>& stopped) {
  const std::string file = std::filesystem::absolute(path).string();  // no name is a flag
  ChildEnd end = run_child({"pdftotext", "-enc", "UTF-8", "-eol", "unix", "-nopgbrk", file, "-"},
                           {kMaxTime, kMaxMemory, max_bytes}, stopped);
  if (end.kind == ChildEnd::Kind::kStopped) return "";
  if (const std::string fault = fault_of(end, max_bytes); !fault.empty())
    throw Error("cannot read " + path + ": " + fault);
  std::erase(end.text, '\0');
  if (end.text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error("cannot read " + path + ": it has no text (a scan?); add text with a program such as ocrmypdf");
  require_utf8(end.text, path);
  return end.text;
}

}  // namespace warpchat
