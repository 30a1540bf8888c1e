// Applies each update and keeps it for the front end.
#include "app/desk/board.h"

#include <algorithm>
#include <utility>

#include "app/desk/actions.h"
#include "app/log.h"
#include "app/ways_out.h"

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

void Board::tell_error(std::string text, WayOut way_out, std::string model) {
  log_line("error: " + text);
  const auto same = std::find_if(state_.notices.begin(), state_.notices.end(),
                                 [&](const NoticeItem& notice) { return notice.text == text; });
  if (same != state_.notices.end()) change(updates::DropNotice{same->id});  // it moves to the end
  add_notice({++last_notice_, true, std::move(text), button_of(way_out), 0, way_out, std::move(model)});
}

void Board::add_notice(NoticeItem notice) {
  if (state_.notices.size() >= kMostNotices) change(updates::DropNotice{state_.notices.front().id});
  change(updates::AddNotice{std::move(notice)});
}

std::optional<LoadModel> load_of(const NoticeItem& notice) {
  switch (notice.way_out.kind) {
    case WayOut::Kind::kSmallerContext:
      return LoadModel{.path = notice.model, .context = static_cast<int32_t>(notice.way_out.context)};
    case WayOut::Kind::kUseCpu:
    case WayOut::Kind::kCheckDevice:
      return LoadModel{.path = notice.model, .device = "cpu"};
    case WayOut::Kind::kLaunchGraph:
      return LoadModel{.path = notice.model, .launch = "graph"};
    default:
      return std::nullopt;
  }
}

}  // namespace warpchat
