// Splits names at separators, without regular expressions.
#include "engine/hub/model_name.h"

#include <algorithm>
#include <cctype>

#include "models/ascii.h"

namespace warpchat {

namespace {

constexpr std::string_view kDefaultQuant = "Q4_K_M";
constexpr std::string_view kExtension = ".gguf";
constexpr size_t kLongestName = 96, kLongestQuant = 200;

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_name_character(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

// The hub's own rules: letters, digits, - _ . inside, neither doubled nor at an end.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), is_name_character) &&
         (is_alphanumeric(name.front()) || name.front() == '_') &&
         (is_alphanumeric(name.back()) || name.back() == '_') && name.find("--") == std::string_view::npos &&
         name.find("..") == std::string_view::npos;
}

bool is_quant(std::string_view quant) {
  return !quant.empty() && quant.size() <= kLongestQuant && std::all_of(quant.begin(), quant.end(), is_name_character);
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "m-00002-of-00003" from -00002-of-00003.gguf; other paths are unchanged.
constexpr std::string_view kPartShape = "-00000-of-00000";

}  // namespace

std::optional<HubModelName> parse_hub_model_name(std::string_view name) {
  for (std::string_view prefix : {"https://", "hf.co/", "huggingface.co/"})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  const size_t colon = name.find(':');
  const std::string_view repository = name.substr(0, colon);
  const std::string_view quant = colon == std::string_view::npos ? kDefaultQuant : name.substr(colon + 1);
  const size_t slash = repository.find('/');
  if (slash == std::string_view::npos || !is_name(repository.substr(0, slash)) ||
      !is_name(repository.substr(slash + 1)) || !is_quant(quant) || lower_case(repository).ends_with(kExtension))
    return std::nullopt;
  const std::string_view stem = lower_case(quant).ends_with(kExtension) ? quant.substr(0, quant.size() - 5) : quant;
  if (stem.empty()) return std::nullopt;
  return HubModelName{std::string(repository), std::string(stem)};
}

FilePart part_of(std::string_view path) {
  if (lower_case(path).ends_with(kExtension)) path.remove_suffix(kExtension.size());
  const FilePart whole{std::string(path)};
  if (path.size() < kPartShape.size()) return whole;
  const std::string tail = lower_case(path.substr(path.size() - kPartShape.size()));
  const std::string number = tail.substr(1, 5), n_parts = tail.substr(10);
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || !is_digits(number) || !is_digits(n_parts)) return whole;
  path.remove_suffix(kPartShape.size());
  return {std::string(path), static_cast<unsigned>(std::stoul(number)), static_cast<unsigned>(std::stoul(n_parts))};
}

std::string quant_of(std::string_view path) {
  const std::string stem(file_name(part_of(path).stem));
  const size_t start = stem.find_last_of("-.");
  std::string quant = start == std::string::npos ? stem : stem.substr(start + 1);
  for (char& c : quant) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return quant;
}

int quant_match(std::string_view path, std::string_view quant) {
  const std::string whole = lower_case(part_of(path).stem), wanted = lower_case(quant);
  const std::string stem(file_name(whole));
  if (stem == wanted) return 4;
  if (lower_case(quant_of(path)) == wanted) return 3;
  for (size_t at = stem.find(wanted); at != std::string::npos; at = stem.find(wanted, at + 1)) {
    const char before = at == 0 ? '-' : stem[at - 1];
    const char after = at + wanted.size() == stem.size() ? '-' : stem[at + wanted.size()];
    if ((before == '-' || before == '.') && (after == '-' || after == '.')) return 2;
    if (before == '_' && at + wanted.size() == stem.size()) return 1;
  }
  return ("/" + whole).find("/" + wanted + "/") != std::string::npos ? 1 : 0;
}

bool is_model_path(std::string_view path) {
  const std::string name = lower_case(file_name(path));
  return name.ends_with(kExtension) && name.find("mmproj") == std::string::npos;
}

}  // namespace warpchat
