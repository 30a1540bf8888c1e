#include "app/gui/profiler/token_strip.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "app/gui/profiler/panel_parts.h"
#include "app/gui/profiler/plots.h"
#include "app/platform/text/numbers.h"
#include "models/text_format.h"

namespace warpchat::gui {

namespace {

constexpr float kHeight = 38, kBarWidth = 5, kTextShown = 40;

std::string text_of_token(const ChatMessage& message, size_t token) {
  const size_t end = token + 1 < message.tokens.size() ? message.tokens[token + 1].offset : SIZE_MAX;
  return printable(text_between(message, message.tokens[token].offset, end), static_cast<size_t>(kTextShown));
}

void show_token(const ChatMessage& message, size_t token) {
  const double seconds = message.tokens[token].seconds;
  std::string text = "token " + grouped(token + 1) + " \u00b7 " + duration_text(seconds);
  if (token == 0) text += " since the question";
  ImGui::SetTooltip("%s\n\"%s\"", text.c_str(), text_of_token(message, token).c_str());
}

}  // namespace

StripPart strip_part(size_t n_tokens, size_t room, std::optional<size_t> focus) {
  const size_t count = std::min(n_tokens, room);
  size_t first = n_tokens - count;
  if (focus && *focus < first) first = *focus - std::min(*focus, count / 2);
  return {first, count};
}

const ChatMessage* strip_message(const ChatState& state, std::optional<TokenPlace> hovered) {
  const ChatMessage* last = nullptr;
  for (const ChatMessage& message : state.open.messages) {
    if (message.tokens.empty()) continue;
    if (hovered && message.key == hovered->message) return &message;
    last = &message;
  }
  return last;
}

void TokenStrip::draw(const ChatState& state, std::optional<TokenPlace> hovered, const ProfilerOverlay::Look& look) {
  hovered_.reset();
  const ChatMessage* message = strip_message(state, hovered);
  if (message == nullptr) return ImGui::Dummy({1, look.sizes.width(kHeight)});  // what is below does not move
  std::optional<size_t> focus;
  if (hovered && hovered->message == message->key && hovered->token < message->tokens.size()) focus = hovered->token;
  const float width = ImGui::GetContentRegionAvail().x, height = look.sizes.width(kHeight);
  const float bar = look.sizes.width(kBarWidth);
  const StripPart part = strip_part(message->tokens.size(), static_cast<size_t>(std::max(1.0f, width / bar)), focus);
  const auto tokens = std::span(message->tokens).subspan(part.first, part.count);
  std::vector<float> seconds;
  for (const TokenMark& token : tokens) seconds.push_back(token.seconds);
  const double scale = full_height(seconds);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("tokens", {width, height});
  if (ImGui::IsItemHovered()) {
    const auto index = static_cast<size_t>(std::max(0.0f, (ImGui::GetIO().MousePos.x - at.x) / bar));
    if (index < part.count) hovered_ = TokenPlace{message->key, part.first + index};
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const Theme& theme = look.theme;
  const float bottom = at.y + height;
  list.AddLine({at.x, bottom}, {at.x + width, bottom}, theme.border);
  for (size_t i = 0; i < tokens.size(); ++i) {
    const bool is_marked = focus == part.first + i || (hovered_ && hovered_->token == part.first + i);
    const double share = scale > 0 ? tokens[i].seconds / scale : 0;
    const float x = at.x + static_cast<float>(i) * bar;
    const float top = bottom - std::max(1.0f, static_cast<float>(std::min(share, 1.0)) * height);
    const Colour plain = share > 1.001 ? theme.warning : faded(theme.accent, 0.6f);
    list.AddRectFilled({x, top}, {x + std::max(1.0f, bar - 1), bottom}, is_marked ? theme.text : plain);
  }
  if (hovered_) show_token(*message, hovered_->token);
}

}  // namespace warpchat::gui
