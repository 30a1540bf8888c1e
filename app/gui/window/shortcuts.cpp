// The table of shortcuts, in the order of the list that F1 shows.
#include "app/gui/window/shortcuts.h"

#include <GLFW/glfw3.h>

namespace warpchat::gui {

namespace {

constexpr int kCtrl = GLFW_MOD_CONTROL, kShift = GLFW_MOD_SHIFT, kAlt = GLFW_MOD_ALT;

constexpr Shortcut kShortcuts[] = {
    {Command::kNewConversation, GLFW_KEY_N, kCtrl, "Ctrl+N", "New conversation", false},
    {Command::kSearch, GLFW_KEY_K, kCtrl, "Ctrl+K", "Search conversations", false},
    {Command::kSearch, GLFW_KEY_F, kCtrl, "Ctrl+F", "", false},
    {Command::kPreviousConversation, GLFW_KEY_UP, kAlt, "Alt+Up", "Conversation above", false},
    {Command::kNextConversation, GLFW_KEY_DOWN, kAlt, "Alt+Down", "Conversation below", false},
    {Command::kRename, GLFW_KEY_F2, 0, "F2", "Rename conversation", false},
    {Command::kThrowAway, GLFW_KEY_BACKSPACE, kCtrl | kShift, "Ctrl+Shift+Backspace", "Conversation to the trash",
     false},
    {Command::kShowTrash, GLFW_KEY_T, kCtrl, "Ctrl+T", "Show the trash", false},
    {Command::kExport, GLFW_KEY_S, kCtrl, "Ctrl+S", "Export conversation", false},
    {Command::kImport, GLFW_KEY_O, kCtrl | kShift, "Ctrl+Shift+O", "Import a conversation", false},
    {Command::kComposer, GLFW_KEY_L, kCtrl, "Ctrl+L", "Write a message", false},
    {Command::kAttach, GLFW_KEY_U, kCtrl, "Ctrl+U", "Attach a text file", false},
    {Command::kStop, GLFW_KEY_ESCAPE, 0, "Esc", "Close a panel, stop the answer", false},
    {Command::kRegenerate, GLFW_KEY_R, kCtrl, "Ctrl+R", "Answer once more", false},
    {Command::kContinue, GLFW_KEY_R, kCtrl | kShift, "Ctrl+Shift+R", "Go on with the last answer", false},
    {Command::kUndo, GLFW_KEY_U, kCtrl | kShift, "Ctrl+Shift+U", "Take back the last message with its answer", false},
    {Command::kFork, GLFW_KEY_D, kCtrl, "Ctrl+D", "Go on in a copy of the conversation", false},
    {Command::kEditLast, GLFW_KEY_E, kCtrl, "Ctrl+E", "Edit the last message", false},
    {Command::kPreviousVersion, GLFW_KEY_LEFT, kAlt, "Alt+Left", "Version before, of the last message that has some",
     false},
    {Command::kNextVersion, GLFW_KEY_RIGHT, kAlt, "Alt+Right", "Next version", false},
    {Command::kCopyAnswer, GLFW_KEY_C, kCtrl | kShift, "Ctrl+Shift+C", "Copy the last answer", false},
    {Command::kCopySelection, GLFW_KEY_C, kCtrl, "Ctrl+C", "Copy the selection", true},
    {Command::kSelectAll, GLFW_KEY_A, kCtrl, "Ctrl+A", "Select all", true},
    {Command::kPageUp, GLFW_KEY_PAGE_UP, 0, "PgUp", "Scroll up", false},
    {Command::kPageDown, GLFW_KEY_PAGE_DOWN, 0, "PgDn", "Scroll down", false},
    {Command::kModels, GLFW_KEY_O, kCtrl, "Ctrl+O", "Models and devices", false},
    {Command::kSettings, GLFW_KEY_COMMA, kCtrl, "Ctrl+,", "Settings of the answers", false},
    {Command::kProfiler, GLFW_KEY_F12, 0, "F12", "Profiler", false},
    {Command::kSidebar, GLFW_KEY_B, kCtrl, "Ctrl+B", "Show or hide the sidebar", false},
    {Command::kTheme, GLFW_KEY_L, kCtrl | kShift, "Ctrl+Shift+L", "Light or dark", false},
    {Command::kFullScreen, GLFW_KEY_F11, 0, "F11", "Full screen", false},
    {Command::kZoomIn, GLFW_KEY_EQUAL, kCtrl, "Ctrl+plus", "Larger", false},
    {Command::kZoomIn, GLFW_KEY_EQUAL, kCtrl | kShift, "Ctrl+plus", "", false},
    {Command::kZoomIn, GLFW_KEY_KP_ADD, kCtrl, "Ctrl+plus", "", false},
    {Command::kZoomOut, GLFW_KEY_MINUS, kCtrl, "Ctrl+minus", "Smaller", false},
    {Command::kZoomOut, GLFW_KEY_KP_SUBTRACT, kCtrl, "Ctrl+minus", "", false},
    {Command::kZoomReset, GLFW_KEY_0, kCtrl, "Ctrl+0", "Normal size", false},
    {Command::kShortcuts, GLFW_KEY_F1, 0, "F1", "This list", false},
    {Command::kShortcuts, GLFW_KEY_SLASH, kCtrl, "Ctrl+/", "", false},
    {Command::kQuit, GLFW_KEY_Q, kCtrl, "Ctrl+Q", "Quit", false},
};

}  // namespace

std::span<const Shortcut> shortcuts() { return kShortcuts; }

std::optional<Command> command_of(const KeyPress& key, bool fields_first) {
  for (const Shortcut& shortcut : kShortcuts)
    if (shortcut.key == key.key && shortcut.mods == key.mods && shortcut.fields_first == fields_first)
      return shortcut.command;
  return std::nullopt;
}

std::string_view keys_of(Command command) {
  for (const Shortcut& shortcut : kShortcuts)
    if (shortcut.command == command) return shortcut.keys;
  return "";
}

}  // namespace warpchat::gui
