// What `warpchat__now` says: date, time and zone.
#pragma once
#include <chrono>
#include <string>

namespace warpchat {

// "Saturday, 2026-11-28, 17:05:09, time zone Europe/Berlin (UTC+01:00)". zone: of the IANA database, such as
// Europe/Berlin or UTC; empty: this machine's. Error, one sentence: there is no such zone.
std::string local_time_text(std::chrono::system_clock::time_point time, const std::string& zone);

}  // namespace warpchat
