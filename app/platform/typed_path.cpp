// Each spelling in turn; whatever is left is the path as it stands.
#include "app/platform/typed_path.h"

#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "app/platform/directories.h"
#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr std::string_view kTypedBlanks = " \t\n", kFileUrl = "file://";

std::string without_percents(std::string_view url) {
  std::string path;
  for (size_t i = 0; i < url.size(); ++i) {
    unsigned byte = 0;
    const char* end = url.data() + std::min(i + 3, url.size());
    if (url[i] == '%' && std::from_chars(url.data() + i + 1, end, byte, 16).ptr == url.data() + i + 3) {
      path += static_cast<char>(byte);
      i += 2;
    } else {
      path += url[i];
    }
  }
  return path;
}

// Expands one word as a shell does; nullopt for several words or none.
std::optional<std::string> shell_word(std::string_view text) {
  std::string word;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    } else if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      word += text[++i];
    } else {
      word += c;
    }
  }
  if (quote != 0) return std::nullopt;
  return word;
}

}  // namespace

std::string with_home_directory(std::string path) {
  if (path != "~" && !path.starts_with("~/")) return path;
  if (const std::optional<std::string> home = find_home()) path.replace(0, 1, *home);
  return path.empty() ? "/" : path;
}

std::string typed_path(std::string_view typed) {
  typed = trimmed(typed, kTypedBlanks);
  if (typed.empty()) return "";
  if (typed.starts_with(kFileUrl)) return without_percents(typed.substr(kFileUrl.size()));
  std::error_code error;
  const std::string as_it_stands = with_home_directory(std::string(typed));
  if (std::filesystem::exists(as_it_stands, error)) return as_it_stands;
  return with_home_directory(shell_word(typed).value_or(std::string(typed)));
}

}  // namespace warpchat
