// Numbers in the system's status files.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace warpchat {

// The number after a line's beginning in a file of "name: number kB" or "name number" lines; nullopt if there is none.
inline std::optional<uint64_t> read_field(const std::filesystem::path& path, const std::string& beginning) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(beginning)) return std::strtoull(line.c_str() + beginning.size(), nullptr, 10);
  return std::nullopt;
}

}  // namespace warpchat
