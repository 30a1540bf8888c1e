// The tools that answers may call: servers with their state and log, tools with description and permission, folders
// that are open to the program's own.
#pragma once
#include <string>
#include <string_view>
#include <utility>

#include "app/gui/panels/shortcuts.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

class ToolsPanel {
 public:
  void toggle(Frame& f);
  bool is_open() const { return is_open_; }
  bool close(Frame& f);  // what is in front: a tool or log, the panel; whether there was anything
  void draw(Frame& f);

 private:
  void leave(Frame& f);
  void draw_list(Frame& f, Rect rect);
  void draw_server(Frame& f, Rect rect, const ToolServerLine& server);
  void draw_tool(Frame& f, Rect rect, const OfferedTool& tool);
  void draw_permission(Frame& f, Rect rect, const OfferedTool& tool);
  void draw_end(Frame& f, Rect rect);
  void draw_detail(Frame& f, Rect rect);
  void draw_import(Frame& f, Rect rect, const ServerImport& import);
  static void draw_texts(Ui& ui, Rect rect, std::string_view text, std::string_view code);
  void show(Frame& f, std::string name, bool is_server);
  // A row that can be clicked, with a line and a smaller one below it.
  bool draw_row(Ui& ui, Rect rect, const std::string& name, std::string_view text, std::string_view about,
                Colour colour);

  bool is_open_ = false, appearing_ = false;
  bool is_refused_ = false;  // the servers of a file are, which the state still has
  std::string shown_;        // a tool, or a server whose log is shown; empty: the list
  bool shows_server_ = false;
  TextField folder_;
};

}  // namespace warpchat::gui
