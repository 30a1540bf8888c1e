#include "models/gguf_split.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace warpchat {
namespace {

constexpr std::string_view kPattern = "-00000-of-00000.gguf";  // 0 stands for any digit
constexpr size_t kPartAt = 1, kCountAt = 10, kDigits = 5;

bool matches_pattern(std::string_view suffix) {
  return std::equal(suffix.begin(), suffix.end(), kPattern.begin(), kPattern.end(),
                    [](char c, char wanted) { return wanted == '0' ? c >= '0' && c <= '9' : c == wanted; });
}

}  // namespace

std::optional<SplitName> parse_split_name(const std::string& path) {
  if (path.size() < kPattern.size()) return std::nullopt;
  const size_t stem = path.size() - kPattern.size();
  if (!matches_pattern(std::string_view(path).substr(stem))) return std::nullopt;
  const auto number = [&](size_t at) { return uint64_t{std::stoul(path.substr(stem + at, kDigits))}; };
  return SplitName{path.substr(0, stem), number(kPartAt), number(kCountAt)};
}

std::string split_name(const SplitName& name) {
  char suffix[64];
  std::snprintf(suffix, sizeof suffix, "-%05" PRIu64 "-of-%05" PRIu64 ".gguf", name.part, name.count);
  return name.stem + suffix;
}

}  // namespace warpchat
