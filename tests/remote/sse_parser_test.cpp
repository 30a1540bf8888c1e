// Streams cut at every byte, and texts that are no event stream.
#include "engine/remote/sse_parser.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/error.h"

namespace warpchat {
namespace {

using Events = std::vector<std::string>;

Events parse(const std::vector<std::string_view>& parts) {
  Events events;
  SseParser parser([&](std::string_view data) { events.emplace_back(data); });
  for (const std::string_view part : parts) parser.add(part);
  parser.finish();
  return events;
}

struct Case {
  const char* name;
  std::string_view stream;
  Events events;
};

const Case kCases[] = {
    {"line feeds", "data: a\n\ndata: b\n\n", {"a", "b"}},
    {"carriage returns and line feeds", "data: a\r\n\r\ndata: b\r\n\r\n", {"a", "b"}},
    {"carriage returns", "data: a\r\rdata: b\r\r", {"a", "b"}},
    {"data of several lines", "data: a\ndata:\ndata:  b\n\n", {"a\n\n b"}},
    {"comments, names, ids", ": ping\n\nevent: x\nid: 1\nretry: 5\ndata:a\n\n: ping\n\n", {"a"}},
    {"a byte order mark",
     "\xEF\xBB\xBF"
     "data: a\n\n",
     {"a"}},
    {"no last empty line", "data: a\n\ndata: b", {"a", "b"}},
    {"characters of several bytes", "data: \"\xF0\x9F\x99\x82\xC3\xA4\"\n\n", {"\"\xF0\x9F\x99\x82\xC3\xA4\""}},
    {"a field without a colon", "data\n\ndata: a\n\n", {"", "a"}},
    {"empty events", "\n\n\n\ndata: a\n\n\n\n", {"a"}},
};

TEST(SseParser, EveryCutGivesTheSameEvents) {
  for (const Case& c : kCases) {
    const std::string_view s = c.stream;
    for (size_t i = 0; i <= s.size(); ++i)
      for (size_t j = i; j <= s.size(); ++j)
        EXPECT_EQ(parse({s.substr(0, i), s.substr(i, j - i), s.substr(j)}), c.events) << c.name << " at " << i;
    std::vector<std::string_view> bytes;
    for (size_t i = 0; i < s.size(); ++i) bytes.push_back(s.substr(i, 1));
    EXPECT_EQ(parse(bytes), c.events) << c.name;
  }
}

// Adds a piece until the parser refuses; returns the bytes it accepted.
size_t endured(const std::string& begin, const std::string& piece) {
  SseParser parser([](std::string_view) {});
  size_t n = 0;
  try {
    parser.add(begin);
    for (; n < (size_t{64} << 20); n += piece.size()) parser.add(piece);
  } catch (const Error&) {
  }
  return n;
}

TEST(SseParser, MemoryIsBounded) {
  EXPECT_LE(endured("data: ", std::string(65536, 'x')), SseParser::kMaxEventBytes);
  EXPECT_LE(endured("", std::string(65536, 'x')), SseParser::kMaxEventBytes);
  EXPECT_LE(endured("data: x\n", "data: " + std::string(1000, 'x') + "\n"), SseParser::kMaxEventBytes * 2);
  EXPECT_LE(endured("", "no field at all\n"), SseParser::kMaxForeignBytes * 2);
}

TEST(SseParser, WhatACallerThrowsComesThrough) {
  SseParser parser([](std::string_view) { throw Error("mine"); });
  EXPECT_THROW(parser.add("data: x\n\n"), Error);
}

}  // namespace
}  // namespace warpchat
