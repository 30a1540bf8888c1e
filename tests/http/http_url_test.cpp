// The origin decides where a token is sent, so every spelling of it matters.
#include <gtest/gtest.h>

#include "engine/http/http_url.h"

namespace warpchat {
namespace {

TEST(HttpUrl, Origins) {
  EXPECT_EQ(origin_of("https://Hub.example/a/b?c"), "https://hub.example");
  EXPECT_EQ(origin_of("https://hub.example:443/"), "https://hub.example");
  EXPECT_EQ(origin_of("http://hub.example:8080"), "http://hub.example:8080");
  EXPECT_NE(origin_of("http://hub.example"), origin_of("https://hub.example"));
  EXPECT_EQ(origin_of("https://hub.example@evil.example/"), "https://evil.example");
  EXPECT_NE(origin_of("https://hub.example.evil.example/"), origin_of("https://hub.example/"));
  for (const char* none : {"", "hub.example", "file:///etc/passwd", "ftp://a/b", "https://"})
    EXPECT_EQ(origin_of(none), "") << none;
}

TEST(HttpUrl, References) {
  EXPECT_EQ(resolve_url("https://a.example/x/y", "/z"), "https://a.example/z");
  EXPECT_EQ(resolve_url("https://a.example/x/y", "https://b.example/q"), "https://b.example/q");
  EXPECT_EQ(origin_of(resolve_url("https://a.example/x", "//b.example/q")), "https://b.example");
}

TEST(HttpUrl, Escapes) {
  EXPECT_EQ(escape_url_path("a b/c#d?e%f"), "a%20b/c%23d%3Fe%25f");
  EXPECT_EQ(escape_url_value("a/b&c=d"), "a%2Fb%26c%3Dd");
}

}  // namespace
}  // namespace warpchat
