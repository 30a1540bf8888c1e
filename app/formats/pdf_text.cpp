// Untrusted files are parsed in another process.
#include "app/formats/pdf_text.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "app/platform/child_process.h"
#include "app/platform/output.h"
#include "app/platform/signals.h"
#include "app/platform/text_input.h"
#include "models/error.h"
#include "models/human_bytes.h"

namespace warpchat {

namespace {

constexpr std::chrono::milliseconds kMaxTime{30'000};
constexpr uint64_t kMaxMemory = 1 << 30;
constexpr std::string_view kPdfBegin = "%PDF-";
constexpr int kForbidden = 3;  // pdftotext's exit code

std::string fault_of(const ChildEnd& end, uint64_t max_bytes, std::chrono::milliseconds max_time) {
  switch (end.kind) {
    case ChildEnd::Kind::kNotFound:
      return "it is a PDF, and pdftotext is not installed; install poppler-utils";
    case ChildEnd::Kind::kTooLong:
      return "reading it took longer than " + std::to_string(max_time.count() / 1000) + " s; attach fewer pages";
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

// `file`: a path, or "-" for the opened one. `source` is its name for people.
struct Pdf {
  std::string file, source;
  uint64_t max_bytes;
  std::chrono::milliseconds max_time = kMaxTime;
  int input = -1;
};

std::string read_pdf(const Pdf& pdf, const std::atomic<bool>& stopped) {
  ChildEnd end = run_child({"pdftotext", "-enc", "UTF-8", "-eol", "unix", "-nopgbrk", pdf.file, "-"},
                           {pdf.max_time, kMaxMemory, pdf.max_bytes}, stopped, pdf.input);
  if (end.kind == ChildEnd::Kind::kStopped) return "";
  const std::string cannot_read = "cannot read " + pdf.source + ": ";
  if (const std::string fault = fault_of(end, pdf.max_bytes, pdf.max_time); !fault.empty())
    throw Error(cannot_read + fault);
  std::erase(end.text, '\0');
  if (end.text.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(cannot_read + "it has no text (a scan?); add text with a program such as ocrmypdf");
  require_utf8(end.text, pdf.source);
  return end.text;
}

// A file that only its owner can read, and that is gone with this object or the program.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view bytes) : path_(new_path()) {
    OutputFile file(path_, OutputFile::Readers::kOwner);
    file.write(bytes.data(), bytes.size());
    file.finish();
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  static std::string new_path() {
    std::string name = (std::filesystem::temp_directory_path() / "warpchat-pdf-XXXXXX").string();
    const int fd = mkstemp(name.data());
    if (fd < 0) throw Error("cannot write " + name + ": " + std::strerror(errno));
    close(fd);
    return name;
  }
  std::string path_;
  RemovedOnExit doomed_{path_};
};

}  // namespace

bool is_pdf(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return false;
  std::ifstream file(path, std::ios::binary);
  char start[kPdfBegin.size()] = {};
  return file.read(start, sizeof start) && has_pdf({start, sizeof start});
}

bool has_pdf(std::string_view bytes) { return bytes.starts_with(kPdfBegin); }

std::string text_of_pdf(const std::string& path, uint64_t max_bytes, const std::atomic<bool>& stopped) {
  return read_pdf({std::filesystem::absolute(path).string(), path, max_bytes}, stopped);  // no name is a flag
}

std::string text_of_opened_pdf(int descriptor, const std::string& source, uint64_t max_bytes,
                               std::chrono::milliseconds max_time, const std::atomic<bool>& stopped) {
  return read_pdf({"-", source, max_bytes, max_time, descriptor}, stopped);
}

std::string text_of_pdf_bytes(std::string_view bytes, const std::string& source, uint64_t max_bytes) {
  const TemporaryFile file(bytes);
  const std::atomic<bool> goes_on = false;
  return read_pdf({std::filesystem::absolute(file.path()).string(), source, max_bytes}, goes_on);
}

}  // namespace warpchat
