// URLs by libcurl's own parser, so that what is compared is what is requested.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// "https://host:port", the port left out where it is the scheme's own; empty for what is no http(s) URL.
std::string origin_of(const std::string& url);
std::string host_of(const std::string& url);  // for messages: "host" or "host:port"
bool is_loopback(const std::string& url);     // localhost, 127.0.0.1, [::1]: nothing leaves this machine

// reference as a server gives it, relative to base; empty if it is no URL.
std::string resolve_url(const std::string& base, const std::string& reference);

std::string escape_url_path(const std::string& path);   // every byte but letters, digits, - . _ ~ and / as %XX
std::string escape_url_value(const std::string& text);  // the same, and / too

}  // namespace warpchat
