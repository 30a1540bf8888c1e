// Measured numbers for people: three significant digits and a unit.
#pragma once
#include <cstdint>
#include <string>

namespace warpchat {

std::string fixed(double value, int decimals);  // "0.70"
std::string three_digits(double value);         // "0.123", "1.23", "12.3", "123", "1,234"
std::string compact_number(double value);       // "950", "12.3 k", "1.23 M"
std::string bytes_text(double bytes);           // "398 MB", "1.20 GB", powers of ten
std::string duration_text(double seconds);      // "12.3 µs", "1.23 ms", "1.20 s"
std::string bandwidth_text(double per_second);  // "11.6 GB/s", "0.52 GB/s"
std::string percent_text(double fraction);      // "46%", "4.2%", "0.3%"

}  // namespace warpchat
