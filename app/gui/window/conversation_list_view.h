// The list of conversations: the pinned ones, folders that fold, and days. Several can be selected (Ctrl, Shift) and
// then archived, moved, tagged, exported or thrown away at once. The archive is a list of the same kind.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

std::string_view title_of(const ConversationSummary& conversation);
std::string numbered(const char* kind, int64_t number);  // the name of a widget

// "a, b c" as tags: without blanks around them, "#" before them, empty ones and repetitions.
std::vector<std::string> tags_in(std::string_view typed);

class ConversationListView {
 public:
  void draw(Frame& f, Rect rect);
  void take_menu_choice(Frame& f);
  void open_order_menu(Frame& f, Rect below);
  void start_rename(const ConversationSummary& conversation, Ui& ui);
  bool stop_naming() { return std::exchange(naming_, Naming::kNothing) != Naming::kNothing; }
  bool close(Frame& f);  // what Esc closes: the selection, the archive; whether there was something
  void open_neighbour(const Frame& f, int steps) const;
  void show_archive(bool on) { archive_ = on; }
  bool shows_archive() const { return archive_; }
  std::vector<ConversationId> take_export() { return std::exchange(exported_, {}); }  // to be asked for a file
  const std::vector<ConversationId>& selected() const { return selected_; }
  std::set<std::string> folded;  // folders

 private:
  enum class Naming { kNothing, kTitle, kFolder, kTags };
  struct Row {
    std::string_view heading;                 // or empty: a conversation
    const NameCount* folder;                  // whose heading it is; null: of another group
    const ConversationSummary* conversation;  // of the list; null: a heading
  };
  std::vector<Row> rows_of(const ChatState& state) const;
  void draw_row(Frame& f, Rect row, const Row& what);
  void draw_heading(Frame& f, Rect row, const Row& what);
  void draw_conversation(Frame& f, Rect row, const ConversationSummary& conversation);
  void draw_mark(Frame& f, Rect place, const ConversationSummary& conversation);
  void draw_rename(Frame& f, Rect row);
  void draw_naming(Frame& f, Rect row);
  void draw_selection(Frame& f, Rect row);
  void draw_archive_title(Frame& f, Rect row);
  void select(Frame& f, ConversationId id, bool range);
  std::vector<const ConversationSummary*> menu_targets(const ChatState& state) const;
  void open_menu(Frame& f, const ConversationSummary& conversation, ImVec2 at);
  void open_folder_menu(Frame& f);
  void start_naming(Frame& f, Naming naming, std::vector<ConversationId> ids);
  void apply_name(Frame& f);
  void act(Frame& f, std::string_view chosen, std::vector<ConversationId> ids);
  void handle_keys(Frame& f, const std::vector<const ConversationSummary*>& shown);
  void follow_open(Frame& f);

  TextField rename_, name_;
  Naming naming_ = Naming::kNothing;
  std::vector<ConversationId> named_;  // what is renamed, moved or tagged
  std::vector<std::string> old_tags_;  // that all of them had
  std::vector<ConversationId> selected_, exported_;
  ConversationId cursor_ = 0, menu_of_ = 0;
  ConversationId followed_ = 0;  // the open one that the list has scrolled to
  ImVec2 menu_at_ = {0, 0};
  std::vector<std::pair<std::string, std::string>> folder_items_;  // name of the menu's item, and of the folder
  bool archive_ = false, show_cursor_ = false, had_focus_ = false;
};

}  // namespace warpchat::gui
