// Settings of answers: system prompt, sampling with the file's defaults, length, thinking, seed.
#pragma once
#include <array>
#include <string>

#include "app/gui/window/shortcuts.h"
#include "app/gui/window/text_field.h"

namespace warpchat::gui {

class SettingsPanel {
 public:
  bool open = false;
  void draw(Frame& f, Rect rect);       // while it is open
  void finish(Actions& actions);        // applies pending input when the panel closes
  bool shows_emulators = false;         // among the devices; the window remembers it
  static constexpr float kWidth = 330;  // at scale 1
  static constexpr size_t kControls = 8;

 private:
  void follow(const ChatState& state);
  void draw_system_prompt(Frame& f, Rect rect);
  void draw_control(Ui& ui, Rect rect, size_t index, const SamplingParams& defaults);
  static float draw_cannot_think(Ui& ui, Rect rect, const std::string& model);
  void draw_thinking(Ui& ui, Rect rect);
  void draw_length(Ui& ui, Rect rect);
  void draw_seed(Ui& ui, Rect rect);
  float draw_all(Frame& f, Rect rect);

  AnswerSettings settings_, seen_;  // as set here; as the state had it last
  bool followed_ = false;
  TextField system_prompt_, max_tokens_, seed_;
  std::array<TextField, kControls> numbers_;
  ConversationId prompt_of_ = -1;
  std::string seen_prompt_;
  double prompt_changed_at_ = -1;
};

}  // namespace warpchat::gui
