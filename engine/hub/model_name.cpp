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
constexpr int kWholeName = 4, kWholePath = 5;  // of quant_match

bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool is_name_character(char c) { return is_alphanumeric(c) || c == '-' || c == '_' || c == '.'; }

// The hub's own rules: letters, digits, - _ . inside, neither doubled nor at an end.
bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && std::all_of(name.begin(), name.end(), is_name_character) &&
         (is_alphanumeric(name.front()) || name.front() == '_') &&
         (is_alphanumeric(name.back()) || name.back() == '_') && name.find("--") == std::string_view::npos &&
         name.find("..") == std::string_view::npos;
}

// Folders and a name, none of them empty.
bool is_quant(std::string_view quant) {
  const auto is_allowed = [](char c) { return is_name_character(c) || c == '/'; };
  return !quant.empty() && quant.size() <= kLongestQuant && std::all_of(quant.begin(), quant.end(), is_allowed) &&
         quant.front() != '/' && quant.back() != '/' && quant.find("//") == std::string_view::npos &&
         ("/" + std::string(quant)).find("/.") == std::string::npos;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// "m-00002-of-00003" from -00002-of-00003.gguf; other paths are unchanged.
constexpr std::string_view kPartShape = "-00000-of-00000";

bool is_gguf(std::string_view path) { return lower_case(path).ends_with(kExtension); }

std::optional<HubModelName> model_name(std::string_view repository, std::string_view quant, bool is_default) {
  const size_t slash = repository.find('/');
  if (slash == std::string_view::npos || !is_name(repository.substr(0, slash)) ||
      !is_name(repository.substr(slash + 1)) || !is_quant(quant) || is_gguf(repository))
    return std::nullopt;
  const std::string stem = is_gguf(quant) ? part_of(quant).stem : std::string(quant);
  if (stem.empty()) return std::nullopt;
  return HubModelName{std::string(repository), stem, is_default};
}

// What follows the hub's host; nullopt: the text does not begin with it.
std::optional<std::string_view> after_host(std::string_view text) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (text.starts_with(scheme)) {
      text.remove_prefix(scheme.size());
      break;
    }
  if (text.starts_with("www.")) text.remove_prefix(4);
  for (const std::string_view host : {"hf.co/", "huggingface.co/"})
    if (text.starts_with(host)) return text.substr(host.size());
  return std::nullopt;
}

// The value of a query's field; empty: it has none.
std::string_view query_value(std::string_view query, std::string_view field) {
  for (size_t start = 0; start < query.size();) {
    const size_t end = std::min(query.find('&', start), query.size());
    const std::string_view pair = query.substr(start, end - start);
    if (pair.starts_with(field) && pair.substr(field.size()).starts_with('=')) return pair.substr(field.size() + 1);
    start = end + 1;
  }
  return "";
}

// org/repo[:QUANT], or the address of one of the hub's pages: org/repo/{tree,blob,resolve,raw}/main[/PATH]. Only the
// main branch is fetched, so that another one is no name.
std::optional<HubModelName> parse_address(std::string_view address) {
  std::string_view path = *after_host(address), query;
  path = path.substr(0, path.find('#'));
  if (const size_t mark = path.find('?'); mark != std::string_view::npos) {
    query = path.substr(mark + 1);
    path = path.substr(0, mark);
  }
  while (path.ends_with('/')) path.remove_suffix(1);
  const size_t colon = path.find(':');
  if (colon != std::string_view::npos) return model_name(path.substr(0, colon), path.substr(colon + 1), false);
  const size_t repository = std::min(path.find('/', path.find('/') + 1), path.size());  // its end
  std::string_view below = path.substr(repository);
  path = path.substr(0, repository);
  if (below.empty()) {
    const std::string_view shown = query_value(query, "show_file_info");
    return shown.empty() ? model_name(path, kDefaultQuant, true) : model_name(path, shown, false);
  }
  for (const std::string_view page : {"/tree/main", "/blob/main", "/resolve/main", "/raw/main"}) {
    if (below == page) return model_name(path, kDefaultQuant, true);
    if (!below.starts_with(page) || below[page.size()] != '/') continue;
    below.remove_prefix(page.size() + 1);
    return page == "/tree/main" || is_gguf(below) ? model_name(path, below, false) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<HubModelName> parse_hub_model_name(std::string_view name) {
  if (is_hub_address(name)) return parse_address(name);
  const size_t colon = name.find(':');
  const std::string_view quant = colon == std::string_view::npos ? kDefaultQuant : name.substr(colon + 1);
  return model_name(name.substr(0, colon), quant, colon == std::string_view::npos);
}

bool is_hub_address(std::string_view text) { return after_host(text).has_value(); }

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
  size_t start = stem.find_last_of("-.");
  constexpr std::string_view kDynamic = "-ud";  // Unsloth's "UD-Q4_K_XL" differs from "Q4_K_XL"
  if (start != std::string::npos && start >= kDynamic.size() &&
      lower_case(stem.substr(start - kDynamic.size(), kDynamic.size())) == kDynamic)
    start -= kDynamic.size();
  std::string quant = start == std::string::npos ? stem : stem.substr(start + 1);
  for (char& c : quant) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return quant;
}

int quant_match(std::string_view path, std::string_view quant) {
  const std::string whole = lower_case(part_of(path).stem), wanted = lower_case(quant);
  const std::string stem(file_name(whole));
  if (whole == wanted) return kWholePath;
  if (const size_t slash = wanted.rfind('/'); slash != std::string::npos) {
    const std::string folder = wanted.substr(0, slash + 1);
    return whole == folder + stem ? quant_match(stem, wanted.substr(slash + 1)) : 0;
  }
  if (stem == wanted) return kWholeName;
  if (lower_case(quant_of(path)) == wanted) return 3;
  for (size_t at = stem.find(wanted); at != std::string::npos; at = stem.find(wanted, at + 1)) {
    const char before = at == 0 ? '-' : stem[at - 1];
    const char after = at + wanted.size() == stem.size() ? '-' : stem[at + wanted.size()];
    if ((before == '-' || before == '.') && (after == '-' || after == '.')) return 2;
    if (before == '_' && at + wanted.size() == stem.size()) return 1;
  }
  return ("/" + whole).find("/" + wanted + "/") != std::string::npos ? 1 : 0;
}

bool is_companion(std::string_view path) {
  const std::string low = lower_case(path);
  for (size_t start = 0; start < low.size();) {
    const size_t end = std::min(low.find_first_of("/-_.", start), low.size());
    const std::string_view word = std::string_view(low).substr(start, end - start);
    for (const char* companion :
         {"mtp", "nextn", "eagle", "eagle2", "eagle3", "dflash", "draft", "drafter", "imatrix", "lora", "adapter"})
      if (word == companion) return true;
    start = end + 1;
  }
  return false;
}

int quant_rank(std::string_view path, std::string_view quant) {
  const int match = quant_match(path, quant);
  constexpr int kAboveCompanions = kWholeName;
  return match == 0 || (match < kWholeName && is_companion(path)) ? match : match + kAboveCompanions;
}

bool is_model_path(std::string_view path) {
  const std::string name = lower_case(file_name(path));
  return name.ends_with(kExtension) && name.find("mmproj") == std::string::npos;
}

}  // namespace warpchat
