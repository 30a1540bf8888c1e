// The one way to a file: the desktop's dialog where it has one, else the window's own browser.
#pragma once
#include <string>
#include <vector>

#include "app/gui/panels/file_browser.h"
#include "app/gui/panels/file_portal.h"
#include "app/gui/panels/shortcuts.h"

namespace warpchat::gui {

class FileDialog {
 public:
  enum class Purpose { kModel, kImport, kExport, kAttach, kImportAssistants, kExportAssistant, kImportTools };

  // wake: makes the window draw, from any thread. recent: folders, the last one first. verbose: why the desktop's
  // dialog is not used is told on standard error, too.
  FileDialog(std::function<void()> wake, std::vector<std::string> recent, bool verbose)
      : browser_(wake), portal_(wake), recent_(std::move(recent)), verbose_(verbose) {}

  // open: the conversation that is exported. window: as FilePortal::ask has it.
  void ask(Purpose purpose, const OpenConversation& open, const std::string& window, Ui& ui);
  // title: of the only one, which may also become Markdown.
  void ask_to_export(std::vector<ConversationId> ids, const std::string& title, const std::string& window, Ui& ui);
  void ask_to_export_assistant(const std::string& name, const std::string& window, Ui& ui);
  bool browses() const { return browser_.is_open(); }  // a card of the window is open
  bool asks_desktop() const { return portal_.is_open(); }
  bool close() { return browser_.close(); }
  bool take_news(Ui& ui);  // whether there is something new to draw
  void draw(Frame& f);     // and what was chosen becomes an action
  const std::vector<std::string>& recent_folders() const { return recent_; }

 private:
  void ask(const std::string& window, Ui& ui);
  void browse(Ui& ui);
  void apply(Frame& f, FileAnswer answer);
  void remember_folder_of(const std::string& path);

  FileBrowser browser_;
  FilePortal portal_;
  std::vector<std::string> recent_;
  bool verbose_, uses_portal_ = true;
  Purpose purpose_ = Purpose::kExport;
  FileQuestion question_;
  ConversationId conversation_ = 0;            // that was open when it was asked
  std::vector<ConversationId> exported_ = {};  // empty: the open one
  std::string assistant_;                      // that is exported
  FileAnswer answer_;                          // the desktop's, until the next frame
};

constexpr size_t kMaxRecentFolders = 6;

// "Title of it.md": the name of the file that a conversation, or something else with a title, is exported to unless the
// user says otherwise.
std::string export_name_for(std::string_view title, std::string_view extension = ".md");

}  // namespace warpchat::gui
