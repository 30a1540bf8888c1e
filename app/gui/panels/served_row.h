// A model's row beneath its server in the models' panel: its context and capabilities, and whether it is the server's
// default; a button or its menu makes it that.
#pragma once
#include <string>

#include "app/gui/panels/model_rows.h"
#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/ui.h"

namespace warpchat::gui {

class ServedRow {
 public:
  bool draw(Frame& f, Rect rect, const ModelRow& row);  // whether it was chosen

 private:
  std::string menu_of_;  // widget
};

// The stored endpoint whose models are listed; null: it is not stored.
const ModelChoice* stored_server(const ChatState& state);

}  // namespace warpchat::gui
