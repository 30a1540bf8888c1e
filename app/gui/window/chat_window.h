// The window's content: the state that it shows, the panels, where they stand, and what commands do.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/gui/chat_worker.h"
#include "app/gui/desktop/glfw_window.h"
#include "app/gui/desktop/memory_keeper.h"
#include "app/gui/desktop/system_theme.h"
#include "app/gui/panels/assistants_panel.h"
#include "app/gui/panels/file_dialog.h"
#include "app/gui/panels/model_picker.h"
#include "app/gui/panels/prompts_panel.h"
#include "app/gui/panels/settings_panel.h"
#include "app/gui/panels/shortcuts_panel.h"
#include "app/gui/panels/tools_panel.h"
#include "app/gui/panels/view_panel.h"
#include "app/gui/profiler/profiler_overlay.h"
#include "app/gui/transcript/transcript_view.h"
#include "app/gui/widgets/ui.h"
#include "app/gui/window/command_palette.h"
#include "app/gui/window/composer.h"
#include "app/gui/window/find_bar.h"
#include "app/gui/window/notices.h"
#include "app/gui/window/sidebar.h"
#include "app/gui/window/start_screen.h"
#include "app/gui/window/state_dump.h"
#include "app/gui/window/status_line.h"
#include "app/gui/window/top_bar.h"

namespace warpchat::gui {

class ChatWindow {
 public:
  ChatWindow(GlfwWindow& window, ChatWorker& worker, TextEngine& text, const WindowMemory& memory,
             const ChatOptions& options);

  bool apply_updates();  // whether there were any
  bool may_change_soon() const { return state_.open.phase != AnswerPhase::kIdle || state_.loading; }
  void draw(std::vector<InputEvent> events);  // a frame, shown; then what the user wished for in it is done
  bool wants_frames() const { return transcript_.needs_frames() || !pending_commands_.empty(); }
  double wake_in() const { return ui_.wake(); }  // seconds until a frame is needed
  bool wants_to_quit() const { return quit_; }
  WindowMemory memory() const;
  enum class DraftsOf { kAll, kListed };  // kListed: not those of conversations that no longer exist
  void remember_drafts(DraftsOf which);   // also done by itself, shortly after each change
  WindowFacts facts() const;
  const ChatState& state() const { return state_; }
  const std::vector<Ui::Mark>& marks() const { return ui_.marks(); }

 private:
  void set_up_frame();  // theme, scale, fonts
  bool follow_theme();  // whether the system's changes what is shown
  void take_shortcuts(bool fields_first);
  void take_drops();
  void draw_panels();
  void draw_main(Rect rect);
  void draw_conversation(Rect rect);
  void draw_composer(Rect& rect);
  void draw_prompts();
  void draw_trashed(Rect place);
  void draw_profiler(Rect rect);
  void serve_text_menu();
  void drag_sidebar(Rect edge);
  void drag_profiler(Rect whole, Rect edge);
  void take_transcript_keys();
  bool any_card() const {
    return palette_.is_open() || picker_.is_open() || prompts_.is_open() || assistants_.is_open() || tools_.is_open() ||
           file_dialog_.browses() || shortcuts_.open || view_.is_open();
  }
  bool is_narrow() const;
  bool sidebar_shown() const { return is_narrow() ? narrow_sidebar_ : memory_.sidebar_open; }
  void keep_focus();
  void follow_state();
  void apply(const Update& update);
  void attach(const Composer::Draft& draft);
  void remember_changed_draft();

  // app/gui/window/commands.cpp
  void run(Command command);
  bool run_on_conversation(Command command);
  bool run_on_panel(Command command);
  void escape();
  void edit_last();
  void take_back();
  void forget_taken_back();
  void show_version(int step);
  void copy_answer();
  void zoom_by(float factor);
  void ask_to_export();
  void ask_for_file(FileDialog::Purpose purpose);

  GlfwWindow& window_;
  ChatWorker& worker_;
  TextEngine& text_;
  ChatState state_;
  Actions actions_;
  std::vector<Command> commands_, pending_commands_;
  Ui ui_;
  Frame frame_{ui_, state_, actions_, commands_};
  WindowMemory memory_;

  TranscriptView transcript_;
  Sidebar sidebar_;
  StartScreen start_screen_;
  Composer composer_;
  TopBar top_bar_;
  StatusLine status_line_;
  SettingsPanel settings_;
  CommandPalette palette_;
  ModelPicker picker_;
  PromptsPanel prompts_;
  AssistantsPanel assistants_;
  ToolsPanel tools_;
  ShortcutsPanel shortcuts_;
  ViewPanel view_;
  SystemTheme system_theme_;
  FileDialog file_dialog_;
  Notices notices_;
  FindBar find_bar_;
  ProfilerOverlay profiler_;

  float fonts_scale_ = 0;
  uint32_t fonts_revision_ = 0;
  const bool keeps_drafts_;
  uint64_t kept_revision_ = 0;  // of the composer, when its draft was remembered
  size_t kept_files_ = 0;
  double kept_at_ = 0;  // seconds
  bool fonts_complete_ = false, style_dark_ = false, quit_ = false, narrow_sidebar_ = false;
  TranscriptView::MenuTarget menu_target_;
  std::map<ConversationId, Composer::Draft> drafts_;  // of conversations that are not shown; 0: of a new one
  struct TakenBack {
    ConversationId conversation = 0;
    std::string text;
  };
  TakenBack taken_back_;                  // by the last Undo
  std::optional<SearchHit> pending_hit_;  // to be scrolled to once its conversation is open
};

}  // namespace warpchat::gui
