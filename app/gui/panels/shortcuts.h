// The window's commands and their keys: one table for keys, buttons, the list of shortcuts and the palette.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "app/chat/state/actions.h"
#include "app/chat/state/chat_state.h"
#include "app/gui/widgets/input.h"

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
  kSend,
  kNewLine,
  kAttach,
  kPrompts,
  kSavePrompt,
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
  kPalette,
  kModels,
  kOpenModelFile,
  kHubModels,
  kConnectServer,
  kUnloadModel,
  kSettings,
  kAssistants,
  kImportAssistants,
  kTools,
  kImportTools,
  kProfiler,
  kProfilerSize,
  kSidebar,
  kView,
  kTheme,
  kSystemTheme,
  kFullScreen,
  kZoomIn,
  kZoomOut,
  kZoomReset,
  kShortcuts,
  kQuit
};

enum class KeyGroup { kConversations, kMessages, kReading, kWindow };

constexpr int kNoKey = 0;  // of a command that only buttons and the palette have, or whose key a field reads itself

struct Shortcut {
  Command command;
  int key, mods;              // GLFW's, or kNoKey
  std::string_view keys;      // as people write them; empty: none
  std::string_view text;      // empty: another way of the row above
  KeyGroup group;             // under which it is listed
  bool fields_first = false;  // only when the field that has the focus does not use the key
};

std::span<const Shortcut> shortcuts();
std::optional<Command> command_of(const KeyPress& key, bool fields_first);
std::string_view keys_of(Command command);

// Whether the command would do anything now, as far as the state tells.
bool applies(Command command, const ChatState& state);

// A panel's input, and where it pushes actions and commands.
struct Frame {
  Ui& ui;
  const ChatState& state;
  Actions& actions;
  std::vector<Command>& commands;
};

}  // namespace warpchat::gui
