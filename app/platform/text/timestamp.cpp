// Fixed columns, so that reading is comparing with a pattern and taking the digits.
#include "app/platform/text/timestamp.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cstdio>

namespace warpchat {

namespace {

using namespace std::chrono;

constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:dd.dddZ", kWholeSeconds = "dddd-dd-ddTdd:dd:ddZ";
constexpr StoreTime kLast = 253'402'300'799'999;  // the last millisecond of 9999

bool matches(std::string_view text, std::string_view pattern) {
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(), [](char found, char expected) {
    return expected == 'd' ? std::isdigit(static_cast<unsigned char>(found)) != 0 : found == expected;
  });
}

unsigned number(std::string_view text, size_t at, size_t digits) {
  unsigned value = 0;
  for (const char digit : text.substr(at, digits)) value = value * 10 + static_cast<unsigned>(digit - '0');
  return value;
}

}  // namespace

std::string timestamp(StoreTime time) {
  const sys_time<milliseconds> point{milliseconds(std::clamp<StoreTime>(time, 0, kLast))};
  const auto day = floor<days>(point);
  const year_month_day date(day);
  const hh_mm_ss clock(point - day);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text;
}

std::optional<StoreTime> parse_timestamp(std::string_view text) {
  if (!matches(text, kPattern) && !matches(text, kWholeSeconds)) return std::nullopt;
  const year_month_day date{year(static_cast<int>(number(text, 0, 4))), month(number(text, 5, 2)),
                            day(number(text, 8, 2))};
  const unsigned hour = number(text, 11, 2), minute = number(text, 14, 2), second = number(text, 17, 2);
  if (!date.ok() || date.year() < year(1970) || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  const unsigned fraction = text.size() == kPattern.size() ? number(text, 20, 3) : 0;
  const auto point = sys_days(date) + hours(hour) + minutes(minute) + seconds(second) + milliseconds(fraction);
  return duration_cast<milliseconds>(point.time_since_epoch()).count();
}

}  // namespace warpchat
