// Notices in rows above the composer, which cover nothing. Most disappear by themselves. An error stays in its
// conversation until it is closed, or was visible for a while when the user continues.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

class Notices {
 public:
  void draw(Frame& f, Rect& rect);            // takes its rows from rect's bottom, at most half of it
  void add(std::string text, bool is_error);  // the window's own
  bool close(Frame& f);                       // those that are seen; whether there were any
  const std::vector<NoticeItem>& own() const { return own_; }

 private:
  struct Seen {
    ConversationId conversation;  // in which it came; 0: one without a name, it is shown in any
    double since;                 // seconds
    bool is_error;
  };
  bool draw_notice(Frame& f, Rect rect, const NoticeItem& notice);  // whether it is to go
  void follow_user(Frame& f);
  bool has_gone_by(Frame& f, const NoticeItem& notice, bool hovered);
  void dismiss(Frame& f, uint64_t id);
  template <class Condition>
  bool dismiss_seen(Frame& f, Condition condition);

  std::unordered_map<uint64_t, Seen> seen_;  // that were drawn
  std::vector<NoticeItem> own_;
  uint64_t next_own_ = uint64_t{1} << 63;
  ConversationId conversation_ = 0;
  uint64_t n_sends_ = 0;
};

}  // namespace warpchat::gui
