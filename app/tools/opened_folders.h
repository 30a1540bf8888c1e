// The folders that the user has opened for the model, and what is strictly below them. A path is followed name by name,
// links included, by descriptors: whatever is swapped meanwhile, nothing outside is opened.
#pragma once
#include <sys/stat.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace warpchat {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// A regular file, open for reading, or a folder.
struct FoundEntry {
  Descriptor descriptor;
  struct stat status = {};
  std::string path;  // for the model, printable: without the opened folder if there is only one
  bool is_folder() const { return S_ISDIR(status.st_mode); }
};

// What the path of a descriptor without rights (O_PATH) names, opened for reading. Neither waits nor touches what is
// neither file nor folder. Error: part of a sentence that follows "cannot read PATH: ".
FoundEntry open_to_read(const Descriptor& named, std::string path);

// Their names in order, without . and ..; those after the first `max` are left out.
std::vector<std::string> names_in(const Descriptor& folder, size_t max);

class OpenedFolders {
 public:
  // Error: one of them is no folder, or cannot be opened.
  explicit OpenedFolders(const std::vector<std::string>& folders);

  bool is_empty() const { return folders_.empty(); }
  // As the model names them: the last name of the path, made different.
  std::vector<std::string> labels() const;
  std::vector<std::string> paths() const;  // real ones

  // path: absolute, or below a folder, or below its label; with \xHH as `printable` writes it where a name needs that.
  // Error: one sentence with the path, for what is outside, missing, no file and no folder, or not readable.
  FoundEntry open(std::string_view path) const;

  bool is_list(std::string_view path) const;  // of the folders, where there are several: "" or "."

 private:
  struct Folder {
    std::string label;
    std::string path;   // real: absolute and without links
    std::string typed;  // absolute
  };
  struct Place {  // where a path may lead
    const Folder* folder;
    std::string below;
  };
  std::vector<Place> places_of(std::string_view path) const;

  std::vector<Folder> folders_;
};

}  // namespace warpchat
