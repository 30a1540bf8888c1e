// Applies each update and keeps it for the front end.
#include "app/chat/state/state_store.h"

#include <algorithm>
#include <utility>

#include "app/chat/state/actions.h"
#include "app/chat/state/remedies.h"
#include "app/platform/log.h"

namespace warpchat {

namespace {
constexpr size_t kMaxNotices = 8;
}

void StateStore::change(Update update) {
  apply_update(state_, update);
  updates_.push_back(std::move(update));
}

void StateStore::tell(std::string text, std::vector<ConversationId> restores, TurnId shows) {
  const char* const action = restores.empty() ? "" : "Undo";
  add_notice({++last_notice_, false, std::move(text), action, std::move(restores), shows});
}

void StateStore::tell_archived(std::string text, std::vector<ConversationId> unarchives) {
  NoticeItem notice{++last_notice_, false, std::move(text), "Undo", std::move(unarchives)};
  notice.unarchives = true;
  add_notice(std::move(notice));
}

void StateStore::tell_import(std::string text, std::vector<ConversationId> imported) {
  NoticeItem notice{++last_notice_, false, std::move(text), imported.empty() ? "" : "Undo"};
  notice.imported = std::move(imported);
  add_notice(std::move(notice));
}

void StateStore::tell_error(std::string text, Remedy remedy, std::string model) {
  tell_error_about("", std::move(text), remedy, std::move(model));
}

void StateStore::tell_error_about(const std::string& what, std::string text, Remedy remedy, std::string model) {
  log_line("error: " + text);
  const auto same = std::find_if(state_.notices.begin(), state_.notices.end(),
                                 [&](const NoticeItem& notice) { return notice.text == text; });
  if (same != state_.notices.end()) change(updates::DropNotice{same->id});  // it moves to the end
  NoticeItem notice{++last_notice_, true, std::move(text), button_of(remedy)};
  notice.remedy = remedy, notice.model = std::move(model), notice.about = what;
  add_notice(std::move(notice));
}

void StateStore::forget_errors_about(const std::string& what) {
  const std::vector<NoticeItem> notices = state_.notices;
  for (const NoticeItem& notice : notices)
    if (notice.about == what) change(updates::DropNotice{notice.id});
}

void StateStore::add_notice(NoticeItem notice) {
  if (state_.notices.size() >= kMaxNotices) change(updates::DropNotice{state_.notices.front().id});
  change(updates::AddNotice{std::move(notice)});
}

std::optional<LoadModel> load_of(const NoticeItem& notice) {
  switch (notice.remedy.kind) {
    case Remedy::Kind::kSmallerContext:
      return LoadModel{.path = notice.model, .context = static_cast<int32_t>(notice.remedy.context)};
    case Remedy::Kind::kUseCpu:
    case Remedy::Kind::kCheckDevice:
      return LoadModel{.path = notice.model, .device = "cpu"};
    case Remedy::Kind::kLaunchGraph:
      return LoadModel{.path = notice.model, .launch = "graph"};
    default:
      return std::nullopt;
  }
}

}  // namespace warpchat
