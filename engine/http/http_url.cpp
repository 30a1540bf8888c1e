// URL parsing with libcurl, and escapes.
#include "engine/http/http_url.h"

#include <curl/curl.h>

#include <memory>

#include "models/ascii.h"

namespace warpchat {

namespace {

struct UrlDeleter {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Url = std::unique_ptr<CURLU, UrlDeleter>;

std::string part(const Url& url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, flags) != CURLUE_OK) return "";
  std::string result = text;
  curl_free(text);
  return result;
}

Url parse(const std::string& text) {
  Url url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return nullptr;
  return url;
}

std::string escape(const std::string& text, bool keep_slash) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                       byte == '-' || byte == '.' || byte == '_' || byte == '~' || (keep_slash && byte == '/');
    result += plain ? std::string(1, c) : std::string{'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return result;
}

}  // namespace

std::string host_of(const std::string& text) {
  const Url url = parse(text);
  if (!url) return "";
  const std::string port = part(url, CURLUPART_PORT);
  return part(url, CURLUPART_HOST) + (port.empty() ? "" : ":" + port);
}

std::string origin_of(const std::string& text) {
  const Url url = parse(text);
  if (!url) return "";
  const std::string scheme = part(url, CURLUPART_SCHEME), host = lower_case(part(url, CURLUPART_HOST));
  const std::string port = part(url, CURLUPART_PORT, CURLU_NO_DEFAULT_PORT);
  if ((scheme != "http" && scheme != "https") || host.empty()) return "";
  return scheme + "://" + host + (port.empty() ? "" : ":" + port);
}

bool is_loopback(const std::string& text) {
  const Url url = parse(text);
  const std::string host = url ? lower_case(part(url, CURLUPART_HOST)) : "";
  return host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == std::string::npos);
}

std::string resolve_url(const std::string& base, const std::string& reference) {
  const Url url = parse(base);
  if (!url || curl_url_set(url.get(), CURLUPART_URL, reference.c_str(), 0) != CURLUE_OK) return "";
  return part(url, CURLUPART_URL);
}

std::string escape_url_path(const std::string& path) { return escape(path, true); }
std::string escape_url_value(const std::string& text) { return escape(text, false); }

}  // namespace warpchat
