// The latency of each token of an answer as a bar.
#pragma once
#include <cstddef>
#include <optional>

#include "app/gui/profiler/profiler_overlay.h"

namespace warpchat::gui {

// The tokens that fit: the last ones, or those around a focus further back.
struct StripPart {
  size_t first, count;
};
StripPart strip_part(size_t n_tokens, size_t room, std::optional<size_t> focus);

// The answer to show: the hovered one in the transcript, else the last one with tokens.
const ChatMessage* strip_message(const ChatState& state, std::optional<TokenPlace> hovered);

class TokenStrip {
 public:
  // Over the width of the content region.
  void draw(const ChatState& state, std::optional<TokenPlace> hovered, const ProfilerOverlay::Look& look);
  std::optional<TokenPlace> hovered_token() const { return hovered_; }

 private:
  std::optional<TokenPlace> hovered_;
};

}  // namespace warpchat::gui
