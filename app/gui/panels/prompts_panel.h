// The library of prompts: a list, the form of one with placeholders, and an editor. What is filled in goes to the
// composer.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "app/gui/panels/prompt_editor.h"
#include "app/gui/panels/prompt_form.h"

namespace warpchat::gui {

class PromptsPanel {
 public:
  // message: what is being written, which can be saved as a prompt.
  void toggle(Frame& f, const std::string& message);
  void save_message(Frame& f, const std::string& message);
  void use(Frame& f, const std::string& name);  // of the state's prompts
  bool is_open() const { return page_ != Page::kClosed; }
  bool close(Ui& ui);  // a form leads back to the list it came from; whether it was open
  void draw(Frame& f);
  std::optional<std::string> release_text() { return std::exchange(text_, std::nullopt); }  // for the composer

 private:
  enum class Page { kClosed, kList, kForm, kEditor };
  void open(Frame& f, Page page);
  void leave(Ui& ui);
  void show_list(Ui& ui);
  void draw_list(Frame& f, Rect rect);
  void draw_tools(Frame& f, Rect rect);
  void draw_empty(Frame& f, Rect rect) const;
  void draw_row(Frame& f, Rect rect, const LibraryPrompt& prompt, bool is_chosen);
  void open_menu(Frame& f, const LibraryPrompt& prompt, ImVec2 at);
  void take_menu_choice(Frame& f);
  void edit(Frame& f, const LibraryPrompt& prompt);
  std::vector<const LibraryPrompt*> found(const ChatState& state) const;

  Page page_ = Page::kClosed;
  bool appearing_ = false, from_list_ = false, shows_chosen_ = false;
  TextField filter_;
  size_t chosen_ = 0;              // of the rows that are shown, by arrows
  std::string message_;            // as the panel was opened
  std::string menu_of_, removes_;  // names; empty: none
  PromptForm form_;
  PromptEditor editor_;
  std::string title_;  // of the form
  std::optional<std::string> text_;
};

}  // namespace warpchat::gui
