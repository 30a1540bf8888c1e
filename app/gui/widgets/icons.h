// Our own signs on buttons, drawn as lines in a square of 24 units.
#pragma once
#include <imgui/imgui.h>

#include "app/gui/theme.h"

namespace warpchat::gui {

enum class Icon {
  kNone,
  kPlus,
  kSearch,
  kSettings,
  kSend,
  kStop,
  kTrash,
  kPen,
  kClose,
  kSidebar,
  kMoon,
  kSun,
  kDown,
  kUp,
  kAttach,
  kKeyboard,
  kExport,
  kImport,
  kProfiler,
  kRestore,
  kRegenerate,
  kContinue,
  kReset,
  kCheck,
  kBack,
  kForward,
  kCopy,
  kFile,
  kFolder,
  kServer,
  kText,
  kPrompts,
  kTools,
  kPin,
  kArchive,
  kTag,
  kOrder,
  kWarning
};

// Within a square whose corner is `at`, `size` pixels wide.
void draw_icon(ImDrawList& list, Icon icon, ImVec2 at, float size, Colour colour);

}  // namespace warpchat::gui
