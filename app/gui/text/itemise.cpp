// Scripts are resolved first: punctuation, digits and marks belong to the letters before them, or else after.
#include "app/gui/text/itemise.h"

#include <algorithm>
#include <span>

namespace warpchat::gui {

namespace {

bool is_real(hb_script_t script) {
  return script != HB_SCRIPT_COMMON && script != HB_SCRIPT_INHERITED && script != HB_SCRIPT_UNKNOWN;
}

// The script of the cluster's first character that has one.
hb_script_t script_of(const Paragraph& paragraph, size_t cluster) {
  static hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  for (uint32_t i = paragraph.clusters[cluster].first; i < paragraph.end_of(cluster); ++i) {
    const hb_script_t script = hb_unicode_script(unicode, paragraph.characters[i]);
    if (is_real(script)) return script;
  }
  return HB_SCRIPT_COMMON;
}

std::vector<hb_script_t> resolved_scripts(const Paragraph& paragraph) {
  std::vector<hb_script_t> scripts(paragraph.clusters.size());
  hb_script_t before = HB_SCRIPT_COMMON;
  size_t leading = 0;  // clusters at the front that wait for a script
  for (size_t i = 0; i < scripts.size(); ++i) {
    const hb_script_t own = script_of(paragraph, i);
    if (is_real(own) && !is_real(before))
      std::fill(scripts.begin(), scripts.begin() + static_cast<ptrdiff_t>(leading), own);
    if (is_real(own))
      before = own;
    else if (!is_real(before))
      leading = i + 1;
    scripts[i] = before;
  }
  return scripts;
}

// Chooses Japanese, Korean or Chinese shapes of Han characters by the rest of the text.
hb_script_t font_script(const Paragraph& paragraph, hb_script_t script) {
  if (script != HB_SCRIPT_HAN) return script;
  if (paragraph.has_kana) return HB_SCRIPT_HIRAGANA;
  return paragraph.has_hangul ? HB_SCRIPT_HANGUL : HB_SCRIPT_HAN;
}

}  // namespace

bool is_tab(const Paragraph& paragraph, const Item& item) {
  return paragraph.characters[paragraph.clusters[item.begin].first] == '\t';
}

void itemise(const Paragraph& paragraph, const std::vector<StyledRun>& styles, size_t first_style, FontSet& fonts,
             std::vector<Item>& out) {
  const std::vector<hb_script_t> scripts = resolved_scripts(paragraph);
  size_t style = first_style;
  bool after_tab = true;
  for (size_t i = 0; i < paragraph.clusters.size(); ++i) {
    const Cluster& cluster = paragraph.clusters[i];
    while (styles[style].end <= cluster.offset) ++style;
    const Face face = styles[style].style.face;
    const auto text = std::span(paragraph.characters).subspan(cluster.first, paragraph.end_of(i) - cluster.first);
    Font& font = fonts.choose(face, font_script(paragraph, scripts[i]), text);
    const bool tab = text[0] == '\t';
    const bool joins = !tab && !after_tab && out.back().font == &font && out.back().script == scripts[i] &&
                       out.back().level == cluster.level && out.back().style == style;
    if (joins) {
      out.back().end = i + 1;
    } else {
      const bool plain = face == Face::kCode && &font == &fonts.primary(face);
      out.push_back({i, i + 1, &font, scripts[i], cluster.level, plain, static_cast<uint32_t>(style)});
    }
    after_tab = tab;
  }
}

}  // namespace warpchat::gui
