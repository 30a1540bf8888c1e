// The fonts in use and the choice among them: a face's own font where it has the characters, else one that fontconfig
// names for them, remembered.
#pragma once
#include <hb.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/gui/text/font.h"

namespace warpchat::gui {

class FontSet {
 public:
  Font& primary(Face face);

  // The font for a grapheme cluster; if no font has it, the face's own font, which draws its missing-glyph box.
  Font& choose(Face face, hb_script_t script, std::span<const char32_t> cluster);

  // A font with a MATH table, searched at the first call; nullptr if there is none.
  Font* math();

  // As FontFinder::prefer has it. Layouts of the fonts before stay valid.
  void prefer(const std::string& text, const std::string& code);

  const FontFinder& finder() const { return finder_; }

 private:
  Font* fallback(Face face, hb_script_t script, std::span<const char32_t> cluster);
  Font* search(Face face, hb_script_t script, std::span<const char32_t> cluster);
  Font* emoji(std::span<const char32_t> cluster);
  Font* open(const FoundFont& found);  // nullptr if it cannot be read

  FontFinder finder_;
  std::vector<std::unique_ptr<Font>> fonts_;
  std::vector<FoundFont> unreadable_;
  std::array<Font*, 5> primary_{};                                   // by face
  std::map<std::pair<Face, hb_script_t>, std::vector<Font*>> used_;  // fallbacks, first found first
  std::unordered_map<std::u32string, Font*> searched_;               // face, script and cluster; nullptr: none
  std::vector<Font*> emoji_;
  std::optional<Font*> math_;
};

}  // namespace warpchat::gui
