// The conversations: new, search, the list, the trash.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"
#include "app/gui/window/conversation_list_view.h"
#include "engine/store/find_text.h"

namespace warpchat::gui {

// A search hit's excerpt as it is shown: it begins shortly before the first of the words, which are marked.
struct Snippet {
  std::string text;
  TextPlaces marks;
};
Snippet snippet_of(std::string_view excerpt, std::string_view words);

class Sidebar {
 public:
  void draw(Frame& f, Rect rect);
  ConversationListView& list() { return list_; }
  const ConversationListView& list() const { return list_; }
  bool close(
      Frame& f);  // what Esc closes here: renaming, search, selection, archive, trash; whether there was something
  void show_trash(bool on) { trash_ = on; }
  bool shows_trash() const { return trash_; }
  std::optional<SearchHit> take_opened_hit() { return std::exchange(opened_hit_, std::nullopt); }
  const std::string& search_words() const { return search_.text(); }

 private:
  void draw_header(Frame& f, Rect rect);
  void draw_hits(Frame& f, Rect rect);
  void open_hit(Frame& f, const SearchHit& hit);
  void draw_trash(Frame& f, Rect rect);
  void draw_empty_trash(Frame& f, Rect& rect);
  void draw_footer(Frame& f, Rect rect);

  TextField search_;
  ConversationListView list_;
  ConversationId erasing_ = 0;  // about which the user was asked whether it is to go
  bool trash_ = false;
  std::optional<SearchHit> opened_hit_;
};

}  // namespace warpchat::gui
