// File names of a split model's parts: "x-00001-of-00003.gguf".
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace warpchat {

struct SplitName {
  std::string stem;  // all before "-00001-of-00003.gguf"
  uint64_t part;     // from 1
  uint64_t count;
};

// nullopt if the name does not have this form.
std::optional<SplitName> parse_split_name(const std::string& path);
std::string split_name(const SplitName& name);

}  // namespace warpchat
