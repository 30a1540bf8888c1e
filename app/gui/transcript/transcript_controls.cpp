// Controls around the text: footers with their buttons, the scroll bar, the jump to the end, a link's target.
#include <algorithm>
#include <cmath>

#include "app/gui/transcript/transcript_parts.h"
#include "app/gui/widgets/numbers.h"
#include "app/gui/widgets/ui.h"
#include "models/text_format.h"
#include "models/utf8.h"

namespace warpchat::gui {
namespace {

constexpr size_t kMaxModelName = 60;  // bytes

// "42.1 tokens/s · 812 tokens · 19.3 s · first after 400 ms"
std::string speed_text(const Timings& timings) {
  if (timings.generated_tokens == 0) return "";
  std::string text;
  if (timings.generated_tokens > 1 && timings.generate_seconds > 0) {
    const double rate = (timings.generated_tokens - 1) / timings.generate_seconds;
    text = fixed(rate, rate < 100 ? 1 : 0) + " tokens/s · ";
  }
  text += std::to_string(timings.generated_tokens) + (timings.generated_tokens == 1 ? " token · " : " tokens · ");
  return text + seconds_text(timings.first_token_seconds + timings.generate_seconds) + " · first after " +
         seconds_text(timings.first_token_seconds);
}

std::string waiting_text(const ChatState& state) {
  if (state.open.phase != AnswerPhase::kPrompt || state.open.prompt_progress.total == 0) return "…";
  return "Reading the prompt: " + std::to_string(state.open.prompt_progress.done) + " of " +
         std::to_string(state.open.prompt_progress.total) + " tokens";
}

}  // namespace

void TranscriptView::Parts::draw_footer(const VisibleRow& row) {
  const size_t index = row.place.message;
  const ChatMessage& message = layout.message(index);
  const MessageRows& rows = layout.at(index);
  float y = frame.origin.y + row.top + layout.lead(index, row.place.row) + layout.footer_lead(index);
  const float note = layout.note_height(index);
  if (note > 0 && layout.note_is_error(index))
    draw_error(index, {frame.left, std::round(y + 0.4f * em())});
  else if (note > 0)
    rows.note_layout->draw(*frame.list, {frame.left, std::round(y + 0.4f * em())}, frame.origin.y, frame.bottom());
  y += note;
  if (const float ways = layout.ways_height(index); ways > 0) {
    asked_call(message) != nullptr ? draw_decisions(index, y) : draw_ways_out(index, y);
    y += ways;
  }
  if (layout.is_last_unseen(index)) draw_divider(index, frame.origin.y + row.top + row.height);
  const float size = std::round(1.7f * em()), strip = std::round(y + (layout.strip_height() - size) / 2);
  const auto text = [&](const std::string& words, float x) {
    const TextLayout& label = layout.label(words, 0.82f * em(), theme().dim_text);
    label.draw(*frame.list, {x, std::round(strip + (size - label.height()) / 2)}, frame.origin.y, frame.bottom());
  };
  if (rows.status == MessageStatus::kStreaming) {
    const bool waits = message.content.empty() && message.reasoning.empty() && message.tool_calls.empty();
    if (waits) text(waiting_text(*frame.state), frame.left);
    return;
  }
  const bool is_last = index + 1 == layout.n_messages();
  const bool idle = frame.state->open.phase == AnswerPhase::kIdle;
  const bool lacks_answer = idle && is_last && rows.is_user;
  const bool shows = hovered_message == rows.key || has_keyboard || (is_last && !rows.is_user) || lacks_answer;
  const uint64_t id = rows.key * 64 + 8;
  // From the left for answers, from the right for what the user said.
  float x = rows.is_user ? frame.left + layout.width() : frame.left - 0.4f * em();
  const auto place = [&](float width) {
    const float at = rows.is_user ? x - width : x;
    x += rows.is_user ? -width : width;
    return at;
  };
  if (message.siblings.size() > 1) place(0), x = draw_versions(index, x, strip);
  if (!shows) return;
  if (text_bytes(message) > 0 && icon_button(id, {Icon::kCopy, "copy", "Copy", index}, {place(size), strip}, size))
    copy(id, text_to_copy(message));
  if (rows.is_user && idle &&
      icon_button(id + 1, {Icon::kPen, "edit", "Edit and resend", index}, {place(size), strip}, size))
    edit = rows.key;
  if ((lacks_answer || (idle && !rows.is_user)) &&
      icon_button(id + 2, {Icon::kRegenerate, "regenerate", "Regenerate", index}, {place(size), strip}, size))
    frame.actions->push(Regenerate{rows.key});
  if (rows.is_user) return;
  const bool has_more = message.status != MessageStatus::kComplete || message.cut != AnswerCut::kNone;
  const bool can_continue = !frame.state->model || frame.state->model->can_continue;
  if (idle && is_last && has_more && is_begun(message) && can_continue &&
      icon_button(id + 3, {Icon::kContinue, "continue", "Continue", index}, {place(size), strip}, size))
    frame.actions->push(ContinueAnswer{rows.key});
  std::string about = printable(message.model_name, kMaxModelName);
  const std::string speed = message.timings ? speed_text(*message.timings) : "";
  about += (about.empty() || speed.empty() ? "" : " · ") + speed;
  if (!about.empty()) text(about, x + 0.5f * em());
}

// A box with a sign, the sentence, and a button for another try.
void TranscriptView::Parts::draw_error(size_t index, ImVec2 from) {
  const TextLayout& text = *layout.at(index).note_layout;
  const float height = layout.error_box_height(index), side = std::round(1.2f * em()), rounding = 0.5f * em();
  const ImVec2 to(from.x + layout.width(), from.y + height);
  const auto faded = [&](float alpha) { return (theme().error & 0xFFFFFF) | static_cast<Colour>(alpha * 255) << 24; };
  frame.list->AddRectFilled(from, to, faded(0.09f), rounding);
  frame.list->AddRect(from, to, faded(0.4f), rounding);
  draw_icon(*frame.list, Icon::kWarning, {from.x + 0.5f * em(), std::round(from.y + (height - side) / 2)}, side,
            theme().error);
  text.draw(*frame.list, {from.x + layout.error_text_left(), std::round(from.y + (height - text.height()) / 2)},
            frame.origin.y, frame.bottom());
  const ChatMessage& message = layout.message(index);
  const bool is_last = index + 1 == layout.n_messages(), idle = frame.state->open.phase == AnswerPhase::kIdle;
  if (message.status != MessageStatus::kFailed || !is_last || !idle || !layout.error_box_has_button()) return;
  constexpr const char* kTryAgain = "Try again";
  const float wide = std::round(layout.label(kTryAgain, 0.88f * em(), theme().text).width() + 1.4f * em());
  float width = 0;
  if (text_button(message.key * 64 + 19, "try_again", kTryAgain, index,
                  {to.x - wide - 0.5f * em(), std::round(from.y + (height - strip_button_height()) / 2)}, &width))
    frame.actions->push(Regenerate{message.key});
}

// The question above them is whole: name and arguments as they are sent.
void TranscriptView::Parts::draw_decisions(size_t index, float y) {
  const ChatMessage& message = layout.message(index);
  const struct {
    const char *name, *text;
    bool is_allowed;
    Permission permission;
  } choices[] = {{"allow", "Allow", true, Permission::kAsk},
                 {"allow_here", "Allow in this chat", true, Permission::kConversation},
                 {"allow_always", "Always allow", true, Permission::kAlways},
                 {"deny", "Deny", false, Permission::kAsk},
                 {"deny_always", "Never allow", false, Permission::kNever}};
  ImVec2 at(frame.left, std::round(y + 0.3f * em()));
  uint64_t id = message.key * 64 + 8;
  for (const auto& choice : choices) {
    float width = 0;
    if (text_button(id++, choice.name, choice.text, index, at, &width))
      frame.actions->push(DecideCall{message.key, asked_call(message)->id, choice.is_allowed, choice.permission});
    at.x += width + 0.5f * em();
    if (choice.permission == Permission::kAlways && layout.decisions_need_two_rows())
      at = {frame.left, at.y + layout.strip_height() + 0.3f * em()};
  }
}

void TranscriptView::Parts::draw_ways_out(size_t index, float y) {
  const ChatMessage& message = layout.message(index);
  const Remedies ways = remedies_at(*frame.state, message);
  const auto& refusal = frame.state->refusal;
  const bool is_refused = refusal && refusal->message == message.key;
  const uint64_t id = message.key * 64 + 16;
  ImVec2 at(frame.left, std::round(y + 0.3f * em()));
  float width = 0;
  const bool larger =
      ways.larger_context > 0 &&
      text_button(id, "larger_context", "Use a context of " + grouped(ways.larger_context), index, at, &width);
  if (ways.larger_context > 0) at.x += width + 0.5f * em();
  const bool drop = ways.can_drop && text_button(id + 1, "fewer_turns", "Drop oldest messages", index, at, &width);
  if (!larger && !drop) return;
  if (larger) frame.actions->push(LoadModel{.context = static_cast<int32_t>(ways.larger_context)});
  if (drop) frame.actions->push(DropOldest{});
  if (is_refused && !refusal->continues)
    frame.actions->push(Regenerate{message.key});
  else
    frame.actions->push(ContinueAnswer{message.key});
}

// The line below the messages that the model no longer sees.
void TranscriptView::Parts::draw_divider(size_t index, float bottom) {
  const TextLayout& label = layout.label("The model does not see the messages above", 0.82f * em(), theme().dim_text);
  const float y = std::round(bottom - 1.8f * em());
  ImVec2 at(std::round(frame.left + 0.5f * em()), y - std::round(label.height() / 2));
  label.draw(*frame.list, at, frame.origin.y, frame.bottom());
  at.x += label.width() + 0.5f * em();
  float width = 0;
  at.y = y - std::round(strip_button_height() / 2);
  if (frame.state->open.phase == AnswerPhase::kIdle &&
      text_button(layout.at(index).key * 64 + 18, "see_all", "Use all messages", index, at, &width))
    frame.actions->push(DropOldest{false});
  const float line = at.x + width + 0.5f * em();
  frame.list->AddLine({line, y}, {frame.left + layout.width(), y}, theme().border);
}

// "‹ 2 / 3 ›"; returns where the next button goes.
float TranscriptView::Parts::draw_versions(size_t index, float x, float y) {
  const ChatMessage& message = layout.message(index);
  const MessageRows& rows = layout.at(index);
  const std::string words = std::to_string(message.sibling + 1) + " / " + std::to_string(message.siblings.size());
  const TextLayout& label = layout.label(words, 0.82f * em(), theme().dim_text);
  const float size = std::round(1.7f * em()), width = 2 * size + label.width();
  const float left = std::round(rows.is_user ? x - width : x);
  const auto show = [&](size_t sibling) { frame.actions->push(ShowVersion{rows.key, message.siblings[sibling]}); };
  label.draw(*frame.list, {left + size, std::round(y + (size - label.height()) / 2)}, frame.origin.y, frame.bottom());
  const bool idle = frame.state->open.phase == AnswerPhase::kIdle;
  const uint64_t id = rows.key * 64 + 12;
  const auto step = [&](uint64_t number, const IconButton& button, float at, size_t sibling) {
    if (idle && sibling < message.siblings.size()) return icon_button(id + number, button, {at, y}, size);
    const float side = std::round(size * 0.66f), gap = std::round((size - side) / 2);
    draw_icon(*frame.list, button.icon, {at + gap, y + gap}, side, theme().border);  // there is none
    return false;
  };
  if (step(0, {Icon::kBack, "version_before", "Previous version", index}, left, message.sibling - 1))
    show(message.sibling - 1);
  if (step(1, {Icon::kForward, "version_after", "Next version", index}, left + width - size, message.sibling + 1))
    show(message.sibling + 1);
  return rows.is_user ? left : left + width;
}

void TranscriptView::Parts::draw_scroll_bar() {
  const float whole = std::max(RowScroll::content_height(layout), 1.0f), window = frame.size.y;
  if (scroll.at_end() && scroll.visible().front().place == RowPlace{} && scroll.visible().front().top >= 0) return;
  const float width = std::round(pixels(6)), margin = std::round(pixels(3));
  const float right = frame.origin.x + frame.size.x - margin, track = window - 2 * margin;
  const float thumb = std::min(track, std::max(pixels(32), track * window / std::max(whole, window)));
  const float range = std::max(1.0f, whole - window), travel = track - thumb;
  float at = scroll.at_end() ? travel : std::clamp(scroll.position(layout) / range, 0.0f, 1.0f) * travel;
  const float top = frame.origin.y + margin;
  bool hot = false;
  constexpr uint64_t kId = 2;
  press(kId, {right - width - margin, frame.origin.y}, {right + margin, frame.bottom()}, &hot);
  if (pressed == kId && frame.down) {
    const bool on_thumb = frame.mouse.y >= top + at && frame.mouse.y < top + at + thumb;
    if (frame.clicked) bar_grab = on_thumb ? frame.mouse.y - top - at : thumb / 2;
    if (!frame.clicked || !on_thumb) {
      const float wanted = std::clamp(frame.mouse.y - top - bar_grab, 0.0f, travel);
      if (wanted >= travel - 0.5f) {
        scroll.to_end();
      } else {
        scroll.to_position(layout, wanted / travel * range);
      }
      scroll.settle(layout, frame.size.y);
      at = wanted;
    }
    hot = true;
  }
  frame.list->AddRectFilled({right - width, top + at}, {right, top + at + thumb},
                            hot ? theme().dim_text : theme().border, width / 2);
}

// Beside the text: it covers none of it.
void TranscriptView::Parts::draw_end_button() {
  if (scroll.at_end()) return;
  const float side = std::round(pixels(30)), edge = frame.origin.x + frame.size.x - pixels(14);
  const float x = std::min(frame.left + layout.width() + 0.6f * em(), edge - side);
  const ImVec2 from(std::round(x), std::round(frame.bottom() - side - pixels(8))), to(from.x + side, from.y + side);
  const ImVec2 centre((from.x + to.x) / 2, (from.y + to.y) / 2);
  bool hot = false;
  constexpr uint64_t kId = 3;
  if (press(kId, from, to, &hot)) wants_end = true;
  buttons.push_back({"scroll_to_end", from.x, from.y, side, side});
  frame.list->AddCircleFilled(centre, side / 2, hot ? theme().raised : theme().panel);
  frame.list->AddCircle(centre, side / 2, theme().border);
  const float icon = std::round(pixels(16));
  draw_icon(*frame.list, Icon::kDown, {std::round(centre.x - icon / 2), std::round(centre.y - icon / 2)}, icon,
            hot ? theme().text : theme().dim_text);
  if (hot && !frame.down) tip = "To the end", tip_from = from, tip_to = to;
}

// Where a link leads, in the corner, as browsers show it.
void TranscriptView::Parts::draw_link_target() {
  if (link.empty()) return;
  std::string shown = link.substr(0, 160);
  while (shown.size() < link.size() && !shown.empty() && continues_character(link[shown.size()])) shown.pop_back();
  if (shown.size() < link.size()) shown += "…";
  const TextLayout& label = layout.label(shown, 0.85f * em(), theme().dim_text);
  const float pad = 0.4f * em();
  const ImVec2 to(frame.origin.x + label.width() + 2 * pad, frame.bottom());
  const ImVec2 from(frame.origin.x, to.y - label.height() - pad);
  frame.list->AddRectFilled(from, to, theme().panel, 0.3f * em(), ImDrawFlags_RoundCornersTopRight);
  frame.list->AddRect(from, to, theme().border, 0.3f * em(), ImDrawFlags_RoundCornersTopRight);
  label.draw(*frame.list, {from.x + pad, std::round(from.y + pad / 2)}, frame.origin.y, frame.bottom());
}

// What the button under the mouse does.
void TranscriptView::Parts::draw_tip() {
  if (tip.empty()) return;
  const Rect about{tip_from.x, tip_from.y, tip_to.x - tip_from.x, tip_to.y - tip_from.y};
  draw_tooltip(layout.label(tip, std::round(0.85f * em()), theme().text), about, theme(), frame.look->sizes);
}

}  // namespace warpchat::gui
