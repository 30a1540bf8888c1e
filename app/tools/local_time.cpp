// ICU has the zones' rules itself. The C library would need TZ changed, which is the whole process's.
#include "app/tools/local_time.h"

#include <unicode/ucal.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using namespace std::chrono;

constexpr int32_t kMaxName = 100;
constexpr const char* kWeekdays[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};

std::u16string zone_of_machine() {
  UErrorCode code = U_ZERO_ERROR;
  UChar name[kMaxName];
  const int32_t n = ucal_getHostTimeZone(name, kMaxName, &code);
  return U_SUCCESS(code) && n > 0 && n < kMaxName ? std::u16string(name, static_cast<size_t>(n)) : u"UTC";
}

std::u16string zone_named(const std::string& zone) {
  const auto has_zone = [&](const std::u16string& name) {
    UErrorCode code = U_ZERO_ERROR;
    UChar canonical[kMaxName];
    UBool is_of_database = 0;
    ucal_getCanonicalTimeZoneID(name.data(), static_cast<int32_t>(name.size()), canonical, kMaxName, &is_of_database,
                                &code);
    return U_SUCCESS(code) && is_of_database != 0;
  };
  const bool is_ascii = std::ranges::all_of(zone, [](unsigned char c) { return c > ' ' && c < 0x7F; });
  if (is_ascii && zone.size() < kMaxName)
    if (const std::u16string name(zone.begin(), zone.end()); has_zone(name)) return name;
  throw Error("there is no time zone '" + printable(zone) + "'; zones have names such as Europe/Berlin or UTC");
}

seconds offset_at(const std::u16string& zone, milliseconds time) {
  UErrorCode code = U_ZERO_ERROR;
  UCalendar* calendar = ucal_open(reinterpret_cast<const UChar*>(zone.data()), static_cast<int32_t>(zone.size()), "en",
                                  UCAL_GREGORIAN, &code);
  if (U_FAILURE(code)) throw Error("the rules of time zones cannot be read");
  ucal_setMillis(calendar, static_cast<double>(time.count()), &code);
  const milliseconds offset(ucal_get(calendar, UCAL_ZONE_OFFSET, &code) + ucal_get(calendar, UCAL_DST_OFFSET, &code));
  ucal_close(calendar);
  return duration_cast<seconds>(offset);
}

}  // namespace

std::string local_time_text(system_clock::time_point time, const std::string& zone) {
  const std::u16string name = zone.empty() ? zone_of_machine() : zone_named(zone);
  const seconds offset = offset_at(name, duration_cast<milliseconds>(time.time_since_epoch()));
  const sys_seconds local = floor<seconds>(time) + offset;
  const sys_days day = floor<days>(local);
  const year_month_day date(day);
  const hh_mm_ss clock(local - day);
  const hh_mm_ss from_utc(offset < 0s ? -offset : offset);
  char text[160];
  std::snprintf(text, sizeof text, "%s, %04d-%02u-%02u, %02d:%02d:%02d, time zone ",
                kWeekdays[weekday(day).c_encoding()], static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  std::string sentence = text + std::string(name.begin(), name.end());
  std::snprintf(text, sizeof text, " (UTC%c%02d:%02d)", offset < 0s ? '-' : '+',
                static_cast<int>(from_utc.hours().count()), static_cast<int>(from_utc.minutes().count()));
  return sentence + text;
}

}  // namespace warpchat
