// The profiler beside the conversation: what a token costs and why, drawn into the current ImGui window or child, which
// may be 420 pixels wide or more. It only reads; what it wants goes to actions.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/desk/actions.h"
#include "app/desk/desk_state.h"
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
  void draw(const DeskState& state, std::optional<TokenPlace> hovered, const Look& look, Actions& actions);

  // What can be clicked, as the last frame drew it: first what chooses a panel, "profiler:kernels".
  struct Mark {
    std::string name;
    float x, y, width, height;  // pixels of the screen
  };
  const std::vector<Mark>& marks() const;

  // The token whose bar was under the pointer when draw was called last: for the transcript to mark.
  std::optional<TokenPlace> hovered_token() const;
  bool is_paused() const;

 private:
  struct Parts;
  bool is_open_ = false;
  std::unique_ptr<Parts> parts_;
};

}  // namespace warpchat::gui
