// Three digits are enough beside a button.
#include "app/gui/window/numbers.h"

namespace warpchat::gui {

std::string compact(uint64_t n) {
  if (n < 1000) return std::to_string(n);
  const double thousands = static_cast<double>(n) / 1e3, millions = static_cast<double>(n) / 1e6;
  if (n < 9950) return fixed(thousands, 1) + "k";
  if (n < 999500) return fixed(thousands, 0) + "k";
  return fixed(millions, millions < 9.95 ? 1 : 0) + "M";
}

std::string as_sentence(std::string_view message) {
  std::string out(message);
  size_t letters = 0;
  while (letters < out.size() && out[letters] >= 'a' && out[letters] <= 'z') ++letters;
  if (letters > 0 && (letters == out.size() || out[letters] == ' ' || out[letters] == ','))
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string seconds_text(double seconds) {
  return seconds < 0.9995 ? fixed(seconds * 1e3, 0) + " ms" : fixed(seconds, seconds < 9.95 ? 1 : 0) + " s";
}

}  // namespace warpchat::gui
