// Which font files the system has for a face, a script or an emoji, as fontconfig knows them. No font is opened here.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/gui/text/text_engine.h"

struct _FcConfig;
struct _FcPattern;

namespace warpchat::gui {

struct FoundFont {
  std::string path;
  int index = 0;           // as FreeType counts: the face in the file, and its named instance * 65536
  std::string variations;  // of a variable font: "wght=700"; empty: none
  bool embolden = false;   // there is no bold one, so this has to be made bold
  bool slant = false;      // there is no italic one
  bool operator==(const FoundFont&) const = default;
};

class FontFinder {
 public:
  // Reads fontconfig's configuration and caches. Error if there is no font for Latin text.
  FontFinder();
  ~FontFinder();
  FontFinder(const FontFinder&) = delete;
  FontFinder& operator=(const FontFinder&) = delete;

  // The family that is preferred for text or for code, where it is installed; empty: the usual one.
  void prefer(const std::string& text, const std::string& code) { preferred_text_ = text, preferred_code_ = code; }
  FoundFont primary(Face face) const;
  FoundFont usual(Face face) const;  // without a preferred family

  // The installed families that can write European languages, in order: those of a fixed width for code, or the others.
  std::vector<std::string> families(bool code) const;

  // A font that draws all of these (at least one), the script's own Noto family first. script: ISO 15924, "Arab".
  std::optional<FoundFont> covering(Face face, const std::string& script, std::span<const char32_t> characters) const;
  // Fonts for mathematics, best first.
  std::vector<FoundFont> math() const;
  std::optional<FoundFont> colour_emoji(std::span<const char32_t> characters) const;

 private:
  struct Wish;
  FoundFont best(Face face, const std::string& preferred) const;
  bool any_covers(std::span<const char32_t> characters, bool colour) const;
  std::optional<FoundFont> match(const Wish& wish) const;
  _FcConfig* config_;
  std::string preferred_text_, preferred_code_;
};

}  // namespace warpchat::gui
