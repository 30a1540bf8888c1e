// The window's own file dialog, for desktops without one: a field for the path, and the entries of its folder.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/gui/panels/folder_view.h"
#include "app/gui/widgets/text_field.h"

namespace warpchat::gui {

struct FileFilter {
  std::string_view name;
  std::vector<std::string_view> extensions;  // with their dot; none: every file
};

struct FileQuestion {
  std::string_view title, button, hint;
  std::vector<FileFilter> filters;  // the first one is on; of a file that is written, its formats
  bool saves = false;               // a file is to be written
  bool several = false;             // files may be chosen
  std::string folder = {};          // to begin in, with "/" at its end
  std::string name = {};            // of a file that is written, as suggested
};

struct FileAnswer {
  std::vector<std::string> paths;
  size_t filter = 0;      // of the question's, that was on in the end
  bool replaces = false;  // the user was asked
};

bool has_extension(std::string_view name, const FileFilter& filter);  // or the filter has none

class FileBrowser {
 public:
  explicit FileBrowser(std::function<void()> wake) : reader_(std::move(wake)) {}
  void open(FileQuestion question, std::vector<std::string> recent, Ui& ui);  // recent: folders
  bool is_open() const { return is_open_; }
  bool close() { return std::exchange(is_open_, false); }
  bool take_news();  // whether a folder has been read
  std::optional<FileAnswer> draw(Ui& ui);

 private:
  enum class Wish { kNone, kGo, kComplete };  // once the folder is read
  bool is_read() const { return view_.typed == path_.text() && view_.base == base_; }
  const std::string& folder() const { return is_read() ? view_.folder : base_; }
  void set_text(std::string text);
  void look();
  void enter(const std::string& folder);
  void list();  // what is shown of the folder
  void choose_format(size_t format);
  void take_keys(Ui& ui);
  void draw_field(Ui& ui, Rect row);
  void draw_places(Ui& ui, Rect column);
  void draw_entries(Ui& ui, Rect rect);
  void draw_entry(Ui& ui, Rect row, size_t index);
  void draw_bottom(Ui& ui, Rect row);
  void activate(size_t index, bool goes);
  void fulfil_wish();
  void save(const std::string& path);
  bool is_ticked(const std::string& path) const;

  FileQuestion question_;
  std::vector<std::string> places_;
  size_t n_usual_places_ = 0;
  bool is_open_ = false, appearing_ = false;
  TextField path_;
  FolderReader reader_;
  FolderView view_;                  // of what is typed, or was before
  std::string base_, completion_;    // completion_: what Tab makes of the view
  std::vector<size_t> shown_;        // of the view's entries
  std::optional<size_t> selected_;   // of those, by the keyboard
  std::string clicked_;              // path of the entry, last
  bool selection_moved_ = false;     // and is to be scrolled to
  bool narrows_ = false;             // what is typed chooses among the names
  size_t format_ = 0;                // of the question's filters
  std::vector<std::string> ticked_;  // paths
  Wish wish_ = Wish::kNone;
  bool asks_to_replace_ = false;
  std::string message_;
  std::optional<FileAnswer> answer_;
};

}  // namespace warpchat::gui
