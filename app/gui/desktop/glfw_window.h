// The window on the screen: GLFW, an OpenGL 3 context and ImGui's platform side. One a process.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/gui/desktop/input_method.h"
#include "app/gui/desktop/x11_selection.h"
#include "app/gui/widgets/input.h"
#include "app/gui/widgets/rect.h"

struct GLFWmonitor;
struct GLFWwindow;

namespace warpchat::gui {

struct WindowPlace {
  int x = 0, y = 0;  // of its content's corner on the screen
  int width = 1180, height = 800;
  bool placed = false;  // x and y count
  bool operator==(const WindowPlace&) const = default;
};

// Which of the monitors shows most of the window; 0 if none shows anything of it. All in coordinates of the desktop.
size_t monitor_of(const Rect& window, const std::vector<Rect>& monitors);

class GlfwWindow {
 public:
  // Error with the reason and the next step if there is no display or no OpenGL 3.
  GlfwWindow(const WindowPlace& place, const std::string& title);
  ~GlfwWindow();
  GlfwWindow(const GlfwWindow&) = delete;
  GlfwWindow& operator=(const GlfwWindow&) = delete;

  void wait();                        // for events, however long
  void wait_seconds(double seconds);  // at most
  void poll();
  static void wake();   // ends a wait, from any thread
  static double now();  // seconds

  // What the callbacks have noted.
  InputQueue input;
  std::vector<std::string> dropped_paths;
  bool moved = false;   // perhaps to another monitor
  bool damaged = true;  // drawn over, resized, shown again: the picture is to be drawn anew

  bool asked_to_close() const;
  bool hidden() const;  // minimised
  bool focused() const;
  float content_scale() const;
  double refresh_seconds() const;  // of the monitor that it is on
  WindowPlace place() const;       // of the window when it is not full screen
  bool full_screen() const { return full_screen_; }
  void toggle_full_screen();
  void hide();
  void set_title(const std::string& title);

  // nullopt: the program that has the text does not answer.
  std::optional<std::string> clipboard() const;
  void set_clipboard(const std::string& text);
  // The primary selection of an X11 desktop, for pasting with the middle button. Empty elsewhere.
  std::optional<std::string> primary_selection() const;
  void set_primary_selection(const std::string& text);
  std::string portal_name() const;  // as desktop portals name a dialog's parent: "x11:3a00007"; elsewhere empty

  bool has_input_method() const { return input_method_ && input_method_->works(); }  // which keys and text come from
  const std::string& composition() const { return composition_; }                    // the text being composed
  void set_caret(float x, float y);  // pixels: where the input method shows its candidates

  // Around a frame of ImGui's: sizes, time and these events; then the picture onto the screen.
  void begin_imgui(const std::vector<InputEvent>& events);
  void show(uint32_t background);

 private:
  GLFWwindow* window_ = nullptr;
  void* cursors_[9] = {};
  WindowPlace windowed_;
  bool full_screen_ = false;
  double last_frame_ = 0;
  std::string title_;
  std::unordered_map<int, int> key_of_scancode_;
  std::unique_ptr<X11Selection> others_;               // text of other programs; null: not on X11
  unsigned long own_clipboard_ = 0, own_primary_ = 0;  // windows of GLFW's that have what was set here; 0: none yet
  std::unique_ptr<InputMethod> input_method_;          // null: not on X11, GLFW's callbacks tell keys and text
  std::string composition_;
  unsigned long x11_window() const;  // 0: not on X11
  void open_input_method();
  void read_input_method();
  void install_callbacks();
  void set_icon();
  void set_up_imgui();
  void show_cursor();
  GLFWmonitor* monitor() const;  // that it is on; null: there is none
};

}  // namespace warpchat::gui
