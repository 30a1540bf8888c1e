// The profiler next to the conversation: the cost of a token and its reasons, drawn into the current ImGui window or
// child of at least 420 pixels. It only reads the state and pushes actions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/chat/state/actions.h"
#include "app/chat/state/chat_state.h"
#include "app/gui/theme.h"

struct ImFont;

namespace warpchat::gui {

// A token of an answer: the message's key, and the index into its tokens.
struct TokenPlace {
  uint64_t message;
  size_t token;
  bool operator==(const TokenPlace&) const = default;
};

class ProfilerOverlay {
 public:
  ProfilerOverlay();
  ~ProfilerOverlay();

  bool is_open() const { return is_open_; }
  void set_open(bool open, Actions& actions);  // pushes WatchProfile if that is a change

  struct Look {
    const Theme& theme;
    Sizes sizes;
    ImFont* code_font = nullptr;  // for the kernels' text; null: the controls' font
  };
  // Fills the content region. Call it only while the overlay is open; its own close button closes it.
  // hovered: the token under the pointer in the transcript.
  void draw(const ChatState& state, std::optional<TokenPlace> hovered, const Look& look, Actions& actions);

  // The clickable widgets of the last frame, panel buttons ("profiler:kernels") first.
  struct Mark {
    std::string name;
    float x, y, width, height;  // pixels of the screen
  };
  const std::vector<Mark>& marks() const;

  // The hovered token bar of the last frame, for the transcript to highlight.
  std::optional<TokenPlace> hovered_token() const;

 private:
  struct Parts;
  bool is_open_ = false;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpchat::gui
