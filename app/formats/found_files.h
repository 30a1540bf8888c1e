// The text files that a folder or a pattern such as src/**/*.cpp names, for -f and /read.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace warpchat {

struct FoundFiles {
  std::vector<std::string> paths;    // in the order of their names
  std::vector<std::string> skipped;  // by their first bytes neither text nor PDF

  // A line about each of those, or how many there are.
  std::vector<std::string> about_skipped() const;
};

// nullopt: the path names one file, or nothing, and has no pattern. In patterns, * ? and [a-z] stand within a name, and
// ** for any folders. Hidden files and folders are left out unless named, links to folders are not followed. Error:
// there are none, or they are too many or too large.
std::optional<FoundFiles> find_files(const std::string& path);

}  // namespace warpchat
