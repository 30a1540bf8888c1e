#include "app/tools/search_tool.h"

#include <fcntl.h>

#include <algorithm>

#include "app/tools/file_text.h"
#include "app/tools/line_pattern.h"
#include "app/tools/tool_arguments.h"
#include "models/error.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat {

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxDepth = 60;           // of folders
constexpr size_t kMaxLineBytes = 1 << 20;  // a longer line is searched in pieces
constexpr size_t kMaxShownBytes = 240;     // of a line
constexpr size_t kShownBefore = 80;        // the match, where a line is longer
constexpr size_t kMaxOutputBytes = 64 << 10;
constexpr size_t kMaxPathBytes = 4096;

// Part of a line around what matches.
std::string shown_line(std::string_view line, std::pair<size_t, size_t> match) {
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  if (line.size() <= kMaxShownBytes) return as_text(line);
  const auto at_character = [&](size_t at) {
    while (at < line.size() && continues_character(line[at])) ++at;
    return at;
  };
  const size_t begin = at_character(match.first > kShownBefore ? match.first - kShownBefore : 0);
  const size_t end = at_character(std::min(begin + kMaxShownBytes, line.size()));
  return (begin > 0 ? "..." : "") + as_text(line.substr(begin, end - begin)) + (end < line.size() ? "..." : "");
}

class Search {
 public:
  Search(const ToolArguments& arguments, std::stop_token stop, const SearchLimits& limits)
      : pattern_(arguments.text("text")), names_(arguments.text("files")), stop_(std::move(stop)), limits_(limits) {}

  // A file or folder that has been named is searched even where it is hidden, or `files` does not match.
  void add(const FoundEntry& entry) {
    if (entry.is_folder())
      search_folder(entry, entry.path == "." ? "" : entry.path + "/", 0);
    else
      search_file(entry);
  }

  std::string result(const std::string& text) const {
    std::string notes;
    const auto note = [&](const std::string& sentence) { notes += "[" + sentence + "]\n"; };
    if (!end_.empty()) note("the search ended early: " + end_);
    if (n_binary_ > 0) note("left out: " + counted(n_binary_, "binary file"));
    if (n_unreadable_ > 0) note("left out: " + counted(n_unreadable_, "file or folder") + " that cannot be read");
    if (!found_.empty()) return found_ + notes;
    return "no line has '" + printable(text, 200) + "' in " + counted(n_files_, "file") + "\n" + notes;
  }

 private:
  bool may_go_on() {
    if (!end_.empty() || stop_.stop_requested()) return false;
    if (Clock::now() >= deadline_)
      end_ = "it took " + std::to_string(limits_.time.count() / 1000) + " s; name a path or files to search less";
    else if (n_looks_ >= limits_.files)
      end_ = "there are more than " + grouped(limits_.files) + " files; name a path or files to search less";
    else if (n_bytes_ >= limits_.bytes)
      end_ = "the files have more than " + grouped(limits_.bytes) + " bytes; name a path or files to search less";
    return end_.empty();
  }

  void search_folder(const FoundEntry& folder, const std::string& prefix, size_t depth) {
    for (const std::string& name : names_in(folder.descriptor, limits_.files)) {
      if (!may_go_on()) return;
      if (name.starts_with('.')) continue;
      ++n_looks_;
      Descriptor named(openat(folder.descriptor.number(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      struct stat status = {};
      if (!named.is_open() || fstat(named.number(), &status) != 0) {
        ++n_unreadable_;
        continue;
      }
      if (!is_wanted(name, prefix, status)) continue;
      try {
        const FoundEntry entry = open_to_read(named, prefix + printable(name, kMaxPathBytes));
        named = Descriptor();
        if (!entry.is_folder())
          search_file(entry);
        else if (depth < kMaxDepth)
          search_folder(entry, entry.path + "/", depth + 1);
      } catch (const Error&) {
        ++n_unreadable_;
      }
    }
  }

  bool is_wanted(const std::string& name, const std::string& prefix, const struct stat& status) const {
    if (S_ISDIR(status.st_mode)) return true;
    if (!S_ISREG(status.st_mode)) return false;
    if (names_.empty()) return true;
    const bool has_folder = names_.find('/') != std::string::npos;
    return matches_name(names_, has_folder ? prefix + name : name);
  }

  void search_file(const FoundEntry& file) {
    const FileKind kind = kind_of_file(read_at(file, 0, kKindBytes));
    if (kind == FileKind::kBinary) {
      ++n_binary_;
      return;
    }
    ++n_files_;
    n_line_ = 1;
    if (kind == FileKind::kPdf) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
      const std::string text = text_of_pdf_file(file, stop_, std::max<int64_t>(left.count(), 1));
      n_bytes_ += text.size();
      search_lines(file, text);
      return;
    }
    std::string rest;  // a line that goes on in the next piece
    read_pieces(file, stop_, [&](std::string_view piece) {
      n_bytes_ += piece.size();
      rest += piece;
      size_t whole = rest.rfind('\n') + 1;  // 0: there is none
      if (whole == 0 && rest.size() >= kMaxLineBytes) whole = rest.size();
      search_lines(file, std::string_view(rest).substr(0, whole));
      rest.erase(0, whole);
      return may_go_on();
    });
    if (may_go_on()) search_lines(file, rest);
  }

  void search_lines(const FoundEntry& file, std::string_view text) {
    size_t counted_to = 0;
    const auto count_to = [&](size_t at) {
      n_line_ += static_cast<uint64_t>(std::count(text.begin() + static_cast<ptrdiff_t>(counted_to),
                                                  text.begin() + static_cast<ptrdiff_t>(at), '\n'));
      counted_to = at;
    };
    pattern_.for_each_line(text, [&](size_t begin, size_t end, std::pair<size_t, size_t> match) {
      count_to(begin);
      if (n_found_ == limits_.lines || found_.size() >= kMaxOutputBytes) {
        end_ = "there are more than " + counted(n_found_, "such line") + "; search for a longer text or name a path";
        return false;
      }
      ++n_found_;
      found_ += file.path + ":" + std::to_string(n_line_) + ": " + shown_line(text.substr(begin, end - begin), match);
      found_ += '\n';
      return true;
    });
    count_to(text.size());
  }

  const LinePattern pattern_;
  const std::string names_;  // of files; empty: all
  const std::stop_token stop_;
  const SearchLimits limits_;
  const Clock::time_point deadline_ = Clock::now() + limits_.time;
  std::string found_, end_;  // end_: why the search ended early
  size_t n_found_ = 0, n_files_ = 0, n_looks_ = 0, n_binary_ = 0, n_unreadable_ = 0;
  uint64_t n_bytes_ = 0, n_line_ = 1;
};

}  // namespace

nlohmann::json search_schema() {
  return {{"type", "object"},
          {"properties",
           {{"text",
             {{"type", "string"},
              {"description", "to find in a line, without regard to case; * stands for any characters"}}},
            {"path", {{"type", "string"}, {"description", "folder or file to search; default all"}}},
            {"files", {{"type", "string"}, {"description", "only files of this name, such as *.md or src/*.cpp"}}}}},
          {"required", {"text"}},
          {"additionalProperties", false}};
}

std::string search_files(const OpenedFolders& folders, const nlohmann::json& json, std::stop_token stop,
                         const SearchLimits& limits) {
  const ToolArguments arguments(search_schema(), json);
  Search search(arguments, std::move(stop), limits);
  const std::string path = arguments.text("path");
  if (folders.is_list(path))
    for (const std::string& label : folders.labels()) search.add(folders.open(label));
  else
    search.add(folders.open(path.empty() ? "." : path));
  return search.result(arguments.text("text"));
}

}  // namespace warpchat
