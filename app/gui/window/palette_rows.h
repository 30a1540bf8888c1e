// What the command palette lists for a text: commands, models, servers, prompts and conversations. All pure.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/panels/shortcuts.h"

namespace warpchat::gui {

struct PaletteRow {
  enum class Kind { kCommand, kModel, kServer, kConversation, kPrompt };
  Kind kind;
  std::string text, detail;                      // detail: the command's keys, or what kind of thing it is
  std::vector<std::pair<size_t, size_t>> marks;  // bytes of text that were typed
  Command command = Command::kPalette;           // kCommand
  std::string path = {};                         // kModel, kServer: as LoadModel names it; kPrompt: its name
  ConversationId conversation = 0;               // kConversation
  int score = 0;
};

// Best first; without a text only commands, the recent ones first. recent: texts of commands, the last one first.
// Commands that would do nothing now are left out.
std::vector<PaletteRow> palette_rows(const ChatState& state, std::string_view text,
                                     const std::vector<std::string>& recent);

}  // namespace warpchat::gui
