#include "engine/grammar/uri.h"

#include <algorithm>

namespace warpchat::grammar {

namespace {

// scheme and authority with their marks: "http:", "//host"; what is missing is empty. rest: query and fragment.
struct Uri {
  std::string scheme, authority, path, query, fragment;
};

Uri parse_uri(std::string_view text) {
  Uri uri;
  const auto cut = [&](size_t from, std::string& part) {
    if (from >= text.size()) return;
    part = text.substr(from);
    text = text.substr(0, from);
  };
  cut(text.find('#'), uri.fragment);
  cut(text.find('?'), uri.query);
  const size_t colon = text.find(':');
  if (colon != std::string_view::npos && colon > 0 && colon < text.find('/')) {
    uri.scheme = text.substr(0, colon + 1);
    text.remove_prefix(colon + 1);
  }
  if (text.starts_with("//")) {
    const size_t end = std::min(text.find('/', 2), text.size());
    uri.authority = text.substr(0, end);
    text.remove_prefix(end);
  }
  uri.path = text;
  return uri;
}

std::string without_dots(std::string_view path) {
  std::string result;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/', 1), path.size());
    const std::string_view segment = path.substr(0, end);
    path.remove_prefix(end);
    const bool is_last = path.empty();
    if (segment == "/.." || segment == "..") {
      result.erase(std::min(result.rfind('/'), result.size()));
      if (is_last) result += '/';
    } else if (segment == "/." || segment == ".") {
      if (is_last) result += '/';
    } else {
      result += segment;
    }
  }
  return result;
}

}  // namespace

std::string resolve_uri(std::string_view base_text, std::string_view reference) {
  const Uri base = parse_uri(base_text);
  Uri uri = parse_uri(reference);
  if (uri.scheme.empty()) {
    uri.scheme = base.scheme;
    if (uri.authority.empty()) {
      uri.authority = base.authority;
      if (uri.path.empty()) {
        uri.path = base.path;
        if (uri.query.empty()) uri.query = base.query;
      } else if (!uri.path.starts_with('/')) {
        const size_t folder = base.path.rfind('/');
        uri.path = folder != std::string::npos ? base.path.substr(0, folder + 1) + uri.path
                   : base.authority.empty()    ? uri.path
                                               : "/" + uri.path;
      }
    }
  }
  if (uri.path.starts_with('/')) uri.path = without_dots(uri.path);
  if (uri.fragment == "#") uri.fragment.clear();
  return uri.scheme + uri.authority + uri.path + uri.query + uri.fragment;
}

std::string without_fragment(std::string_view uri) { return std::string(uri.substr(0, uri.find('#'))); }

std::string decode_percent(std::string_view text) {
  std::string decoded;
  const auto value = [](char c) -> int {
    const size_t digit = std::string_view("0123456789abcdefABCDEF").find(c);
    return digit == std::string_view::npos ? -1 : static_cast<int>(digit < 16 ? digit : digit - 6);
  };
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && value(text[i + 1]) >= 0 && value(text[i + 2]) >= 0) {
      decoded += static_cast<char>(value(text[i + 1]) * 16 + value(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  return decoded;
}

}  // namespace warpchat::grammar
