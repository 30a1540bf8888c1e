// Every command of the window by its name, with models, servers, prompts and conversations: filtered while one types.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/gui/widgets/text_field.h"
#include "app/gui/window/palette_rows.h"

namespace warpchat::gui {

class CommandPalette {
 public:
  void toggle(Frame& f);
  bool is_open() const { return is_open_; }
  bool close(Ui& ui);  // whether it was open
  void draw(Frame& f);
  const std::vector<PaletteRow>& rows() const { return rows_; }
  std::optional<std::string> release_prompt() { return std::exchange(prompt_, std::nullopt); }  // that was chosen
  std::vector<std::string> recent;  // texts of commands, the last one first; the window remembers them

 private:
  void find(const ChatState& state);
  void draw_rows(Frame& f, Rect rect);
  bool draw_row(Ui& ui, Rect rect, size_t index) const;  // whether it was clicked
  void choose(Frame& f, const PaletteRow& row);

  bool is_open_ = false, appearing_ = false, shows_chosen_ = false;
  TextField field_;
  std::vector<PaletteRow> rows_;
  size_t chosen_ = 0;
  struct Found {  // what rows_ are of
    std::string text;
    size_t n_models, n_endpoints, n_conversations;
    std::vector<std::string> prompts;  // names
    ConversationId conversation;
    bool operator==(const Found&) const = default;
  };
  std::optional<Found> found_;
  std::optional<std::string> prompt_;  // a name
};

}  // namespace warpchat::gui
