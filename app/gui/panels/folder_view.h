// Looks up a typed path in the background, since a disk may be slow or gone.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat::gui {

struct FolderEntry {
  std::string name;
  bool is_folder = false;
  uint64_t bytes = 0;
  bool operator==(const FolderEntry&) const = default;
};

struct FolderView {
  enum class Kind { kNothing, kFile, kFolder };
  std::string typed, base;     // what was looked up; base: the folder that a name alone is in, with "/" at its end
  std::string path;            // that it stands for, from the root
  std::string folder, begin;   // its folder, with "/" at its end, and its name, or the beginning of one
  Kind kind = Kind::kNothing;  // of what is there under this path
  std::vector<FolderEntry> entries = {};  // of the folder: folders first, each by name
  std::string fault = {};                 // why it cannot be read; empty: it could
};

FolderView look_at(const std::string& typed, const std::string& base);

// The home directory as "~".
std::string in_short(const std::string& path);

// Tab completion: the common beginning of the matching entries; a single folder gets a "/".
std::string completed(const FolderView& view, const std::vector<size_t>& entries);

bool begins_alike(std::string_view name, std::string_view begin);  // small and capital letters are the same

// "~", and of Desktop, Documents and Downloads those that are there.
std::vector<std::string> usual_folders();

// Reads the most recently requested folder on its own thread. Nothing waits for it, not even the program's exit.
class FolderReader {
 public:
  explicit FolderReader(std::function<void()> wake);  // called from that thread, when there is something to take
  void look(std::string typed, std::string base);
  bool update(FolderView& view);  // whether there was one

 private:
  struct Shared;
  static void work(Shared& shared);
  static void fail(Shared& shared, const char* sentence);
  std::shared_ptr<Shared> shared_;
};

}  // namespace warpchat::gui
