// Asks for a file: one field, Enter does it.
#pragma once
#include "app/gui/window/shortcuts.h"
#include "app/gui/window/text_field.h"

namespace warpchat::gui {

class PathPrompt {
 public:
  enum class Purpose { kExport, kImport, kAttach };
  void ask(Purpose purpose, std::string path, Ui& ui);
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  void draw(Frame& f);

 private:
  bool is_open_ = false, appearing_ = false;
  Purpose purpose_ = Purpose::kExport;
  TextField path_;
};

// "~/Title of it.md": where a conversation is exported to unless the user says otherwise.
std::string export_path_for(std::string_view title, const std::string& home);
std::string with_home(std::string path, const std::string& home);  // "~/x" with the home directory

}  // namespace warpchat::gui
