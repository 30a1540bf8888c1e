// The desktop's own file dialog: org.freedesktop.portal.FileChooser on the session bus, which GNOME, KDE and sandboxes
// answer alike.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/gui/panels/file_browser.h"

namespace warpchat::gui {

struct PortalReply {
  FileAnswer answer = {};  // no paths: the user has closed the dialog
  std::string fault = {};  // why there was no dialog, or it ended without an answer; empty: none
};

class FilePortal {
 public:
  explicit FilePortal(std::function<void()> wake) : wake_(std::move(wake)) {}  // called from another thread
  ~FilePortal() { close(); }
  FilePortal(const FilePortal&) = delete;
  FilePortal& operator=(const FilePortal&) = delete;

  static bool may_be_there();  // there is a session bus

  // Opens a dialog, in place of one that is still open. parent: of which window it is, as the portal names it
  // ("x11:3a00007"); may be empty. Returns at once, and nothing ever waits for the bus.
  void ask(const FileQuestion& question, const std::string& parent);
  bool is_open() const { return request_ != nullptr; }
  std::optional<PortalReply> poll();
  void close();

 private:
  struct Request;
  std::function<void()> wake_;
  std::shared_ptr<Request> request_;
};

}  // namespace warpchat::gui
