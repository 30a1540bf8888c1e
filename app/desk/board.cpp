// Each change is made and kept; notices come and go.
#include "app/desk/board.h"

#include <algorithm>
#include <utility>

#include "app/log.h"

namespace warpchat {

namespace {
constexpr size_t kMostNotices = 8;
}

void Board::change(Update update) {
  apply_update(state_, update);
  updates_.push_back(std::move(update));
}

void Board::tell(std::string text, ConversationId restores) {
  add_notice({++last_notice_, false, std::move(text), restores ? "Undo" : "", restores});
}

void Board::tell_error(std::string text) {
  log_line("error: " + text);
  const auto same = std::find_if(state_.notices.begin(), state_.notices.end(),
                                 [&](const NoticeItem& notice) { return notice.text == text; });
  if (same != state_.notices.end()) change(updates::DropNotice{same->id});  // it moves to the end
  add_notice({++last_notice_, true, std::move(text), "", 0});
}

void Board::add_notice(NoticeItem notice) {
  if (state_.notices.size() >= kMostNotices) change(updates::DropNotice{state_.notices.front().id});
  change(updates::AddNotice{std::move(notice)});
}

}  // namespace warpchat
