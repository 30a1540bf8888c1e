#include "app/tools/read_file_tool.h"

#include <fcntl.h>

#include <algorithm>

#include "app/platform/text_input.h"
#include "app/tools/file_text.h"
#include "app/tools/tool_arguments.h"
#include "models/error.h"
#include "models/human_bytes.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

constexpr uint64_t kMaxLine = 1'000'000'000;
constexpr uint64_t kMaxScannedBytes = uint64_t{4} << 30;  // to find a line
constexpr uint64_t kMaxPdfMilliseconds = 30'000;
constexpr size_t kMaxNames = 1000;  // of a folder

std::string list_folder(const FoundEntry& folder) {
  std::vector<std::string> names = names_in(folder.descriptor, kMaxNames + 1);
  const bool is_cut = names.size() > kMaxNames;
  if (is_cut) names.pop_back();
  std::string list =
      folder.path + " is a folder, which has " + (names.empty() ? "no files" : "these files and folders") + "\n";
  for (const std::string& name : names) {
    struct stat status = {};
    const bool is_folder =
        fstatat(folder.descriptor.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
    list += printable(name, 1000) + (is_folder ? "/\n" : "\n");
  }
  return list + (is_cut ? "[cut: there are more than " + grouped(kMaxNames) + " names]\n" : "");
}

std::string list_labels(const OpenedFolders& folders) {
  std::string list = "these folders are opened\n";
  for (const std::string& label : folders.labels()) list += label + "/\n";
  return list;
}

// What is left out of the file, and how to get it; empty: nothing behind the lines is.
std::string note_of_cut(LineSlice& slice, uint64_t first, const std::string& size, bool is_at_end) {
  const uint64_t last = first + slice.n_complete() - 1;
  if (slice.is_cut()) {
    const bool is_one_line = slice.n_complete() == 0;
    const uint64_t next = slice.drop_cut_line();
    return "\n[cut: " +
           (is_one_line ? "the first " + grouped(slice.text().size()) + " bytes of line " + std::to_string(first)
                        : "lines " + std::to_string(first) + " to " + std::to_string(last)) +
           " of " + size + "; go on with first_line " + std::to_string(next) + "]";
  }
  if (is_at_end) return "";
  return "\n[lines " + std::to_string(first) + " to " + std::to_string(last) + " of " + size + "]";
}

}  // namespace

nlohmann::json read_file_schema() {
  return {
      {"type", "object"},
      {"properties",
       {{"path", {{"type", "string"}, {"description", "of the file or folder, such as src/main.cpp"}}},
        {"first_line",
         {{"type", "integer"}, {"minimum", 1}, {"maximum", kMaxLine}, {"description", "where to begin; default 1"}}},
        {"lines",
         {{"type", "integer"}, {"minimum", 1}, {"maximum", kMaxLine}, {"description", "how many; default all"}}}}},
      {"required", {"path"}},
      {"additionalProperties", false}};
}

std::string read_file(const OpenedFolders& folders, const nlohmann::json& json, std::stop_token stop) {
  const ToolArguments arguments(read_file_schema(), json);
  const std::string path = arguments.text("path");
  if (folders.is_list(path)) return list_labels(folders);
  const FoundEntry file = folders.open(path);
  if (file.is_folder()) return list_folder(file);
  const std::string begin = read_at(file, 0, kKindBytes);
  if (begin.empty()) return "[" + file.path + " is empty]";
  const FileKind kind = kind_of_file(begin);
  if (kind == FileKind::kBinary) {
    require_text(begin, file.path);  // names the kind
    throw Error("cannot read " + file.path + ": it is a binary file; only text can be read");
  }
  const uint64_t first = arguments.count("first_line").value_or(1);
  LineSlice slice(first, arguments.count("lines").value_or(kMaxLine), kMaxReadBytes);
  bool is_at_end = false;
  if (kind == FileKind::kPdf) {
    is_at_end = slice.add(text_of_pdf_file(file, stop, kMaxPdfMilliseconds));
  } else {
    is_at_end = true;
    uint64_t n_scanned = 0;
    read_pieces(file, stop, [&](std::string_view piece) {
      if (n_scanned == 0) piece = without_byte_order_mark(piece);
      if ((n_scanned += piece.size()) > kMaxScannedBytes)
        throw Error("cannot read line " + std::to_string(first) + " of " + file.path + ": the first " +
                    human_bytes(kMaxScannedBytes) + " of it have fewer lines");
      return is_at_end = slice.add(piece);
    });
  }
  if (slice.text().empty()) throw Error(file.path + " has only " + counted(slice.n_lines_seen(), "line"));
  const std::string size = kind == FileKind::kPdf ? "a PDF" : "a file of " + counted(file.status.st_size, "byte");
  const std::string note = note_of_cut(slice, first, size, is_at_end);
  std::string text = as_text(slice.text());
  if (text != slice.text()) text += "\n[bytes that are not UTF-8 are shown as \uFFFD]";
  return text + note;
}

}  // namespace warpchat
