// The window's state as JSON, for tests that drive it: --gui-state FILE.
#pragma once
#include <string>
#include <vector>

#include "app/chat/state/chat_state.h"
#include "app/gui/desktop/window_memory.h"
#include "app/gui/transcript/transcript_view.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

// Facts about the window itself.
struct WindowFacts {
  uint64_t n_frames = 0;
  double first_frame_seconds = 0;  // from the program's start to the first picture
  uint64_t n_late_frames = 0;      // that took 1.5 refreshes of the display or more, but for the first
  double longest_frame_seconds = 0, longest_frame_cpu_seconds = 0;  // of those but the first; cpu: of this thread
  std::vector<ConversationId> selected;                             // in the list of conversations
  std::string focus, composer, composition, selection, search_words;
  std::string theme, text_font, code_font;  // that were chosen
  std::vector<std::string> panels;          // that are open
  std::vector<std::string> palette;         // texts of its rows, while it is open
  std::vector<std::string> own_notices;     // of the window itself
  bool editing = false, dark = false, at_end = true, full_screen = false;
  TranscriptView::Found found{0, 0};
  float zoom = 1, scroll = 0, width = 0, height = 0;
  float mouse_x = -1, mouse_y = -1;  // as this frame saw it; -1: nowhere
};

std::string state_dump(const ChatState& state, const WindowFacts& facts, const std::vector<Ui::Mark>& marks);

// Replaces the file at once. Error if it cannot be written.
void write_state_dump(const std::string& path, const std::string& json);

}  // namespace warpchat::gui
