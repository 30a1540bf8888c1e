// The assistants: chooses one for the open conversation; new, from this chat, edit, duplicate, export, remove (which
// asks), import.
#pragma once
#include <string>
#include <utility>

#include "app/gui/panels/assistant_editor.h"
#include "app/gui/panels/shortcuts.h"

namespace warpchat::gui {

class AssistantsPanel {
 public:
  void toggle(Frame& f);  // opens it, or closes all of it
  bool is_open() const { return is_open_; }
  bool close(Frame& f);  // what is in front: a question, the editor, the panel; whether there was anything
  void draw(Frame& f);
  std::string take_export() { return std::exchange(exports_, ""); }  // that is to be exported; empty: none

 private:
  void draw_list(Frame& f, Rect rect);
  void draw_none(Frame& f, Rect rect);
  void draw_row(Frame& f, Rect rect, const AssistantChoice& assistant);
  bool draw_tools(Frame& f, Rect& rect, const AssistantChoice& assistant);
  void draw_removal(Frame& f, Rect rect, const AssistantChoice& assistant);
  void draw_end(Frame& f, Rect rect);
  void choose(Frame& f, const std::string& name);

  bool is_open_ = false, appearing_ = false;
  std::string removes_, exports_;  // names; empty: none
  AssistantEditor editor_;
};

// "reviewer copy", or with a number behind it: a name that no other has.
std::string name_of_copy(const AssistantList& list, const std::string& name);

}  // namespace warpchat::gui
