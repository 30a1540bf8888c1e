// A pattern is matched folder by folder; a folder stands for all that is below it.
#include "app/formats/found_files.h"

#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "app/formats/pdf_text.h"
#include "models/error.h"
#include "models/human_bytes.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxFiles = 1000;
constexpr size_t kMaxLooks = 100'000;         // entries of folders
constexpr uint64_t kMaxFoundBytes = 4 << 20;  // of all, as of one attached file
constexpr size_t kMaxNamed = 10;              // skipped files

bool has_pattern(std::string_view text) { return text.find_first_of("*?[") != std::string_view::npos; }

bool is_text_or_pdf(const std::string& path) {
  constexpr std::streamsize kLooksAt = 8192;
  std::string begin(kLooksAt, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(begin.data(), kLooksAt);
  begin.resize(static_cast<size_t>(file.gcount()));
  if (begin.find('\0') != std::string::npos) return false;
  const size_t invalid = find_invalid_utf8(begin);
  constexpr size_t kMaxCutOff = 3;  // bytes of a character that goes on behind them
  const bool is_cut = begin.size() == static_cast<size_t>(kLooksAt) && invalid + kMaxCutOff >= begin.size();
  return invalid == std::string::npos || is_cut || has_pdf(begin);
}

class FileSearch {
 public:
  explicit FileSearch(std::string named) : named_(std::move(named)) {}

  void add_all_below(const fs::path& folder) {
    for (const fs::directory_entry& entry : entries_of(folder)) {
      if (is_folder(entry))
        add_all_below(entry.path());
      else
        add(entry);
    }
  }

  // segments: of the pattern, below `folder`; the last one names files, or folders with all that is in them.
  void add_matching(const fs::path& folder, const std::vector<std::string>& segments, size_t at) {
    const std::string& segment = segments[at];
    const bool is_last = at + 1 == segments.size();
    if (segment == "**") {
      if (is_last) return add_all_below(folder);
      add_matching(folder, segments, at + 1);
      for (const fs::directory_entry& entry : entries_of(folder))
        if (is_folder(entry)) add_matching(entry.path(), segments, at);
      return;
    }
    if (!is_last && !has_pattern(segment)) return add_matching(folder / segment, segments, at + 1);
    for (const fs::directory_entry& entry : entries_of(folder, /*with_hidden=*/segment.starts_with('.'))) {
      if (fnmatch(segment.c_str(), entry.path().filename().c_str(), FNM_PERIOD) != 0) continue;
      if (is_last)
        add(entry);
      else if (is_folder(entry))
        add_matching(entry.path(), segments, at + 1);
    }
  }

  FoundFiles found() {
    FoundFiles files;
    std::ranges::sort(paths_);
    const auto same = std::ranges::unique(paths_);
    paths_.erase(same.begin(), same.end());
    if (paths_.size() > kMaxFiles) throw too_many();
    uint64_t bytes = 0;
    for (const std::string& path : paths_) {
      std::error_code unknown;
      const bool is_wanted = is_text_or_pdf(path);
      if (is_wanted && !is_pdf(path)) bytes += fs::file_size(path, unknown);
      if (bytes > kMaxFoundBytes)
        throw Error("the text files of " + named_ + " have more than " + human_bytes(kMaxFoundBytes) +
                    "; name fewer of them");
      (is_wanted ? files.paths : files.skipped).push_back(path);
    }
    if (files.paths.empty()) throw Error("no text file is in or matches " + named_);
    return files;
  }

 private:
  Error too_many() const {
    return Error(named_ + " has more than " + grouped(kMaxFiles) + " files; name a part of it, such as 'src/*.cpp'");
  }

  // Those of a folder that cannot be read are left out.
  std::vector<fs::directory_entry> entries_of(const fs::path& folder, bool with_hidden = false) {
    std::vector<fs::directory_entry> entries;
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      if (++n_looks_ > kMaxLooks) throw too_many();
      if (with_hidden || !entry->path().filename().string().starts_with('.')) entries.push_back(*entry);
    }
    return entries;
  }

  static bool is_folder(const fs::directory_entry& entry) {
    std::error_code unknown;
    return !entry.is_symlink(unknown) && entry.is_directory(unknown);
  }

  void add(const fs::directory_entry& entry) {
    std::error_code unknown;
    if (!entry.is_regular_file(unknown)) return;
    std::string path = entry.path().string();
    if (path.starts_with("./")) path.erase(0, 2);
    paths_.push_back(std::move(path));
    if (paths_.size() > 2 * kMaxFiles) throw too_many();  // some may be there twice, through two **
  }

  const std::string named_;
  std::vector<std::string> paths_;
  size_t n_looks_ = 0;
};

std::vector<std::string> segments_of(std::string_view pattern) {
  std::vector<std::string> segments;
  while (!pattern.empty()) {
    const size_t slash = std::min(pattern.find('/'), pattern.size());
    if (slash > 0) segments.emplace_back(pattern.substr(0, slash));
    pattern.remove_prefix(std::min(slash + 1, pattern.size()));
  }
  return segments;
}

}  // namespace

std::vector<std::string> FoundFiles::about_skipped() const {
  std::vector<std::string> lines;
  if (skipped.size() > kMaxNamed)
    return {"skipped " + counted(skipped.size(), "file") + " that are no text, such as " + skipped.front()};
  for (const std::string& path : skipped) lines.push_back("skipped " + path + ", which is no text");
  return lines;
}

std::optional<FoundFiles> find_files(const std::string& path) {
  std::error_code unknown;
  FileSearch search(path);
  if (fs::is_directory(path, unknown))
    search.add_all_below(path);
  else if (has_pattern(path) && !fs::exists(path, unknown))
    search.add_matching(path.starts_with('/') ? "/" : ".", segments_of(path), 0);
  else
    return std::nullopt;
  return search.found();
}

}  // namespace warpchat
