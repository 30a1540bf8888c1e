// The newest is lowest; notices without room wait.
#include "app/gui/window/notices.h"

#include <algorithm>

#include "app/chat/state/remedies.h"
#include "app/gui/widgets/numbers.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr double kStays = 6, kStaysWithAction = 10, kRead = 4, kHovered = 2;  // seconds
constexpr float kNoticeWidth = 800, kMargin = 16, kGap = 6, kMin = 40;        // at scale 1
constexpr float kMore = 24;                                                   // likewise
constexpr float kSign = 16, kErrorSign = 38, kBeside = 42;  // likewise: left of the text; right of it, with the button

std::string text_of(const NoticeItem& notice) {
  return as_sentence(with_remedy(notice.text, notice.remedy, View::kWindow));
}

void act(Frame& f, const NoticeItem& notice) {
  if (notice.remedy.kind == Remedy::Kind::kChooseServed) return f.commands.push_back(Command::kModels);
  if (const std::optional<LoadModel> load = load_of(notice)) return f.actions.push(*load);
  if (!notice.imported.empty()) return f.actions.push(TakeBackImport{notice.imported});
  if (notice.unarchives) return f.actions.push(FileConversations{notice.restores, {.archived = false}});
  if (notice.shows == 0) return f.actions.push(TakeFromTrash{notice.restores});
  f.actions.push(OpenStored{notice.restores.front()});
  f.actions.push(ShowVersion{0, notice.shows});
}

}  // namespace

void Notices::add(std::string text, bool is_error) { own_.push_back({next_own_++, is_error, std::move(text)}); }

void Notices::dismiss(Frame& f, uint64_t id) {
  seen_.erase(id);
  if (std::erase_if(own_, [&](const NoticeItem& n) { return n.id == id; }) == 0) f.actions.push(DismissNotice{id});
}

template <class Condition>
bool Notices::dismiss_seen(Frame& f, Condition condition) {
  std::vector<uint64_t> ids;
  for (const auto& [id, seen] : seen_)
    if (condition(seen)) ids.push_back(id);
  for (const uint64_t id : ids) dismiss(f, id);
  return !ids.empty();
}

bool Notices::close(Frame& f) {
  return dismiss_seen(f, [&](const Seen& seen) {
    return !seen.is_error || seen.conversation == 0 || seen.conversation == f.state.open.id;
  });
}

// Sending a message or leaving the conversation dismisses errors that were visible for a while.
void Notices::follow_user(Frame& f) {
  const bool goes_on = f.state.open.id != conversation_ || f.state.taken_sends != n_sends_;
  conversation_ = f.state.open.id, n_sends_ = f.state.taken_sends;
  if (goes_on) dismiss_seen(f, [&](const Seen& seen) { return seen.is_error && f.ui.now - seen.since >= kRead; });
}

bool Notices::has_gone_by(Frame& f, const NoticeItem& notice, bool hovered) {
  Seen& seen = seen_.try_emplace(notice.id, Seen{conversation_, f.ui.now, notice.is_error}).first->second;
  if (notice.is_error) return false;
  const double stays = notice.action_label.empty() ? kStays : kStaysWithAction;
  if (hovered) seen.since = std::max(seen.since, f.ui.now + kHovered - stays);
  const double rest = seen.since + stays - f.ui.now;
  if (rest > 0) f.ui.wake_in(rest);
  return rest <= 0;
}

void Notices::draw(Frame& f, Rect& rect) {
  follow_user(f);
  std::vector<NoticeItem> all = f.state.notices;
  all.insert(all.end(), own_.begin(), own_.end());
  std::erase_if(seen_, [&](const auto& entry) {
    return std::ranges::none_of(all, [&](const NoticeItem& notice) { return notice.id == entry.first; });
  });
  Ui& ui = f.ui;
  const float width = std::min(ui.px(kNoticeWidth), rect.width - ui.px(2 * kMargin));
  float room = rect.height / 2;
  std::erase_if(all, [&](const NoticeItem& notice) {
    const auto seen = seen_.find(notice.id);
    const ConversationId of = seen == seen_.end() ? 0 : seen->second.conversation;
    return notice.is_error && of != 0 && of != conversation_;
  });
  for (size_t i = all.size(); i-- > 0;) {
    const ButtonLook action{.text = all[i].action_label, .kind = ButtonKind::kOutlined};
    const float beside = ui.px(kBeside + (all[i].is_error ? kErrorSign : kSign)) +
                         (action.text.empty() ? 0 : ui.button_width(action) + ui.px(8));
    const float text = ui.paragraph({0, 0}, text_of(all[i]), {ui.theme->text, 0.9f}, width - beside, false);
    const float height = std::max(std::round(text) + ui.px(16), ui.px(kMin));
    const bool is_newest = i + 1 == all.size();
    if (height + ui.px(kGap) > room && !is_newest) {
      const Rect row = rect.cut_bottom(ui.px(kMore));
      ui.mark("more_notices", row);
      return void(ui.label_in(row, counted(i + 1, "earlier notice"), {ui.theme->dim_text, 0.82f}, 0.5f));
    }
    room -= height + ui.px(kGap);
    rect.cut_bottom(ui.px(kGap));
    const Rect row = rect.cut_bottom(height);
    if (draw_notice(f, {std::floor(row.centre().x - width / 2), row.y, width, row.height}, all[i]))
      dismiss(f, all[i].id);
  }
}

bool Notices::draw_notice(Frame& f, Rect place, const NoticeItem& notice) {
  Ui& ui = f.ui;
  const std::string name = "notice:" + std::to_string(notice.id);
  bool goes = has_gone_by(f, notice, place.contains(ImGui::GetIO().MousePos));
  ui.mark(name, place);
  ui.fill(place, ui.theme->raised, ui.px(10));
  Rect inner = place;
  if (notice.is_error) {
    ui.fill(place, with_alpha(ui.theme->error, 0.09f), ui.px(10));
    ui.outline(place, with_alpha(ui.theme->error, 0.45f), ui.px(10));
    ui.icon(Icon::kWarning, inner.cut_left(ui.px(kErrorSign)).inset(ui.px(10), 0), ui.theme->error);
  } else {
    ui.outline(place, ui.theme->border, ui.px(10));
    ui.fill(inner.cut_left(ui.px(4)).inset(0, ui.px(9)), ui.theme->accent, ui.px(2));
    inner.cut_left(ui.px(kSign - 4));
  }
  inner.cut_right(ui.px(6));
  const Rect close = inner.cut_right(ui.px(28)).in_middle(ui.px(28));
  if (ui.button(name + ":dismiss", close, {.icon = Icon::kClose, .tooltip = "Close (Esc)"})) goes = true;
  if (!notice.action_label.empty()) {
    const ButtonLook look{.text = notice.action_label, .kind = ButtonKind::kOutlined};
    const Rect button = inner.cut_right(ui.button_width(look)).in_middle(ui.px(28));
    inner.cut_right(ui.px(8));
    if (ui.button(name + ":action", button, look)) act(f, notice), goes = true;
  }
  const TextLook look{ui.theme->text, 0.9f};
  const std::string text = text_of(notice);
  const float width = inner.width - ui.px(8);
  const float height = ui.paragraph({0, 0}, text, look, width, /*draw=*/false);
  ui.paragraph({inner.x, inner.y + (inner.height - height) / 2}, text, look, width);
  return goes;
}

}  // namespace warpchat::gui
