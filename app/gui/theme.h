// Colours and sizes of the window: one table for the light theme, one for the dark.
#pragma once
#include <cstdint>

#include "app/platform/text/code_kind.h"

namespace warpchat::gui {

using Colour = uint32_t;  // as ImGui packs it: 0xAABBGGRR

struct Theme {
  bool dark;
  Colour background, panel, raised;   // the window, the sidebar and bars, what lies on them (menus, user messages)
  Colour text, dim_text, faint_text;  // what is read, what stands beside it, hints
  Colour accent, accent_text, link;   // buttons that matter, text on them
  Colour border, selection, hover;
  Colour mark, current_mark;  // behind what was looked for, and the place that is gone to
  Colour code_background, code_text, quote_bar;
  Colour inline_code;  // behind it, on any background
  Colour error, warning, good;
  Colour code_kinds[kCodeKinds];  // of coloured code, by CodeKind; plain: code_text
};

const Theme& light_theme();
const Theme& dark_theme();

// Sizes in pixels.
struct Sizes {
  float text = 16;  // font size of transcript and controls, scaled
  float scale = 1;  // display scale times zoom; `text` includes it
  float width(float at_scale_1) const { return at_scale_1 * scale; }
};

}  // namespace warpchat::gui
