// URL parsing with libcurl, so that the compared URL is the requested one.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// "https://host:port", without a default port; empty for anything but an http(s) URL.
std::string origin_of(const std::string& url);
std::string host_of(const std::string& url);  // for messages: "host" or "host:port"
bool is_loopback(const std::string& url);     // localhost, 127.0.0.1, [::1]

// reference: from a server, relative to base; empty if invalid.
std::string resolve_url(const std::string& base, const std::string& reference);

std::string escape_url_path(const std::string& path);   // escapes every byte but letters, digits, - . _ ~ and / as %XX
std::string escape_url_value(const std::string& text);  // escapes / too

}  // namespace warpchat
