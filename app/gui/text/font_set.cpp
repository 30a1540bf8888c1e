// A cluster is drawn by one font, so that its parts can be combined: the font must have all its visible characters.
#include "app/gui/text/font_set.h"

#include <hb-ot.h>
#include <unicode/uchar.h>

#include <algorithm>

#include "models/error.h"

namespace warpchat::gui {

namespace {

constexpr char32_t kJoiner = 0x200D, kTextPresentation = 0xFE0E, kEmojiPresentation = 0xFE0F;
constexpr char32_t kFirstEmoji = 0xA9;  // but for the keycaps, which end in a presentation selector
constexpr size_t kMaxSearched = 4096;   // clusters remembered

bool is(char32_t c, UProperty property) { return u_hasBinaryProperty(static_cast<UChar32>(c), property); }

// Characters that steer others and need no glyph.
bool is_silent(char32_t c) { return c >= 0xAD && is(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT); }

bool covers(const Font& font, std::span<const char32_t> cluster) {
  return std::all_of(cluster.begin(), cluster.end(), [&](char32_t c) { return font.has(c) || is_silent(c); });
}

bool is_emoji(std::span<const char32_t> cluster) {
  const char32_t first = cluster.front();
  const auto rest = cluster.subspan(1);
  const auto in_rest = [&](char32_t c) { return std::find(rest.begin(), rest.end(), c) != rest.end(); };
  if (first < kFirstEmoji) return in_rest(kEmojiPresentation);
  if (!is(first, UCHAR_EMOJI) || in_rest(kTextPresentation)) return false;
  if (is(first, UCHAR_EMOJI_PRESENTATION) || in_rest(kEmojiPresentation) || in_rest(kJoiner)) return true;
  return std::any_of(rest.begin(), rest.end(), [](char32_t c) { return is(c, UCHAR_EMOJI_MODIFIER); });
}

// What a font must have: two of the same and the silent ones are no matter.
std::vector<char32_t> visible(std::span<const char32_t> cluster) {
  std::vector<char32_t> result;
  std::copy_if(cluster.begin(), cluster.end(), std::back_inserter(result), [](char32_t c) { return !is_silent(c); });
  return result;
}

std::string name_of(hb_script_t script) {
  char name[5] = {};
  hb_tag_to_string(hb_script_to_iso15924_tag(script), name);
  return name;
}

}  // namespace

Font& FontSet::primary(Face face) {
  Font*& font = primary_[static_cast<size_t>(face)];
  if (!font) font = open(finder_.primary(face));
  if (!font) font = open(finder_.usual(face));
  if (!font)
    throw Error("cannot read the font " + finder_.usual(face).path + "; repair or remove it, then run fc-cache");
  return *font;
}

void FontSet::prefer(const std::string& text, const std::string& code) {
  finder_.prefer(text, code);
  primary_.fill(nullptr);
  used_.clear();
  searched_.clear();
}

Font& FontSet::choose(Face face, hb_script_t script, std::span<const char32_t> cluster) {
  Font& own = primary(face);
  if (cluster.size() == 1 && cluster[0] < kFirstEmoji) return own;
  if (is_emoji(cluster)) {
    if (Font* font = emoji(cluster)) return *font;
  }
  if (covers(own, cluster)) return own;
  Font* font = fallback(face, script, cluster);
  return font ? *font : own;
}

Font* FontSet::math() {
  if (math_) return *math_;
  math_ = nullptr;
  for (const FoundFont& found : finder_.math()) {
    Font* font = open(found);
    if (!font || !hb_ot_math_has_data(hb_font_get_face(font->shaping()))) continue;
    math_ = font;
    break;
  }
  return *math_;
}

Font* FontSet::fallback(Face face, hb_script_t script, std::span<const char32_t> cluster) {
  for (Font* font : used_[{face, script}]) {
    if (covers(*font, cluster)) return font;
  }
  std::u32string key(cluster.begin(), cluster.end());
  key += {static_cast<char32_t>(face), static_cast<char32_t>(script)};
  if (const auto known = searched_.find(key); known != searched_.end()) return known->second;
  if (searched_.size() >= kMaxSearched) searched_.clear();
  return searched_[key] = search(face, script, cluster);
}

// If no font has a cluster's mark, a font that has its base draws it.
Font* FontSet::search(Face face, hb_script_t script, std::span<const char32_t> cluster) {
  const std::vector<char32_t> wanted = visible(cluster);
  if (wanted.empty()) return nullptr;
  auto found = finder_.covering(face, name_of(script), wanted);
  if (!found && wanted.size() > 1) {
    if (primary(face).has(wanted[0])) return nullptr;
    found = finder_.covering(face, name_of(script), std::span(wanted).first(1));
  }
  Font* font = found ? open(*found) : nullptr;
  std::vector<Font*>& used = used_[{face, script}];
  if (font && std::find(used.begin(), used.end(), font) == used.end()) used.push_back(font);
  return font;
}

Font* FontSet::emoji(std::span<const char32_t> cluster) {
  for (Font* font : emoji_) {
    if (covers(*font, cluster)) return font;
  }
  std::u32string key(cluster.begin(), cluster.end());
  if (searched_.contains(key)) return nullptr;
  const std::vector<char32_t> wanted = visible(cluster);
  const auto found = wanted.empty() ? std::nullopt : finder_.colour_emoji(wanted);
  Font* font = found ? open(*found) : nullptr;
  if (font)
    emoji_.push_back(font);
  else
    searched_[key] = nullptr;
  return font;
}

Font* FontSet::open(const FoundFont& found) {
  for (const auto& font : fonts_) {
    if (font->found() == found) return font.get();
  }
  if (std::find(unreadable_.begin(), unreadable_.end(), found) != unreadable_.end()) return nullptr;
  try {
    fonts_.push_back(std::make_unique<Font>(found, static_cast<uint16_t>(fonts_.size())));
    return fonts_.back().get();
  } catch (const Error&) {  // fontconfig's caches may name files that are gone; the text shows boxes then
    unreadable_.push_back(found);
    return nullptr;
  }
}

}  // namespace warpchat::gui
