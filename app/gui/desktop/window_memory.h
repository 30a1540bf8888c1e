// The window's saved state, in state_directory()/window.json.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/gui/desktop/glfw_window.h"
#include "engine/store/conversation_filter.h"

namespace warpchat::gui {

constexpr float kMinProfilerShare = 0.2f, kUsualProfilerShare = 0.48f;

enum class ThemeChoice { kSystem, kLight, kDark };

struct WindowMemory {
  WindowPlace place;
  ThemeChoice theme = ThemeChoice::kSystem;
  bool dark = false;                 // as shown last; the system's theme is not known at once
  std::string text_font, code_font;  // families; empty: the usual ones
  float zoom = 1;
  float sidebar_width = 264;  // at scale 1
  bool sidebar_open = true;
  float profiler_share = kUsualProfilerShare;  // of the height beside the sidebar
  bool emulators = false;                      // are offered as devices
  struct Draft {                               // what was written and attached, and not sent
    std::string text;
    std::vector<std::string> files;  // paths
    bool operator==(const Draft&) const = default;
  };
  std::map<int64_t, Draft> drafts;                        // by conversation (0: a new one)
  std::vector<std::string> folders;                       // in which files were chosen, the last one first
  std::vector<std::string> recent_commands;               // their texts, the last one first
  std::vector<std::string> folded;                        // folders of conversations
  ConversationOrder order = ConversationOrder::kUpdated;  // of the list of conversations
  bool operator==(const WindowMemory&) const = default;
};

constexpr float kMinZoom = 0.6f, kMaxZoom = 3.0f;
constexpr float kMinSidebar = 200, kMaxSidebar = 480;

const char* name_of(ThemeChoice theme);  // "system", "light", "dark"

// Missing or invalid values get the defaults of a first start.
WindowMemory window_memory_from(const std::string& json);
std::string to_json(const WindowMemory& memory);

WindowMemory load_window_memory(const std::string& folder);
void save_window_memory(const WindowMemory& memory, const std::string& folder);  // best effort, atomic

}  // namespace warpchat::gui
