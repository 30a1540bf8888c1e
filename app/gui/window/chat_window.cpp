// A frame: shortcuts, panels from the outside in, cards over them, then the commands.
#include "app/gui/window/chat_window.h"

#include <GLFW/glfw3.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "app/gui/widgets/style.h"
#include "app/gui/window/model_offer_bar.h"
#include "app/model_choice/endpoint_choice.h"
#include "models/ascii.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kNarrow = 680, kTopBar = 52, kStatus = 27, kColumn = 800, kTextSize = 15.5f,
                kTrashed = 52;  // at scale 1
constexpr float kMinProfilerHeight = 260, kMinConversation = 240, kProfilerEdge = 6;
constexpr float kProfilerStep = 0.08f;  // of the height, by key
constexpr float kAlmostWhole = 0.93f;   // of the height, from where the profiler takes all of it
constexpr double kDraftPause = 0.5;     // seconds between two writes of a draft

bool is_model_file(std::string_view path) { return lower_case(path).ends_with(".gguf"); }

}  // namespace

ChatWindow::ChatWindow(GlfwWindow& window, ChatWorker& worker, TextEngine& text, const WindowMemory& memory,
                       const ChatOptions& options)
    : window_(window),
      worker_(worker),
      text_(text),
      ui_(text),
      memory_(memory),
      transcript_(text),
      system_theme_(GlfwWindow::wake),
      file_dialog_(GlfwWindow::wake, memory.folders, options.verbose),
      keeps_drafts_(!options.no_history) {
  ui_.names_wanted = !options.gui_state.empty();
  const auto pasted = [this](const std::optional<std::string>& copied) {
    if (!copied) notices_.add("the program with the copied text does not answer; copy it again", /*is_error=*/true);
    return copied.value_or("");
  };
  ui_.paste = [this, pasted] { return pasted(window_.clipboard()); };
  ui_.copy = [this](const std::string& copied) { window_.set_clipboard(copied); };
  ui_.paste_selection = [this, pasted] { return pasted(window_.primary_selection()); };
  ui_.select = [this](const std::string& selected) { window_.set_primary_selection(selected); };
  ui_.set_focus("composer");
  settings_.shows_emulators = memory_.emulators;
  palette_.recent = memory_.recent_commands;
  sidebar_.list().folded = {memory_.folded.begin(), memory_.folded.end()};
  if (memory_.order != ConversationOrder::kUpdated) actions_.push(ListConversations{memory_.order});
  for (const auto& [conversation, draft] : memory_.drafts)
    drafts_[conversation] = {.text = draft.text, .files = draft.files, .waits = true};
  const Composer::Draft draft = std::exchange(drafts_[0], {});
  composer_.set_draft(draft.text);
  attach(draft);
  kept_revision_ = composer_.revision();
}

bool ChatWindow::apply_updates() {
  const std::vector<Update> updates = worker_.take_updates();
  for (const Update& update : updates) apply(update);
  if (!updates.empty()) follow_state();
  const bool has_files = file_dialog_.take_news(ui_), has_theme = follow_theme();
  return has_files || has_theme || !updates.empty();
}

bool ChatWindow::follow_theme() {
  const bool before = memory_.dark;
  if (memory_.theme == ThemeChoice::kSystem) {
    system_theme_.follow();
    memory_.dark = system_theme_.is_dark().value_or(memory_.dark);
  } else {
    memory_.dark = memory_.theme == ThemeChoice::kDark;
  }
  return memory_.dark != before;
}

// A draft belongs to its conversation. A conversation that gets its id when it is stored, or that is reloaded, stays
// the same.
void ChatWindow::apply(const Update& update) {
  const auto* change = std::get_if<ConversationUpdate>(&update);
  const auto* shown = change != nullptr ? std::get_if<updates::ShowConversation>(change) : nullptr;
  const auto first_key = [](const OpenConversation& open) { return open.messages.empty() ? 0 : open.messages[0].key; };
  const bool is_other = shown != nullptr && shown->conversation.id != state_.open.id &&
                        (first_key(state_.open) == 0 || first_key(shown->conversation) != first_key(state_.open));
  if (is_other) drafts_[state_.open.id] = composer_.put_away(state_);
  apply_update(state_, update);
  if (!is_other) return;
  const Composer::Draft draft = std::exchange(drafts_[state_.open.id], {});
  composer_.take_up(draft, state_);
  attach(draft);
}

// Restores attachments of the previous start; the controller has kept those of this run.
void ChatWindow::attach(const Composer::Draft& draft) {
  for (const std::string& file : draft.files)
    if (draft.waits) actions_.push(AttachFile{file});
}

void ChatWindow::remember_drafts(DraftsOf which) {
  memory_.drafts.clear();
  const auto is_present = [&](ConversationId id) { return state_.has_more || find_listed(state_, id) != nullptr; };
  const auto remember = [&](ConversationId id, const std::string& text, const std::vector<std::string>& files) {
    const bool is_kept = id == 0 || which == DraftsOf::kAll || is_present(id);
    if (is_kept && !(text.empty() && files.empty())) memory_.drafts[id] = {text, files};
  };
  for (const auto& [conversation, draft] : drafts_)
    if (conversation != state_.open.id) remember(conversation, draft.text, draft.files);
  remember(state_.open.id, composer_.draft(), Composer::paths_of(state_.attachments));
}

// A program that is killed loses at most what was typed in the last half second.
void ChatWindow::remember_changed_draft() {
  const bool is_kept = composer_.revision() == kept_revision_ && state_.attachments.size() == kept_files_;
  if (!keeps_drafts_ || is_kept) return;
  if (const double rest = kept_at_ + kDraftPause - ui_.now; rest > 0) return ui_.wake_in(rest);
  kept_revision_ = composer_.revision(), kept_files_ = state_.attachments.size(), kept_at_ = ui_.now;
  remember_drafts(DraftsOf::kAll);
}

void ChatWindow::follow_state() {
  const std::string& title = state_.open.title;
  window_.set_title(title.empty() ? "Warpchat" : printable(title, title.size()) + " — Warpchat");
  if (!pending_hit_ || state_.open.id != pending_hit_->conversation.id) return;
  const TurnId turn = pending_hit_->turn;
  const auto& messages = state_.open.messages;
  if (std::any_of(messages.begin(), messages.end(), [&](const ChatMessage& m) { return m.turn == turn; })) {
    transcript_.scroll_to(turn);
    if (state_.search && !state_.search->sought.empty()) find_bar_.show(state_.search->sought, transcript_);
  }
  pending_hit_.reset();
}

void ChatWindow::set_up_frame() {
  follow_theme();
  text_.choose_fonts(memory_.text_font, memory_.code_font);
  const float scale = window_.content_scale() * memory_.zoom;
  const uint32_t fonts = text_.fonts_revision();
  ui_.theme = memory_.dark ? &dark_theme() : &light_theme();
  ui_.sizes = {.text = std::round(kTextSize * scale), .scale = scale};
  const bool complete = profiler_.is_open() || fonts_complete_;  // nothing else uses ImGui's own text
  const bool same_fonts = scale == fonts_scale_ && complete == fonts_complete_ && fonts == fonts_revision_;
  if (same_fonts && style_dark_ == memory_.dark) return;
  apply_style(*ui_.theme, ui_.sizes);
  if (!same_fonts) load_fonts(text_, ui_.sizes, complete);
  fonts_scale_ = scale, fonts_complete_ = complete, fonts_revision_ = fonts, style_dark_ = memory_.dark;
}

void ChatWindow::take_shortcuts(bool fields_first) {
  std::erase_if(ui_.keys(), [&](const InputEvent& event) {
    const auto* key = std::get_if<KeyPress>(&event);
    const std::optional<Command> command = key ? command_of(*key, fields_first) : std::nullopt;
    if (command) commands_.push_back(*command);
    return command.has_value();
  });
}

void ChatWindow::take_drops() {
  for (std::string& path : std::exchange(window_.dropped_paths, {})) {
    if (is_model_file(path))
      actions_.push(LoadModel{.path = std::move(path)});
    else
      actions_.push(AttachFile{std::move(path)});
  }
}

void ChatWindow::draw(std::vector<InputEvent> events) {
  set_up_frame();
  window_.begin_imgui(events);
  text_.begin_frame();
  ui_.composition = window_.composition();
  ui_.begin_frame(std::move(events), GlfwWindow::now());
  take_shortcuts(/*fields_first=*/false);
  if (ImGui::GetIO().WantTextInput) ui_.keys().clear();  // a field of ImGui's has the keyboard
  take_drops();
  for (const Command command : std::exchange(pending_commands_, {})) run(command);
  for (const Command command : std::exchange(commands_, {})) run(command);
  keep_focus();
  {
    const ImVec2 display = ImGui::GetIO().DisplaySize;
    const Surface base("base", {0, 0, display.x, display.y}, Surface::Kind::kBase);
    draw_panels();
  }
  picker_.shows_emulators = memory_.emulators = settings_.shows_emulators;
  picker_.draw(frame_);
  assistants_.draw(frame_);
  if (const std::string name = assistants_.take_export(); !name.empty())
    file_dialog_.ask_to_export_assistant(name, window_.portal_name(), ui_);
  tools_.draw(frame_);
  file_dialog_.draw(frame_);
  shortcuts_.draw(frame_);
  view_.draw(frame_, memory_);
  palette_.draw(frame_);
  draw_prompts();
  ui_.draw_menu();
  take_shortcuts(/*fields_first=*/true);
  remember_changed_draft();
  ui_.end_frame();
  window_.set_caret(ui_.caret.x, ui_.caret.bottom());
  pending_commands_ = std::exchange(commands_, {});
  window_.show(ui_.theme->background);
  for (Action& action : actions_.drain()) {
    if (const auto* list = std::get_if<ListConversations>(&action)) memory_.order = list->order;
    if (const auto* shown = std::get_if<ShowVersion>(&action); shown && shown->message == 0) forget_taken_back();
    if (std::holds_alternative<Send>(action)) transcript_.scroll_to_end(), memory_.drafts.erase(state_.open.id);
    worker_.post(std::move(action));
  }
  if (auto hit = sidebar_.take_opened_hit()) pending_hit_ = std::move(hit), follow_state();
}

bool ChatWindow::is_narrow() const { return ImGui::GetIO().DisplaySize.x < ui_.px(kNarrow); }

// What has the focus may have gone with its panel; letters typed at a button are meant for the composer.
void ChatWindow::keep_focus() {
  const bool letters = std::any_of(ui_.keys().begin(), ui_.keys().end(), [](const InputEvent& event) {
    const auto* typed = std::get_if<TypedText>(&event);
    return typed && typed->utf8 != " ";
  });
  if (any_card() || ui_.menu_is_open()) return;
  if (ui_.focus_is_lost() || (letters && !ui_.focus_is_field())) ui_.set_focus("composer");
}

void ChatWindow::draw_panels() {
  const ImVec2 display = ImGui::GetIO().DisplaySize;
  Rect all{0, 0, display.x, display.y};
  ui_.fill(all, ui_.theme->background);
  const Rect status = all.cut_bottom(std::round(ui_.px(kStatus)));
  const Rect whole = all;
  const float sidebar_width = std::min(std::round(ui_.px(memory_.sidebar_width)), all.width * 0.8f);
  if (sidebar_shown() && !is_narrow()) {
    const Rect side = all.cut_left(sidebar_width);
    sidebar_.draw(frame_, side);
    drag_sidebar({side.right() - ui_.px(3), side.y, ui_.px(6), side.height});
  }
  draw_main(all);
  status_line_.draw(frame_, status);
  if (sidebar_shown() && is_narrow()) {
    const Rect side{0, whole.y, sidebar_width, whole.height};
    const Surface over("narrow_sidebar", whole, Surface::Kind::kOverlay);
    ui_.fill(whole, 0x50000000u);
    sidebar_.draw(frame_, side);
    if (ImGui::IsMouseClicked(0) && ImGui::GetIO().MousePos.x > side.right()) narrow_sidebar_ = false;
  }
}

void ChatWindow::drag_sidebar(Rect edge) {
  const Response r = ui_.press("sidebar_edge", edge, Keys::kNone);
  if (r.hovered || r.held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  if (r.held && !ImGui::IsMouseClicked(0))
    memory_.sidebar_width =
        std::clamp(ImGui::GetIO().MousePos.x / std::max(ui_.sizes.scale, 0.1f), kMinSidebar, kMaxSidebar);
}

void ChatWindow::draw_main(Rect rect) {
  top_bar_.draw(frame_, rect.cut_top(std::round(ui_.px(kTopBar))), profiler_.is_open());
  const float settings_width = std::min(ui_.px(SettingsPanel::kWidth), rect.width);
  if (settings_.open) {
    if (rect.width - settings_width >= ui_.px(360)) {
      settings_.draw(frame_, rect.cut_right(settings_width));
    } else {
      const Surface over("narrow_settings", {rect.right() - settings_width, rect.y, settings_width, rect.height},
                         Surface::Kind::kOverlay);
      settings_.draw(frame_, {rect.right() - settings_width, rect.y, settings_width, rect.height});
    }
  } else {
    settings_.finish(frame_.actions);
  }
  if (profiler_.is_open()) {
    const Rect whole = rect;
    const float share = memory_.profiler_share;
    const float height = std::round(std::max(rect.height * share, ui_.px(kMinProfilerHeight)));
    const bool is_whole = share >= 1, is_beside = !is_whole && rect.height - height >= ui_.px(kMinConversation);
    if (!is_beside) {
      if (!is_whole) draw_composer(rect);  // no room to read, but messages can be written
      notices_.draw(frame_, rect);
    }
    const Rect place = is_beside ? rect.cut_bottom(height) : rect;
    draw_profiler(place);
    drag_profiler(whole, {place.x, place.y, place.width, ui_.px(kProfilerEdge)});
    if (!is_beside) return;
  }
  if (!state_.open.messages.empty()) ui_.add_to_tab_order("transcript");
  find_bar_.draw(frame_, rect, transcript_);
  draw_composer(rect);
  notices_.draw(frame_, rect);
  draw_conversation(rect);
}

// By the pointer, or by the arrow keys while it has the focus.
void ChatWindow::drag_profiler(Rect whole, Rect edge) {
  const Response r = ui_.press("profiler_edge", edge, Keys::kOwn);
  const Rect grip{edge.centre().x - ui_.px(18), edge.y + ui_.px(1), ui_.px(36), ui_.px(3)};
  ui_.fill(grip, r.hovered || r.held ? ui_.theme->dim_text : ui_.theme->border, ui_.px(2));
  if (r.focused) ui_.focus_ring(grip.inset(ui_.px(-2)), ui_.px(3));
  if (r.hovered || r.held) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  float share = memory_.profiler_share;
  if (r.held && !ImGui::IsMouseClicked(0) && ImGui::IsMouseDragging(0, 2))
    share = (whole.bottom() - ImGui::GetIO().MousePos.y) / std::max(whole.height, 1.0f);
  if (r.focused && ui_.take_key(GLFW_KEY_UP)) share += kProfilerStep;
  if (r.focused && ui_.take_key(GLFW_KEY_DOWN)) share = std::min(share, kAlmostWhole) - kProfilerStep;
  if (r.double_clicked) share = kUsualProfilerShare;
  if (share == memory_.profiler_share) return;
  memory_.profiler_share = share > kAlmostWhole ? 1 : std::max(share, kMinProfilerShare);
  ui_.wake_in(0);
}

void ChatWindow::draw_composer(Rect& rect) {
  const float margin = ui_.px(16), width = std::min(rect.width - 2 * margin, ui_.px(kColumn));
  const bool is_trashed = std::ranges::any_of(state_.trash, [&](const auto& c) { return c.id == state_.open.id; });
  const float wanted = is_trashed ? ui_.px(kTrashed) : std::round(composer_.height(frame_, width));
  const float height = std::min(wanted, rect.height * 0.65f);
  Rect place = rect.cut_bottom(height + ui_.px(14));
  place = {std::floor(rect.x + (rect.width - width) / 2), place.y, width, height};
  if (is_trashed) return draw_trashed(place);
  draw_model_offer(frame_, rect);
  composer_.draw(frame_, place);
}

void ChatWindow::draw_prompts() {
  if (const std::optional<std::string> name = palette_.release_prompt()) prompts_.use(frame_, *name);
  prompts_.draw(frame_);
  if (const std::optional<std::string> text = prompts_.release_text()) composer_.insert(*text, ui_);
}

// In place of the composer: what is in the trash can be read, not continued.
void ChatWindow::draw_trashed(Rect place) {
  ui_.outline(place, ui_.theme->border, ui_.px(10));
  Rect row = place.inset(ui_.px(12), ui_.px(8));
  const ButtonLook restore{.text = "Restore", .icon = Icon::kRestore, .kind = ButtonKind::kOutlined};
  if (ui_.button("restore_open", row.cut_right(ui_.button_width(restore)), restore))
    actions_.push(TakeFromTrash{{state_.open.id}});
  ui_.label_in(row, "This conversation is in the trash.", {ui_.theme->dim_text, 0.95f});
}

void ChatWindow::draw_conversation(Rect rect) {
  if (state_.open.messages.empty()) {
    const std::string_view prompt = start_screen_.draw(frame_, rect);
    if (!prompt.empty()) composer_.begin_with(prompt, ui_);
    return;
  }
  ui_.mark("transcript", rect);
  take_transcript_keys();
  {
    const ScrollArea area("transcript", rect);
    transcript_.draw(state_, {.theme = *ui_.theme, .sizes = ui_.sizes}, actions_);
  }
  for (const auto& button : transcript_.buttons())
    ui_.mark(button.name, {button.x, button.y, button.width, button.height});
  if (const std::optional<uint64_t> key = transcript_.take_edit())
    for (const ChatMessage& message : state_.open.messages)
      if (message.key == *key) composer_.edit(message, ui_);
  if (transcript_.take_new_selection()) ui_.select(transcript_.selected_text(state_));
  serve_text_menu();
}

// Arrows go from button to button and from link to link.
void ChatWindow::take_transcript_keys() {
  const bool focused = ui_.has_focus("transcript");
  const bool has_keyboard = focused && ui_.focus_is_visible();
  transcript_.set_keyboard(has_keyboard);
  if (!focused) return;
  if (ui_.take_key(GLFW_KEY_DOWN) || ui_.take_key(GLFW_KEY_RIGHT)) transcript_.move_target(1);
  if (ui_.take_key(GLFW_KEY_UP) || ui_.take_key(GLFW_KEY_LEFT)) transcript_.move_target(-1);
  if (ui_.take_key(GLFW_KEY_HOME)) transcript_.scroll_to_start();
  if (ui_.take_key(GLFW_KEY_END)) transcript_.scroll_to_end();
  if (ui_.take_key(GLFW_KEY_ENTER) || ui_.take_key(GLFW_KEY_KP_ENTER) || ui_.take_key(GLFW_KEY_SPACE))
    transcript_.activate_target();
  if (ui_.take_menu_key()) transcript_.open_target_menu();
}

void ChatWindow::serve_text_menu() {
  if (auto target = transcript_.take_menu()) {
    menu_target_ = std::move(*target);
    std::vector<MenuItem> items{{"menu_copy", "Copy", Icon::kCopy, "Ctrl+C", transcript_.has_selection()}};
    if (!menu_target_.message.empty()) items.push_back({"menu_copy_message", "Copy message", Icon::kNone});
    if (!menu_target_.code.empty()) items.push_back({"menu_copy_code", "Copy code", Icon::kNone});
    if (!menu_target_.link.empty()) items.push_back({"menu_copy_link", "Copy link address", Icon::kNone});
    if (menu_target_.key != 0) items.push_back({"menu_fork", "Duplicate up to here", Icon::kNone});
    if (menu_target_.key != 0) items.push_back({"menu_delete_turn", "Delete message and answer", Icon::kNone});
    items.push_back({"menu_select_all", "Select all", Icon::kNone, "Ctrl+A"});
    items.push_back({"menu_find", "Find …", Icon::kSearch, "Ctrl+F"});
    ui_.open_menu("transcript", {menu_target_.x, menu_target_.y}, std::move(items));
  }
  const std::string chosen = ui_.take_menu_choice("transcript");
  if (chosen == "menu_copy") run(Command::kCopySelection);
  if (chosen == "menu_copy_message") window_.set_clipboard(menu_target_.message);
  if (chosen == "menu_copy_code") window_.set_clipboard(menu_target_.code);
  if (chosen == "menu_copy_link") window_.set_clipboard(menu_target_.link);
  if (chosen == "menu_fork") actions_.push(Fork{.message = menu_target_.key});
  if (chosen == "menu_delete_turn") actions_.push(DeleteTurn{menu_target_.key});
  if (chosen == "menu_select_all") run(Command::kSelectAll);
  if (chosen == "menu_find") run(Command::kFind);
}

void ChatWindow::draw_profiler(Rect rect) {
  ui_.fill(rect, ui_.theme->panel);
  ui_.fill({rect.x, rect.y, rect.width, 1}, ui_.theme->border);
  ui_.mark("profiler_overlay", rect);
  const ScrollArea area("profiler", rect.inset(ui_.px(10), ui_.px(6)));
  std::optional<TokenPlace> hovered;
  const auto message = transcript_.hovered_message();
  const auto token = transcript_.hovered_token();
  if (message && token) hovered = TokenPlace{*message, *token};
  profiler_.draw(state_, hovered, {*ui_.theme, ui_.sizes, code_font()}, actions_);
  for (const ProfilerOverlay::Mark& m : profiler_.marks()) ui_.mark(m.name, {m.x, m.y, m.width, m.height});
}

WindowMemory ChatWindow::memory() const {
  WindowMemory memory = memory_;
  memory.place = window_.place();
  memory.folders = file_dialog_.recent_folders();
  memory.recent_commands = palette_.recent;
  memory.folded = {sidebar_.list().folded.begin(), sidebar_.list().folded.end()};
  return memory;
}

WindowFacts ChatWindow::facts() const {
  WindowFacts facts;
  facts.focus = ui_.focus();
  facts.composer = composer_.text();
  facts.composition = ui_.composition;
  facts.selection = transcript_.has_selection() ? transcript_.selected_text(state_) : "";
  facts.search_words = sidebar_.search_words();
  facts.selected = sidebar_.list().selected();
  const std::pair<const char*, bool> panels[] = {{"sidebar", sidebar_shown()},
                                                 {"trash", sidebar_.shows_trash()},
                                                 {"archive", sidebar_.list().shows_archive()},
                                                 {"settings", settings_.open},
                                                 {"models", picker_.is_open()},
                                                 {"prompts", prompts_.is_open()},
                                                 {"assistants", assistants_.is_open()},
                                                 {"tools", tools_.is_open()},
                                                 {"path", file_dialog_.browses()},
                                                 {"shortcuts", shortcuts_.open},
                                                 {"palette", palette_.is_open()},
                                                 {"view", view_.is_open()},
                                                 {"profiler", profiler_.is_open()},
                                                 {"find", find_bar_.is_open()},
                                                 {"desktop_dialog", file_dialog_.asks_desktop()}};
  for (const auto& [name, open] : panels)
    if (open) facts.panels.emplace_back(name);
  if (palette_.is_open())
    for (const PaletteRow& row : palette_.rows()) facts.palette.push_back(row.text);
  if (find_bar_.is_open()) facts.found = transcript_.found();
  for (const NoticeItem& notice : notices_.own()) facts.own_notices.push_back(notice.text);
  facts.editing = composer_.edited().has_value();
  facts.dark = memory_.dark;
  facts.theme = name_of(memory_.theme);
  facts.text_font = memory_.text_font, facts.code_font = memory_.code_font;
  facts.zoom = memory_.zoom;
  facts.scroll = transcript_.scroll_position();
  facts.at_end = transcript_.at_end();
  facts.full_screen = window_.full_screen();
  facts.width = ImGui::GetIO().DisplaySize.x, facts.height = ImGui::GetIO().DisplaySize.y;
  if (const ImVec2 mouse = ImGui::GetIO().MousePos; ImGui::IsMousePosValid(&mouse))
    facts.mouse_x = mouse.x, facts.mouse_y = mouse.y;
  return facts;
}

}  // namespace warpchat::gui
