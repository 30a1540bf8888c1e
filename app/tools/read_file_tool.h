// warpchat__read_file: lines of a text or PDF file in the opened folders, or the names in one of these folders.
#pragma once
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>

#include "app/tools/opened_folders.h"

namespace warpchat {

inline constexpr size_t kMaxReadBytes = 64 << 10;  // of one call: more would fill the context of many models

nlohmann::json read_file_schema();

// Error: one sentence for the model.
std::string read_file(const OpenedFolders& folders, const nlohmann::json& arguments, std::stop_token stop);

}  // namespace warpchat
