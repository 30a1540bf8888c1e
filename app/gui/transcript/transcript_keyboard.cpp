// The keyboard's way through the buttons and links of messages.
#include <algorithm>

#include "app/gui/desktop/open_link.h"
#include "app/gui/transcript/transcript_parts.h"

namespace warpchat::gui {

namespace {

constexpr float kScrollPart = 0.5f;  // of the window, where there is no target

}  // namespace

void TranscriptView::set_keyboard(bool has_keyboard) {
  Parts& p = *parts_;
  const bool begins = has_keyboard && !p.has_keyboard;
  p.has_keyboard = has_keyboard;
  if (begins && !p.current_target()) p.target = p.targets.empty() ? 0 : p.targets.back().id;
}

void TranscriptView::move_target(int steps) { parts_->move_target(steps); }
void TranscriptView::activate_target() { parts_->activated = parts_->target; }

void TranscriptView::open_target_menu() {
  Parts& p = *parts_;
  const Parts::Target* target = p.current_target();
  if (!target) return;
  p.note_menu({target->from.x, (target->from.y + target->to.y) / 2});
  p.menu->y = target->to.y;
}

const TranscriptView::Parts::Target* TranscriptView::Parts::current_target() const {
  const auto at = std::find_if(targets.begin(), targets.end(), [&](const Target& t) { return t.id == target; });
  return at == targets.end() ? nullptr : &*at;
}

// From one that is out of view to the nearest that is in view.
void TranscriptView::Parts::move_target(int steps) {
  const auto is_visible = [&](const Target& t) { return t.to.y > frame.origin.y && t.from.y < frame.bottom(); };
  const Target* current = current_target();
  const Target* next = nullptr;
  for (const Target& t : targets) {
    if (!current) {
      if (is_visible(t) && (!next || steps < 0)) next = &t;
    } else if (steps > 0 ? &t > current && !next : &t < current) {
      next = &t;
    }
  }
  // A step scrolls no further than to where what lies between could be read.
  const float reach = frame.size.y * kScrollPart;
  const bool is_far = next && (next->from.y > frame.bottom() + reach || next->to.y < frame.origin.y - reach);
  if (!next || is_far) {
    wanted_move += static_cast<float>(steps) * reach;
  } else {
    target = next->id;
    show_target(*next);
  }
  animates = true;
}

void TranscriptView::Parts::show_target(const Target& shown) {
  const float margin = em(), above = frame.origin.y + margin - shown.from.y;
  const float below = shown.to.y + margin - frame.bottom();
  if (above > 0)
    wanted_move -= above;
  else if (below > 0)
    wanted_move += below;
}

bool TranscriptView::Parts::add_target(const Target& added) {
  targets.push_back(added);
  if (!has_keyboard || target != added.id) return false;
  const float gap = std::max(1.0f, pixels(1.5f));
  frame.list->AddRect({added.from.x - gap, added.from.y - gap}, {added.to.x + gap, added.to.y + gap}, theme().accent,
                      0.3f * em(), 0, std::max(1.0f, pixels(2)));
  buttons.push_back({"target", added.from.x, added.from.y, added.to.x - added.from.x, added.to.y - added.from.y});
  return activated == added.id;
}

bool TranscriptView::Parts::press_target(const Target& added, const char* name, bool* hot) {
  note_button(name, added.message, added.from, added.to);
  const bool by_key = add_target(added);
  return press(added.id, added.from, added.to, hot) || by_key;
}

// A link over several lines has a ring in each; id: of the block's first link.
void TranscriptView::Parts::add_link_targets(const BlockLayout& block, const MarkdownBlock& text, size_t message,
                                             ImVec2 at, uint64_t id) {
  if (!has_keyboard) return;
  for (size_t i = 0; i < text.links.size(); ++i) {
    if (!may_open_link(text.links[i])) continue;
    const std::vector<TextRect> rects = block.link_rects(text, static_cast<int32_t>(i));
    const auto corner = [&](const TextRect& rect, bool end) {
      return ImVec2(at.x + rect.x + (end ? rect.width : 0), at.y + rect.y + (end ? rect.height : 0));
    };
    bool opens = false;
    for (size_t part = 0; part < rects.size(); ++part) {
      const bool by_key = add_target({id + i, corner(rects[part], false), corner(rects[part], true), message});
      if (part > 0) targets.pop_back();
      opens = opens || by_key;
    }
    if (target == id + i && !rects.empty()) link = text.links[i];
    if (opens) open_link(text.links[i]);
  }
}

}  // namespace warpchat::gui
