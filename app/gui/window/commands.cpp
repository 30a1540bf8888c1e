// What each command of the window does.
#include <algorithm>
#include <cmath>

#include "app/gui/window/chat_window.h"

namespace warpchat::gui {

void ChatWindow::run(Command command) {
  if (command == Command::kRename && picker_.rename_focused(frame_)) return;
  if (!applies(command, state_)) return;
  if (run_on_conversation(command) || run_on_panel(command)) return;
  switch (command) {
    case Command::kCopySelection:
      if (transcript_.has_selection()) window_.set_clipboard(transcript_.selected_text(state_));
      return;
    case Command::kSelectAll:
      return transcript_.select_all();
    case Command::kPageUp:
      return transcript_.scroll_pages(-0.9f);
    case Command::kPageDown:
      return transcript_.scroll_pages(0.9f);
    case Command::kFirstMessage:
      return transcript_.scroll_to_start();
    case Command::kLastMessage:
      return transcript_.scroll_to_end();
    case Command::kTheme:
      memory_.theme = memory_.dark ? ThemeChoice::kLight : ThemeChoice::kDark;
      return;
    case Command::kSystemTheme:
      memory_.theme = ThemeChoice::kSystem;
      return;
    case Command::kFullScreen:
      return window_.toggle_full_screen();
    case Command::kZoomIn:
      return zoom_by(1.1f);
    case Command::kZoomOut:
      return zoom_by(1 / 1.1f);
    case Command::kZoomReset:
      memory_.zoom = 1;
      return;
    case Command::kQuit:
      quit_ = true;
      return;
    default:
      return;
  }
}

bool ChatWindow::run_on_conversation(Command command) {
  switch (command) {
    case Command::kNewConversation:
      actions_.push(NewConversation{});
      ui_.set_focus("composer");
      narrow_sidebar_ = false;
      return true;
    case Command::kPreviousConversation:
      sidebar_.list().open_neighbour(frame_, -1);
      return true;
    case Command::kNextConversation:
      sidebar_.list().open_neighbour(frame_, 1);
      return true;
    case Command::kThrowAway:
      actions_.push(ThrowAway{{state_.open.id}});
      return true;
    case Command::kExport:
      ask_to_export();
      return true;
    case Command::kImport:
      ask_for_file(FileDialog::Purpose::kImport);
      return true;
    case Command::kImportTools:
      ask_for_file(FileDialog::Purpose::kImportTools);
      return true;
    case Command::kImportAssistants:
      ask_for_file(FileDialog::Purpose::kImportAssistants);
      return true;
    case Command::kAttach:
      ask_for_file(FileDialog::Purpose::kAttach);
      return true;
    case Command::kOpenModelFile:
      ask_for_file(FileDialog::Purpose::kModel);
      return true;
    case Command::kRegenerate:
      actions_.push(Regenerate{state_.open.messages.back().key});
      return true;
    case Command::kContinue:
      actions_.push(ContinueAnswer{state_.open.messages.back().key});
      return true;
    case Command::kUndo:
      take_back();
      return true;
    case Command::kFork:
      actions_.push(Fork{state_.open.messages.back().key});
      return true;
    case Command::kEditLast:
      edit_last();
      return true;
    case Command::kPreviousVersion:
      show_version(-1);
      return true;
    case Command::kNextVersion:
      show_version(1);
      return true;
    case Command::kCopyAnswer:
      copy_answer();
      return true;
    default:
      return false;
  }
}

bool ChatWindow::run_on_panel(Command command) {
  bool& sidebar = is_narrow() ? narrow_sidebar_ : memory_.sidebar_open;
  switch (command) {
    case Command::kStop:
      escape();
      return true;
    case Command::kSearch:
      sidebar = true;
      ui_.set_focus("search");
      return true;
    case Command::kFind:
      find_bar_.open(ui_, transcript_);
      return true;
    case Command::kFindNext:
      find_bar_.step(transcript_, 1);
      return true;
    case Command::kFindPrevious:
      find_bar_.step(transcript_, -1);
      return true;
    case Command::kRename:
      if (picker_.rename_focused(frame_)) return true;
      if (const ConversationSummary* open = find_listed(state_, state_.open.id))
        sidebar = true, sidebar_.list().start_rename(*open, ui_);
      return true;
    case Command::kShowTrash:
      sidebar_.show_trash(!(sidebar && sidebar_.shows_trash()));
      sidebar = true;
      return true;
    case Command::kSidebar:
      sidebar = !sidebar;
      return true;
    case Command::kComposer:
      ui_.set_focus("composer");
      return true;
    case Command::kSend:
      composer_.send(frame_);
      return true;
    case Command::kNewLine:
      composer_.add_line(ui_);
      return true;
    case Command::kPrompts:
      prompts_.toggle(frame_, composer_.text());
      return true;
    case Command::kSavePrompt:
      prompts_.save_message(frame_, composer_.text());
      return true;
    case Command::kPalette:
      palette_.toggle(frame_);
      return true;
    case Command::kModels:
      picker_.toggle(frame_);
      return true;
    case Command::kHubModels:
      picker_.open_at_hub(frame_);
      return true;
    case Command::kConnectServer:
      picker_.open_connect_form(frame_);
      return true;
    case Command::kUnloadModel:
      actions_.push(UnloadModel{});
      return true;
    case Command::kSettings:
      settings_.open = !settings_.open;
      ui_.set_focus(settings_.open ? "system_prompt" : "composer");
      return true;
    case Command::kAssistants:
      assistants_.toggle(frame_);
      return true;
    case Command::kTools:
      tools_.toggle(frame_);
      return true;
    case Command::kView:
      view_.toggle(ui_);
      return true;
    case Command::kShortcuts:
      shortcuts_.open = shortcuts_.appearing = !shortcuts_.open;
      ui_.set_focus(shortcuts_.open ? "shortcuts_panel_close" : "composer");
      return true;
    case Command::kProfiler:
      profiler_.set_open(!profiler_.is_open(), actions_);
      return true;
    case Command::kProfilerSize:
      memory_.profiler_share = profiler_.is_open() && memory_.profiler_share < 1 ? 1 : kUsualProfilerShare;
      profiler_.set_open(true, actions_);
      return true;
    default:
      return false;
  }
}

// Closes the topmost closable panel; if there is none, stops the answer.
void ChatWindow::escape() {
  if (ui_.close_menu()) return;
  if (palette_.close(ui_) || prompts_.close(ui_)) return;
  if (picker_.close(frame_)) return picker_.is_open() ? void() : ui_.set_focus("composer");
  if (assistants_.close(frame_)) return assistants_.is_open() ? void() : ui_.set_focus("composer");
  if (tools_.close(frame_)) return tools_.is_open() ? void() : ui_.set_focus("composer");
  if (file_dialog_.close() || std::exchange(shortcuts_.open, false) || view_.close()) return ui_.set_focus("composer");
  if (sidebar_.close(frame_) || std::exchange(narrow_sidebar_, false)) return ui_.set_focus("composer");
  if (find_bar_.close(transcript_)) return ui_.set_focus("composer");
  if (composer_.cancel_edit(ui_)) return;
  const bool had_notices = notices_.close(frame_);
  if (state_.open.phase != AnswerPhase::kIdle) return actions_.push(Stop{});
  if (had_notices) return;
  if (state_.importing) return actions_.push(StopImport{});
  if (state_.loading) return actions_.push(CancelLoading{});
  if (transcript_.has_selection()) return transcript_.clear_selection();
  settings_.open = false;
  ui_.set_focus("composer");
}

void ChatWindow::edit_last() {
  const auto& messages = state_.open.messages;
  const auto last = std::find_if(messages.rbegin(), messages.rend(), [](const auto& m) { return m.role == "user"; });
  if (last != messages.rend()) composer_.edit(*last, ui_);
}

// The last message of the user returns to the composer, before the draft.
void ChatWindow::take_back() {
  const auto& messages = state_.open.messages;
  const auto last = std::find_if(messages.rbegin(), messages.rend(), [](const auto& m) { return m.role == "user"; });
  if (last == messages.rend()) return;
  composer_.cancel_edit(ui_);
  taken_back_ = {state_.open.id, last->content};
  composer_.set_draft(last->content + (composer_.draft().empty() ? "" : "\n" + composer_.draft()));
  ui_.set_focus("composer");
  actions_.push(Undo{.returns_files = true});
}

// The message is in the conversation again. A text that was changed since then stays.
void ChatWindow::forget_taken_back() {
  const TakenBack taken = std::exchange(taken_back_, {});
  const bool is_shown = taken.conversation == state_.open.id;
  std::string draft = is_shown ? composer_.draft() : drafts_[taken.conversation].text;
  if (taken.text.empty() || !draft.starts_with(taken.text)) return;
  draft.erase(0, taken.text.size() + (draft.substr(taken.text.size()).starts_with('\n') ? 1 : 0));
  is_shown ? composer_.set_draft(draft) : void(drafts_[taken.conversation].text = draft);
}

void ChatWindow::show_version(int step) {
  const auto& messages = state_.open.messages;
  const auto last =
      std::find_if(messages.rbegin(), messages.rend(), [](const auto& m) { return m.siblings.size() > 1; });
  if (last == messages.rend()) return;
  const int64_t wanted = static_cast<int64_t>(last->sibling) + step;
  if (wanted >= 0 && wanted < static_cast<int64_t>(last->siblings.size()))
    actions_.push(ShowVersion{last->key, last->siblings[static_cast<size_t>(wanted)]});
}

void ChatWindow::copy_answer() {
  const auto& messages = state_.open.messages;
  const auto last =
      std::find_if(messages.rbegin(), messages.rend(), [](const auto& m) { return m.role == "assistant"; });
  if (last == messages.rend()) return;
  std::string text = last->content;
  text.erase(0, std::min(text.find_first_not_of('\n'), text.size()));
  window_.set_clipboard(text);
  notices_.add("Answer copied", /*is_error=*/false);
}

void ChatWindow::zoom_by(float factor) { memory_.zoom = std::clamp(memory_.zoom * factor, kMinZoom, kMaxZoom); }

// What was chosen in the list, else the open conversation.
void ChatWindow::ask_to_export() {
  const std::vector<ConversationId> chosen = sidebar_.list().take_export();
  if (chosen.empty()) return state_.open.messages.empty() ? void() : ask_for_file(FileDialog::Purpose::kExport);
  const ConversationSummary* first = find_listed(state_, chosen.front());
  file_dialog_.ask_to_export(chosen, first != nullptr ? first->title : "", window_.portal_name(), ui_);
}

void ChatWindow::ask_for_file(FileDialog::Purpose purpose) {
  file_dialog_.ask(purpose, state_.open, window_.portal_name(), ui_);
}

}  // namespace warpchat::gui
