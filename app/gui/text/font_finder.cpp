// fontconfig ranks a named family above the requested characters, and those above a generic family. So the preferred
// family is requested alone and checked, then any font with the characters.
#include "app/gui/text/font_finder.h"

#include <fontconfig/fontconfig.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <set>
#include <string_view>

#include "models/error.h"

namespace warpchat::gui {

struct FontFinder::Wish {
  std::vector<std::string> families;  // best first
  const char* generic;                // family of last resort
  bool bold = false, italic = false, colour = false;
  std::span<const char32_t> characters;
  bool only_families = false;  // nothing else will do
};

namespace {

struct Deleter {
  void operator()(FcPattern* p) const { FcPatternDestroy(p); }
  void operator()(FcCharSet* c) const { FcCharSetDestroy(c); }
};
using Pattern = std::unique_ptr<FcPattern, Deleter>;
using CharSet = std::unique_ptr<FcCharSet, Deleter>;

const FcChar8* fc(const std::string& text) { return reinterpret_cast<const FcChar8*>(text.c_str()); }

CharSet char_set(std::span<const char32_t> characters) {
  CharSet set(FcCharSetCreate());
  for (char32_t c : characters) FcCharSetAddChar(set.get(), c);
  return set;
}

bool covers(FcPattern* font, const FcCharSet* wanted) {
  FcCharSet* has = nullptr;
  if (FcPatternGetCharSet(font, FC_CHARSET, 0, &has) != FcResultMatch) return false;
  return FcCharSetIsSubset(wanted, has);
}

bool flag(FcPattern* font, const char* name, bool otherwise) {
  FcBool value = otherwise;
  FcPatternGetBool(font, name, 0, &value);
  return value;
}

std::string text_of(FcPattern* font, const char* name) {
  FcChar8* value = nullptr;
  if (FcPatternGetString(font, name, 0, &value) != FcResultMatch) return "";
  return reinterpret_cast<const char*>(value);
}

bool has_family(FcPattern* font, const std::vector<std::string>& families) {
  FcChar8* name = nullptr;
  for (int i = 0; FcPatternGetString(font, FC_FAMILY, i, &name) == FcResultMatch; ++i) {
    if (std::find(families.begin(), families.end(), reinterpret_cast<const char*>(name)) != families.end()) return true;
  }
  return false;
}

FoundFont found(FcPattern* font) {
  FoundFont result{text_of(font, FC_FILE)};
  FcPatternGetInteger(font, FC_INDEX, 0, &result.index);
  result.variations = text_of(font, FC_FONT_VARIATIONS);
  result.embolden = flag(font, FC_EMBOLDEN, false);
  FcMatrix* matrix = nullptr;
  result.slant = FcPatternGetMatrix(font, FC_MATRIX, 0, &matrix) == FcResultMatch && matrix->xy != 0;
  return result;
}

bool writes_languages(FcPattern* font) {
  FcLangSet* languages = nullptr;
  if (FcPatternGetLangSet(font, FC_LANG, 0, &languages) != FcResultMatch) return false;
  return std::ranges::all_of(std::array{"en", "de", "fr", "pl"}, [&](const char* language) {
    return FcLangSetHasLang(languages, reinterpret_cast<const FcChar8*>(language)) == FcLangEqual;
  });
}

bool has_fixed_width(FcPattern* font) {
  int spacing = FC_PROPORTIONAL;
  FcPatternGetInteger(font, FC_SPACING, 0, &spacing);
  return spacing >= FC_DUAL;
}

bool is_code(Face face) { return face == Face::kCode; }
bool is_bold(Face face) { return face == Face::kBold || face == Face::kBoldItalic; }
bool is_italic(Face face) { return face == Face::kItalic || face == Face::kBoldItalic; }

const std::vector<std::string> kTextFamilies = {"Noto Sans", "DejaVu Sans", "Liberation Sans"};
const std::vector<std::string> kCodeFamilies = {"JetBrains Mono", "Noto Sans Mono", "DejaVu Sans Mono",
                                                "Liberation Mono"};

const char* const kMathFamilies[] = {"TeX Gyre Pagella Math", "Latin Modern Math",    "STIX Two Math",
                                     "TeX Gyre Termes Math",  "TeX Gyre DejaVu Math", "DejaVu Math TeX Gyre",
                                     "Noto Sans Math"};
constexpr char32_t kMathSigns[] = {U'√', U'∑', U'∫', U'𝑎'};

constexpr char32_t kLatin[] = {'a', 'z', 'A', 'Z', '0', '9', '.', '?'};

// Han characters look different by country: the user's language decides where the script does not.
std::string cjk_region(const std::string& script) {
  if (script == "Hira" || script == "Kana") return "JP";
  if (script == "Hang") return "KR";
  if (script == "Bopo") return "TC";
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (!value || !*value) continue;
    const std::string_view locale = value;
    if (locale.starts_with("ja")) return "JP";
    if (locale.starts_with("ko")) return "KR";
    if (locale.starts_with("zh_TW") || locale.starts_with("zh_HK")) return "TC";
    break;
  }
  return "SC";
}

std::vector<std::string> noto_families(const std::string& script, bool code) {
  if (script == "Hani" || script == "Hira" || script == "Kana" || script == "Hang" || script == "Bopo") {
    const std::string region = cjk_region(script);
    if (code) return {"Noto Sans Mono CJK " + region, "Noto Sans CJK " + region};
    return {"Noto Sans CJK " + region};
  }
  std::vector<std::string> families = {"Noto Sans Symbols2", "Noto Sans Symbols", "Noto Sans Math"};
  if (code) families.insert(families.begin(), kCodeFamilies.begin(), kCodeFamilies.end());  // of the same width
  const int32_t known = u_getPropertyValueEnum(UCHAR_SCRIPT, script.c_str());
  const char* name = known < 0 ? nullptr : uscript_getName(static_cast<UScriptCode>(known));
  if (name) families.insert(families.begin(), {"Noto Sans " + std::string(name), "Noto Serif " + std::string(name)});
  return families;
}

}  // namespace

FontFinder::FontFinder() : config_(FcInitLoadConfigAndFonts()) {
  if (!config_) throw Error("fontconfig cannot read its configuration; check /etc/fonts/fonts.conf");
  if (!match({kTextFamilies, "sans-serif", false, false, false, kLatin})) {
    FcConfigDestroy(config_);
    throw Error("no font for Latin text found; install one: apt install fonts-noto-core");
  }
}

FontFinder::~FontFinder() { FcConfigDestroy(config_); }

// Takes a tenth of a match's time: text full of characters that no font has must not stall.
bool FontFinder::any_covers(std::span<const char32_t> characters, bool colour) const {
  const CharSet wanted = char_set(characters);
  for (const FcSetName name : {FcSetSystem, FcSetApplication}) {
    const FcFontSet* fonts = FcConfigGetFonts(config_, name);
    for (int i = 0; fonts && i < fonts->nfont; ++i) {
      if (flag(fonts->fonts[i], FC_COLOR, false) == colour && covers(fonts->fonts[i], wanted.get())) return true;
    }
  }
  return false;
}

std::optional<FoundFont> FontFinder::match(const Wish& wish) const {
  Pattern pattern(FcPatternCreate());
  for (const std::string& family : wish.families) FcPatternAddString(pattern.get(), FC_FAMILY, fc(family));
  FcValue generic{FcTypeString, {reinterpret_cast<const FcChar8*>(wish.generic)}};
  FcPatternAddWeak(pattern.get(), FC_FAMILY, generic, FcTrue);
  FcPatternAddInteger(pattern.get(), FC_WEIGHT, wish.bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR);
  FcPatternAddInteger(pattern.get(), FC_SLANT, wish.italic ? FC_SLANT_ITALIC : FC_SLANT_ROMAN);
  FcPatternAddBool(pattern.get(), FC_COLOR, wish.colour);
  const CharSet wanted = char_set(wish.characters);
  FcPatternAddCharSet(pattern.get(), FC_CHARSET, wanted.get());
  FcConfigSubstitute(config_, pattern.get(), FcMatchPattern);
  FcDefaultSubstitute(pattern.get());
  FcResult result;
  const Pattern font(FcFontMatch(config_, pattern.get(), &result));
  if (!font || !covers(font.get(), wanted.get())) return std::nullopt;
  if (wish.only_families && !has_family(font.get(), wish.families)) return std::nullopt;
  if (flag(font.get(), FC_COLOR, false) != wish.colour) return std::nullopt;
  if (!wish.colour && !flag(font.get(), FC_OUTLINE, true)) return std::nullopt;  // dots of one size
  return found(font.get());
}

FoundFont FontFinder::best(Face face, const std::string& preferred) const {
  std::vector<std::string> families = is_code(face) ? kCodeFamilies : kTextFamilies;
  if (!preferred.empty()) families.insert(families.begin(), preferred);
  const char* generic = is_code(face) ? "monospace" : "sans-serif";
  if (auto font = match({families, generic, is_bold(face), is_italic(face), false, kLatin})) return *font;
  return match({kTextFamilies, "sans-serif", false, false, false, kLatin}).value();  // the constructor has seen it
}

FoundFont FontFinder::primary(Face face) const { return best(face, is_code(face) ? preferred_code_ : preferred_text_); }

FoundFont FontFinder::usual(Face face) const { return best(face, ""); }

std::vector<std::string> FontFinder::families(bool code) const {
  std::set<std::string> names;
  for (const FcSetName set : {FcSetSystem, FcSetApplication}) {
    const FcFontSet* fonts = FcConfigGetFonts(config_, set);
    for (int i = 0; fonts && i < fonts->nfont; ++i) {
      FcPattern* font = fonts->fonts[i];
      const std::string name = text_of(font, FC_FAMILY);
      const bool is_for_text = flag(font, FC_OUTLINE, true) && !flag(font, FC_COLOR, false) && writes_languages(font) &&
                               name.find(" Math") == std::string::npos;
      if (is_for_text && has_fixed_width(font) == code) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

std::optional<FoundFont> FontFinder::covering(Face face, const std::string& script,
                                              std::span<const char32_t> characters) const {
  if (!any_covers(characters, false)) return std::nullopt;
  const char* generic = is_code(face) ? "monospace" : "sans-serif";
  Wish wish{{}, generic, is_bold(face), is_italic(face), false, characters, true};
  for (const std::string& family : noto_families(script, is_code(face))) {
    wish.families = {family};
    if (auto font = match(wish)) return font;
  }
  wish.families.clear();
  wish.only_families = false;
  return match(wish);
}

std::optional<FoundFont> FontFinder::colour_emoji(std::span<const char32_t> characters) const {
  if (!any_covers(characters, true)) return std::nullopt;
  return match({{"Noto Color Emoji"}, "emoji", false, false, true, characters});
}

std::vector<FoundFont> FontFinder::math() const {
  std::vector<FoundFont> fonts;
  for (const char* family : kMathFamilies) {
    if (auto font = match({{family}, "serif", false, false, false, kMathSigns, true})) fonts.push_back(*font);
  }
  return fonts;
}

}  // namespace warpchat::gui
