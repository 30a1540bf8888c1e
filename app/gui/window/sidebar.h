// The conversations: new, search, the list by days, rename in place, the trash.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/window/shortcuts.h"
#include "app/gui/window/text_field.h"

namespace warpchat::gui {

// A search hit's excerpt as it is shown: it begins shortly before the first of the words, which are marked.
struct Snippet {
  std::string text;
  std::vector<std::pair<size_t, size_t>> marks;  // bytes of text, in order
};
Snippet snippet_of(std::string_view excerpt, std::string_view words);

class Sidebar {
 public:
  void draw(Frame& f, Rect rect);
  void start_rename(const ConversationSummary& conversation, Ui& ui);
  bool close(Frame& f);  // what Esc closes here: renaming, search, trash; whether there was something
  void open_neighbour(const Frame& f, int steps) const;
  void show_trash(bool on) { trash_ = on; }
  bool shows_trash() const { return trash_; }
  std::optional<SearchHit> take_opened_hit() { return std::exchange(opened_hit_, std::nullopt); }
  const std::string& search_words() const { return search_.text(); }

 private:
  void draw_header(Frame& f, Rect rect);
  void draw_conversations(Frame& f, Rect rect);
  void draw_conversation(Frame& f, Rect rect, const ConversationSummary& conversation);
  void draw_mark(Frame& f, Rect place, ConversationId id);
  void draw_rename(Frame& f, Rect rect);
  void draw_hits(Frame& f, Rect rect);
  void open_hit(Frame& f, const SearchHit& hit);
  void draw_trash(Frame& f, Rect rect);
  void draw_empty_trash(Frame& f, Rect& rect);
  void draw_footer(Frame& f, Rect rect);
  void take_menu_choice(Frame& f);
  void handle_list_keys(Frame& f);
  void follow_open(Frame& f);

  TextField search_, rename_;
  ConversationId renaming_ = 0, cursor_ = 0, menu_of_ = 0;
  ConversationId erasing_ = 0;   // about which the user was asked whether it is to go
  ConversationId followed_ = 0;  // the open one that the list has scrolled to
  bool trash_ = false, show_cursor_ = false, had_focus_ = false;
  std::optional<SearchHit> opened_hit_;
};

}  // namespace warpchat::gui
