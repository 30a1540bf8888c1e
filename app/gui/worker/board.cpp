// A list of changes between two threads.
#include "app/gui/worker/board.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/log.h"

namespace warpchat::gui {

namespace {
constexpr size_t kMostNotices = 8;
}

void Board::change(Update update) {
  update(state_);
  unpublished_.push_back(std::move(update));
}

void Board::publish() {
  if (unpublished_.empty()) return;
  bool sleeps = false;
  {
    const std::lock_guard lock(mutex_);
    sleeps = published_.empty();
    published_.insert(published_.end(), std::make_move_iterator(unpublished_.begin()),
                      std::make_move_iterator(unpublished_.end()));
  }
  unpublished_.clear();
  if (sleeps) wake_();
}

std::vector<Update> Board::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(published_, {});
}

void Board::tell(std::string text, ConversationId restores) {
  add_notice({++last_notice_, false, std::move(text), restores ? "Undo" : "", restores});
}

void Board::tell_error(std::string text) {
  log_line("error: " + text);
  const auto same = std::find_if(state_.notices.begin(), state_.notices.end(),
                                 [&](const NoticeItem& notice) { return notice.text == text; });
  if (same != state_.notices.end()) change(updates::dismiss_notice(same->id));  // it moves to the end
  add_notice({++last_notice_, true, std::move(text), "", 0});
}

void Board::add_notice(NoticeItem notice) {
  if (state_.notices.size() >= kMostNotices) change(updates::dismiss_notice(state_.notices.front().id));
  change(updates::add_notice(std::move(notice)));
}

}  // namespace warpchat::gui
