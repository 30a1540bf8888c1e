// The table of commands, in the order of the list that F1 shows.
#include "app/gui/panels/shortcuts.h"

#include <GLFW/glfw3.h>

#include <algorithm>

namespace warpchat::gui {

namespace {

constexpr int kCtrl = GLFW_MOD_CONTROL, kShift = GLFW_MOD_SHIFT, kAlt = GLFW_MOD_ALT;

using enum KeyGroup;

constexpr Shortcut kShortcuts[] = {
    {Command::kNewConversation, GLFW_KEY_N, kCtrl, "Ctrl+N", "New chat", kConversations},
    {Command::kSearch, GLFW_KEY_K, kCtrl, "Ctrl+K", "Search all chats", kConversations},
    {Command::kPreviousConversation, GLFW_KEY_UP, kAlt, "Alt+Up", "Previous chat", kConversations},
    {Command::kNextConversation, GLFW_KEY_DOWN, kAlt, "Alt+Down", "Next chat", kConversations},
    {Command::kRename, GLFW_KEY_F2, 0, "F2", "Rename the chat", kConversations},
    {Command::kFork, GLFW_KEY_D, kCtrl, "Ctrl+D", "Duplicate (fork) the chat", kConversations},
    {Command::kExport, GLFW_KEY_S, kCtrl, "Ctrl+S", "Export the chat", kConversations},
    {Command::kImport, GLFW_KEY_O, kCtrl | kShift, "Ctrl+Shift+O", "Import chats", kConversations},
    {Command::kThrowAway, GLFW_KEY_BACKSPACE, kCtrl | kShift, "Ctrl+Shift+Backspace", "Move to trash", kConversations},
    {Command::kShowTrash, GLFW_KEY_T, kCtrl, "Ctrl+T", "Show the trash", kConversations},

    {Command::kComposer, GLFW_KEY_L, kCtrl, "Ctrl+L", "Write a message", kMessages},
    {Command::kSend, kNoKey, 0, "Enter", "Send the message", kMessages},
    {Command::kNewLine, kNoKey, 0, "Shift+Enter", "New line", kMessages},
    {Command::kAttach, GLFW_KEY_U, kCtrl, "Ctrl+U", "Attach a file", kMessages},
    {Command::kPrompts, GLFW_KEY_P, kCtrl, "Ctrl+P", "Prompts", kMessages},
    {Command::kSavePrompt, kNoKey, 0, "", "Save the message as a prompt", kMessages},
    {Command::kStop, GLFW_KEY_ESCAPE, 0, "Esc", "Stop, close", kMessages},
    {Command::kRegenerate, GLFW_KEY_R, kCtrl, "Ctrl+R", "Regenerate the answer", kMessages},
    {Command::kContinue, GLFW_KEY_R, kCtrl | kShift, "Ctrl+Shift+R", "Continue the answer", kMessages},
    {Command::kEditLast, GLFW_KEY_E, kCtrl, "Ctrl+E", "Edit and resend the last message", kMessages},
    {Command::kUndo, GLFW_KEY_U, kCtrl | kShift, "Ctrl+Shift+U", "Undo last message", kMessages},
    {Command::kPreviousVersion, GLFW_KEY_LEFT, kAlt, "Alt+Left", "Previous version", kMessages},
    {Command::kNextVersion, GLFW_KEY_RIGHT, kAlt, "Alt+Right", "Next version", kMessages},

    {Command::kFind, GLFW_KEY_F, kCtrl, "Ctrl+F", "Find in this chat", kReading},
    {Command::kFindNext, GLFW_KEY_F3, 0, "F3", "Next match", kReading},
    {Command::kFindPrevious, GLFW_KEY_F3, kShift, "Shift+F3", "Previous match", kReading},
    {Command::kCopyAnswer, GLFW_KEY_C, kCtrl | kShift, "Ctrl+Shift+C", "Copy the last answer", kReading},
    {Command::kCopySelection, GLFW_KEY_C, kCtrl, "Ctrl+C", "Copy the selection", kReading, true},
    {Command::kSelectAll, GLFW_KEY_A, kCtrl, "Ctrl+A", "Select all", kReading, true},
    {Command::kPageUp, GLFW_KEY_PAGE_UP, 0, "PgUp", "Scroll up", kReading},
    {Command::kPageDown, GLFW_KEY_PAGE_DOWN, 0, "PgDn", "Scroll down", kReading},
    {Command::kFirstMessage, GLFW_KEY_HOME, kCtrl, "Ctrl+Home", "Scroll to the beginning", kReading, true},
    {Command::kLastMessage, GLFW_KEY_END, kCtrl, "Ctrl+End", "Scroll to the end", kReading, true},

    {Command::kPalette, GLFW_KEY_P, kCtrl | kShift, "Ctrl+Shift+P", "All commands", kWindow},
    {Command::kModels, GLFW_KEY_O, kCtrl, "Ctrl+O", "Models and devices", kWindow},
    {Command::kOpenModelFile, GLFW_KEY_O, kCtrl | kAlt, "Ctrl+Alt+O", "Open a model file", kWindow},
    {Command::kHubModels, kNoKey, 0, "", "Get a model from the hub", kWindow},
    {Command::kConnectServer, kNoKey, 0, "", "Connect to a server", kWindow},
    {Command::kUnloadModel, kNoKey, 0, "", "Unload the model", kWindow},
    {Command::kSettings, GLFW_KEY_COMMA, kCtrl, "Ctrl+,", "Settings", kWindow},
    {Command::kAssistants, kNoKey, 0, "", "Assistants", kWindow},
    {Command::kImportAssistants, kNoKey, 0, "", "Import assistants", kWindow},
    {Command::kTools, kNoKey, 0, "", "Tools and MCP servers", kWindow},
    {Command::kImportTools, kNoKey, 0, "", "Import MCP servers", kWindow},
    {Command::kProfiler, GLFW_KEY_F12, 0, "F12", "Profiler", kWindow},
    {Command::kProfilerSize, GLFW_KEY_F12, kShift, "Shift+F12", "Profiler in part or all of the window", kWindow},
    {Command::kSidebar, GLFW_KEY_B, kCtrl, "Ctrl+B", "Sidebar", kWindow},
    {Command::kView, kNoKey, 0, "", "View: theme, size and fonts", kWindow},
    {Command::kSystemTheme, kNoKey, 0, "", "Theme as the system's", kWindow},
    {Command::kTheme, GLFW_KEY_L, kCtrl | kShift, "Ctrl+Shift+L", "Light or dark", kWindow},
    {Command::kFullScreen, GLFW_KEY_F11, 0, "F11", "Full screen", kWindow},
    {Command::kZoomIn, GLFW_KEY_EQUAL, kCtrl, "Ctrl+plus", "Larger text", kWindow},
    {Command::kZoomIn, GLFW_KEY_EQUAL, kCtrl | kShift, "Ctrl+plus", "", kWindow},
    {Command::kZoomIn, GLFW_KEY_KP_ADD, kCtrl, "Ctrl+plus", "", kWindow},
    {Command::kZoomOut, GLFW_KEY_MINUS, kCtrl, "Ctrl+minus", "Smaller text", kWindow},
    {Command::kZoomOut, GLFW_KEY_KP_SUBTRACT, kCtrl, "Ctrl+minus", "", kWindow},
    {Command::kZoomReset, GLFW_KEY_0, kCtrl, "Ctrl+0", "Normal text size", kWindow},
    {Command::kShortcuts, GLFW_KEY_F1, 0, "F1", "Keyboard shortcuts", kWindow},
    {Command::kShortcuts, GLFW_KEY_SLASH, kCtrl, "Ctrl+/", "", kWindow},
    {Command::kQuit, GLFW_KEY_Q, kCtrl, "Ctrl+Q", "Quit", kWindow},
};

}  // namespace

std::span<const Shortcut> shortcuts() { return kShortcuts; }

std::optional<Command> command_of(const KeyPress& key, bool fields_first) {
  if (key.key == kNoKey) return std::nullopt;
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

bool applies(Command command, const ChatState& state) {
  const OpenConversation& open = state.open;
  const bool is_idle = open.phase == AnswerPhase::kIdle;
  const auto has = [&](auto condition) { return std::ranges::any_of(open.messages, condition); };
  switch (command) {
    case Command::kThrowAway:
    case Command::kRename:
      return open.id != 0;
    case Command::kPreviousConversation:
    case Command::kNextConversation:
      return !state.conversations.empty();
    case Command::kExport:
    case Command::kFork:
    case Command::kFind:
    case Command::kFindNext:
    case Command::kFindPrevious:
    case Command::kSelectAll:
    case Command::kPageUp:
    case Command::kPageDown:
    case Command::kFirstMessage:
    case Command::kLastMessage:
      return !open.messages.empty();
    case Command::kRegenerate:
    case Command::kContinue:
      return is_idle && !open.messages.empty();
    case Command::kEditLast:
      return is_idle && has([](const ChatMessage& m) { return m.role == "user"; });
    case Command::kUndo:
      return has([](const ChatMessage& m) { return m.role == "user"; });
    case Command::kCopyAnswer:
      return has([](const ChatMessage& m) { return m.role == "assistant"; });
    case Command::kPreviousVersion:
    case Command::kNextVersion:
      return is_idle && has([](const ChatMessage& m) { return m.siblings.size() > 1; });
    case Command::kUnloadModel:
      return state.model.has_value() && is_idle;
    default:
      return true;
  }
}

}  // namespace warpchat::gui
