// Three digits are enough beside a button.
#include "app/gui/widgets/numbers.h"

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

std::string full_sentence(std::string_view message) {
  const std::string text = as_sentence(message);
  return text.empty() || std::string_view(".?!").find(text.back()) != std::string_view::npos ? text : text + ".";
}

std::string context_text(uint64_t used, uint64_t unsent, uint32_t context) {
  if (context == 0) return used + unsent > 0 ? compact(used + unsent) + " tokens" : "";
  const std::string text = compact(used) + " of " + compact(context);
  return unsent > 0 ? compact(unsent) + " tokens  ·  " + text : text;
}

std::string seconds_text(double seconds) {
  return seconds < 0.9995 ? fixed(seconds * 1e3, 0) + " ms" : fixed(seconds, seconds < 9.95 ? 1 : 0) + " s";
}

}  // namespace warpchat::gui
