// A day has 24 hours here: what an hour of summer time moves to a neighbouring group is of no matter.
#include "app/gui/window/date_groups.h"

#include <ctime>

namespace warpchat::gui {

std::string_view date_group(StoreTime updated, StoreTime today) {
  constexpr StoreTime kDay = 24 * 60 * 60 * 1000;
  if (updated >= today) return "Today";
  if (updated >= today - kDay) return "Yesterday";
  if (updated >= today - 7 * kDay) return "Previous 7 days";
  return "Older";
}

StoreTime local_midnight(StoreTime now) {
  std::time_t seconds = static_cast<std::time_t>(now / 1000);
  std::tm day{};
  localtime_r(&seconds, &day);
  day.tm_hour = day.tm_min = day.tm_sec = 0;
  day.tm_isdst = -1;
  return static_cast<StoreTime>(std::mktime(&day)) * 1000;
}

}  // namespace warpchat::gui
