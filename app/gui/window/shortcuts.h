// The window's commands and their keys.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "app/chat/actions.h"
#include "app/chat/chat_state.h"
#include "app/gui/window/input.h"

namespace warpchat::gui {

class Ui;

enum class Command {
  kNewConversation,
  kSearch,
  kFind,
  kFindNext,
  kFindPrevious,
  kPreviousConversation,
  kNextConversation,
  kRename,
  kThrowAway,
  kShowTrash,
  kExport,
  kImport,
  kComposer,
  kAttach,
  kStop,
  kRegenerate,
  kContinue,
  kUndo,
  kFork,
  kEditLast,
  kPreviousVersion,
  kNextVersion,
  kCopyAnswer,
  kCopySelection,
  kSelectAll,
  kPageUp,
  kPageDown,
  kFirstMessage,
  kLastMessage,
  kModels,
  kOpenModelFile,
  kSettings,
  kProfiler,
  kProfilerSize,
  kSidebar,
  kTheme,
  kFullScreen,
  kZoomIn,
  kZoomOut,
  kZoomReset,
  kShortcuts,
  kQuit
};

enum class KeyGroup { kConversations, kMessages, kReading, kWindow };

struct Shortcut {
  Command command;
  int key, mods;              // GLFW's
  std::string_view keys;      // as people write them
  std::string_view text;      // empty: another way of the row above
  KeyGroup group;             // under which it is listed
  bool fields_first = false;  // only when the field that has the focus does not use the key
};

std::span<const Shortcut> shortcuts();
std::optional<Command> command_of(const KeyPress& key, bool fields_first);
std::string_view keys_of(Command command);

// A panel's input, and where it pushes actions and commands.
struct Frame {
  Ui& ui;
  const ChatState& state;
  Actions& actions;
  std::vector<Command>& commands;
};

}  // namespace warpchat::gui
