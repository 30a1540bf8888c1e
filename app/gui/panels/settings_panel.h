// Settings of answers: system prompt, sampling with the file's defaults, length, thinking, seed. Either of the shown
// conversation, or of new ones, which the settings file keeps.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

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
  void draw_scope(Frame& f, Rect rect);
  void draw_assistant(Frame& f, Rect rect);
  void draw_system_prompt(Frame& f, Rect rect);
  void draw_control(Ui& ui, Rect rect, size_t index);
  static float draw_cannot_think(Ui& ui, Rect rect, const std::string& model);
  void draw_thinking(Ui& ui, Rect rect);
  void draw_length(Ui& ui, Rect rect);
  void draw_seed(Ui& ui, Rect rect);
  float draw_all(Frame& f, Rect rect);

  AnswerChoices& own() { return for_new_ ? layers_.defaults : layers_.conversation; }
  AnswerSettings values() const;    // that hold, in the chosen scope
  AnswerSettings defaults() const;  // that would hold without own choices
  template <class T>
  void choose(std::optional<T> AnswerChoices::*field, std::optional<T> value);
  void show_values();
  void send_choices(Actions& actions);
  void send_prompt(Actions& actions);

  bool for_new_ = false;          // the scope
  AnswerLayers layers_;           // with choices as made here
  SamplingParams file_sampling_;  // below them
  ConversationId shown_ = 0;
  std::vector<std::string> assistants_;    // names in the open menu
  std::optional<uint64_t> listed_before_;  // revision of their list, when the menu was asked for
  std::vector<std::string_view> changed_;  // names of choices that were made and not sent yet
  TextField system_prompt_, max_tokens_, seed_;
  std::array<TextField, kControls> numbers_;
  ConversationId prompt_of_ = -1;
  bool prompt_for_new_ = false;
  std::string seen_prompt_;
  double prompt_changed_at_ = -1;
};

}  // namespace warpchat::gui
