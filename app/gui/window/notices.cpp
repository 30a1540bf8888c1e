// A notice that goes sleeps until its last moments, then fades in a few frames.
#include "app/gui/window/notices.h"

#include <algorithm>

#include "app/gui/window/numbers.h"

namespace warpchat::gui {

namespace {

constexpr double kStays = 6, kFades = 0.4, kFadeStep = 0.04;  // seconds
constexpr float kWidth = 360, kMargin = 14;

}  // namespace

void Notices::add(std::string text, bool is_error) { own_.push_back({next_own_++, is_error, std::move(text), "", 0}); }

void Notices::dismiss(Frame& f, uint64_t id) {
  leaves_at_.erase(id);
  if (std::erase_if(own_, [&](const NoticeItem& n) { return n.id == id; }) == 0) f.actions.push(DismissNotice{id});
}

float Notices::alpha_of(Frame& f, const NoticeItem& notice, bool hovered) {
  if (notice.is_error) return 1;
  const auto [entry, is_new] = leaves_at_.try_emplace(notice.id, f.ui.now + kStays);
  if (hovered) entry->second = std::max(entry->second, f.ui.now + 2);
  const double rest = entry->second - f.ui.now;
  f.ui.wake_in(rest > kFades ? rest - kFades : kFadeStep);
  return static_cast<float>(std::clamp(rest / kFades, 0.0, 1.0));
}

void Notices::draw(Frame& f, Rect rect) {
  std::vector<NoticeItem> all = f.state.notices;
  all.insert(all.end(), own_.begin(), own_.end());
  Ui& ui = f.ui;
  const float width = std::min(ui.px(kWidth), rect.width - ui.px(2 * kMargin));
  float bottom = rect.bottom() - ui.px(kMargin);
  for (size_t i = all.size(); i-- > 0 && bottom > rect.y + ui.px(60);) {
    const NoticeItem& notice = all[i];
    const float text =
        ui.paragraph({0, 0}, as_sentence(notice.text), {ui.theme->text, 0.9f}, width - ui.px(62), /*draw=*/false);
    const float height = std::min(text + ui.px(notice.action_label.empty() ? 24 : 60), bottom - rect.y);
    const Rect place{rect.right() - ui.px(kMargin) - width, bottom - height, width, height};
    const bool hovered = place.contains(ImGui::GetIO().MousePos);
    const float alpha = alpha_of(f, notice, hovered);
    if (alpha <= 0) {
      dismiss(f, notice.id);
      continue;
    }
    draw_notice(f, place, notice, alpha);
    bottom = place.y - ui.px(10);
  }
}

void Notices::draw_notice(Frame& f, Rect place, const NoticeItem& notice, float alpha) {
  Ui& ui = f.ui;
  const std::string name = "notice:" + std::to_string(notice.id);
  const Surface surface(name.c_str(), place.inset(ui.px(-14)), Surface::Kind::kOverlay);
  ui.mark(name, place);
  if (alpha >= 1) ui.shadow(place, ui.px(10));
  ui.fill(place, with_alpha(ui.theme->raised, alpha), ui.px(10));
  ui.outline(place, with_alpha(ui.theme->border, alpha), ui.px(10));
  const Colour sign = notice.is_error ? ui.theme->error : ui.theme->accent;
  Rect bar = place;
  ui.fill(bar.cut_left(ui.px(4)).inset(0, ui.px(9)), with_alpha(sign, alpha), ui.px(2));
  if (alpha < 1) return;  // text does not fade: a layout a step would be made anew
  Rect inner = place.inset(ui.px(16), ui.px(12));
  Rect side = inner.cut_right(ui.px(26));
  if (ui.button(name + ":dismiss", side.cut_top(ui.px(24)), {.icon = Icon::kClose})) dismiss(f, notice.id);
  ui.paragraph(inner.corner(), as_sentence(notice.text), {ui.theme->text, 0.9f}, place.width - ui.px(62));
  if (notice.action_label.empty()) return;
  const ButtonLook look{.text = notice.action_label, .kind = ButtonKind::kOutlined};
  Rect row = inner.cut_bottom(ui.px(30));
  if (!ui.button(name + ":action", row.cut_left(ui.button_width(look)), look)) return;
  f.actions.push(TakeFromTrash{notice.restores});
  dismiss(f, notice.id);
}

}  // namespace warpchat::gui
