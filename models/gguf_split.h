// File names of a split model's parts: "x-00001-of-00003.gguf".
#pragma once
#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace warpchat {

struct SplitName {
  std::string stem;  // all before "-00001-of-00003.gguf"
  uint64_t part;     // from 1
  uint64_t count;
};

// nullopt if the name does not have this form.
inline std::optional<SplitName> parse_split_name(const std::string& path) {
  constexpr std::string_view kPattern = "-00000-of-00000.gguf";  // 0 stands for any digit
  constexpr size_t kPartAt = 1, kCountAt = 10, kDigits = 5;
  if (path.size() < kPattern.size()) return std::nullopt;
  const size_t stem = path.size() - kPattern.size();
  if (!std::equal(kPattern.begin(), kPattern.end(), path.begin() + static_cast<std::ptrdiff_t>(stem),
                  [](char wanted, char c) { return wanted == '0' ? c >= '0' && c <= '9' : c == wanted; }))
    return std::nullopt;
  const auto number = [&](size_t at) { return uint64_t{std::stoul(path.substr(stem + at, kDigits))}; };
  return SplitName{path.substr(0, stem), number(kPartAt), number(kCountAt)};
}

inline std::string split_name(const SplitName& name) {
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, "-%05" PRIu64 "-of-%05" PRIu64 ".gguf", name.part, name.count);
  return name.stem + suffix;
}

}  // namespace warpchat
