// Text of a selection that another X11 program has: the clipboard, or the primary selection. GLFW would wait for its
// owner without end, although that may be stopped or busy.
#pragma once
#include <memory>
#include <optional>
#include <string>

namespace warpchat::gui {

class X11Selection {
 public:
  static std::unique_ptr<X11Selection> open();  // on a connection of its own; null: there is no X server
  ~X11Selection();
  X11Selection(const X11Selection&) = delete;

  enum class Which { kClipboard, kPrimary };
  unsigned long owner(Which which) const;  // its window; 0: none

  // Empty: there is none, or no text. nullopt: its owner has not answered for half a second.
  std::optional<std::string> read(Which which) const;

 private:
  class Connection;
  explicit X11Selection(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connection_;
};

}  // namespace warpchat::gui
