// warpchat__search: lines of the files in the opened folders that have a text, as "path:line: text".
#pragma once
#include <chrono>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "app/tools/opened_folders.h"

namespace warpchat {

struct SearchLimits {
  std::chrono::milliseconds time{15'000};
  size_t files = 50'000;  // also folders
  uint64_t bytes = uint64_t{1} << 30;
  size_t lines = 100;
};

nlohmann::json search_schema();

// Hidden files and folders are left out unless the path leads to one, links are not followed, binary files left out.
// Error: one sentence for the model.
std::string search_files(const OpenedFolders& folders, const nlohmann::json& arguments, std::stop_token stop,
                         const SearchLimits& limits = {});

}  // namespace warpchat
