// GLFW's callbacks only note what happened; frames are drawn by the loop.
#include "app/gui/desktop/glfw_window.h"

#include <GLFW/glfw3.h>
#include <dlfcn.h>
#include <imgui/backends/imgui_impl_opengl3.h>
#include <imgui/imgui.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "app/gui/desktop/app_icon.h"
#include "app/gui/desktop/imgui_keys.h"
#include "app/platform/program_name.h"
#include "models/error.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

constexpr int kMinWidth = 480, kMinHeight = 360;
constexpr int kSmallIcon = 24, kLargeIcon = 64;  // pixels

std::string last_glfw_error() {
  const char* text = nullptr;
  const int code = glfwGetError(&text);
  if (code == GLFW_NO_ERROR || !text) return "GLFW reports no reason";
  std::string sentence = text;
  if (const size_t colon = sentence.find(": "); colon != std::string::npos && colon < 6) sentence.erase(0, colon + 2);
  if (sentence.size() > 1 && std::islower(static_cast<unsigned char>(sentence[1])))
    sentence[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(sentence[0])));
  while (sentence.ends_with('.') || sentence.ends_with('\n')) sentence.pop_back();
  return sentence;
}

[[noreturn]] void fail(const std::string& reason) {
  throw Error("cannot open a window: " + reason + "; run " + program_name() + " without --gui for the terminal");
}

// Shortcuts are letters, not places on the keyboard: Ctrl+Z is where Z is.
int key_of_layout(int key, int scancode) {
  const char* name = glfwGetKeyName(key, scancode);
  if (!name || !name[0] || name[1]) return key;
  const int letter = std::toupper(static_cast<unsigned char>(name[0]));
  return letter >= 'A' && letter <= 'Z' ? letter : key;
}

// GLFW's windows and pointers have units of their own: pixels on X11, points on Wayland. Everything else has pixels.
float pixels_a_unit(GLFWwindow* window) {
  int width = 0, pixels = 0;
  glfwGetWindowSize(window, &width, nullptr);
  glfwGetFramebufferSize(window, &pixels, nullptr);
  return width > 0 && pixels > 0 ? static_cast<float>(pixels) / static_cast<float>(width) : 1;
}

GlfwWindow& of(GLFWwindow* window) { return *static_cast<GlfwWindow*>(glfwGetWindowUserPointer(window)); }

// Looks up GLFW's native functions at run time, because a GLFW built for Wayland lacks them.
template <class Function>
Function* x11_function(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0';
}

// GLFW 3.4 prefers Wayland, where it has no input methods; in a Wayland session there usually is an X server, too.
// Without either variable X11 gives the better reason.
void start_glfw() {
  const NoInputMethodOfGlfw ours_alone;
#ifdef GLFW_PLATFORM_X11
  if (is_set("DISPLAY") || !is_set("WAYLAND_DISPLAY")) glfwInitHint(GLFW_PLATFORM, GLFW_PLATFORM_X11);
  if (glfwInit()) return;
  if (!is_set("WAYLAND_DISPLAY")) fail(last_glfw_error());
  glfwInitHint(GLFW_PLATFORM, GLFW_ANY_PLATFORM);
#endif
  if (glfwInit()) return;
  const bool lacks_x11 = is_set("WAYLAND_DISPLAY") && !is_set("DISPLAY");
  fail(lacks_x11 ? "this Wayland session has no X server; install the package xwayland" : last_glfw_error());
}

void on_key(GLFWwindow* window, int key, int scancode, int action, int mods) {
  if (key == GLFW_KEY_UNKNOWN || of(window).has_input_method()) return;
  const int named = key_of_layout(key, scancode);
  constexpr int kHeld = GLFW_MOD_SHIFT | GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER;
  if (action == GLFW_RELEASE)
    of(window).input.push(KeyRelease{named});
  else
    of(window).input.push(KeyPress{named, mods & kHeld});
}

}  // namespace

GlfwWindow::GlfwWindow(const WindowPlace& place, const std::string& title) : windowed_(place), title_(title) {
  start_glfw();
  glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
  glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, 0);
  glfwWindowHint(GLFW_SCALE_TO_MONITOR, place.placed ? GLFW_FALSE : GLFW_TRUE);
  glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
  glfwWindowHintString(GLFW_X11_CLASS_NAME, "warpchat");
  glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "warpchat");
  window_ = glfwCreateWindow(std::max(place.width, kMinWidth), std::max(place.height, kMinHeight), title.c_str(),
                             nullptr, nullptr);
  if (!window_) {
    const std::string reason = last_glfw_error();
    glfwTerminate();
    fail("it needs OpenGL 3 (" + reason + ")");
  }
  glfwSetWindowSizeLimits(window_, kMinWidth, kMinHeight, GLFW_DONT_CARE, GLFW_DONT_CARE);
  if (place.placed) glfwSetWindowPos(window_, place.x, place.y);
  glfwMakeContextCurrent(window_);
  glfwSwapInterval(1);
  install_callbacks();
  set_icon();
  if (x11_window() != 0) others_ = X11Selection::open();
  open_input_method();
  set_up_imgui();
  glfwShowWindow(window_);
}

GlfwWindow::~GlfwWindow() {
  input_method_.reset();
  others_.reset();
  ImGui_ImplOpenGL3_Shutdown();
  ImGui::DestroyContext();
  for (void* cursor : cursors_)
    if (cursor) glfwDestroyCursor(static_cast<GLFWcursor*>(cursor));
  glfwDestroyWindow(window_);
  glfwTerminate();
}

void GlfwWindow::set_icon() {
  std::vector<uint8_t> small = app_icon(kSmallIcon), large = app_icon(kLargeIcon);
  const GLFWimage images[] = {{kSmallIcon, kSmallIcon, small.data()}, {kLargeIcon, kLargeIcon, large.data()}};
  glfwSetWindowIcon(window_, std::size(images), images);
}

void GlfwWindow::install_callbacks() {
  glfwSetWindowUserPointer(window_, this);
  glfwSetKeyCallback(window_, on_key);
  glfwSetCharCallback(window_, [](GLFWwindow* w, unsigned c) {
    if (of(w).has_input_method()) return;
    TypedText typed;
    append_utf8(c, typed.utf8);
    of(w).input.push(std::move(typed));
  });
  glfwSetMouseButtonCallback(window_, [](GLFWwindow* w, int button, int action, int) {
    of(w).input.push(MouseButton{button, action == GLFW_PRESS});
  });
  glfwSetCursorPosCallback(window_, [](GLFWwindow* w, double x, double y) {
    const float scale = pixels_a_unit(w);
    of(w).input.push(MouseMove{static_cast<float>(x) * scale, static_cast<float>(y) * scale});
  });
  glfwSetCursorEnterCallback(window_, [](GLFWwindow* w, int entered) {
    if (!entered) of(w).input.push(MouseLeft{});
  });
  glfwSetScrollCallback(window_, [](GLFWwindow* w, double x, double y) {
    of(w).input.push(MouseWheel{static_cast<float>(x), static_cast<float>(y)});
  });
  glfwSetWindowFocusCallback(window_, [](GLFWwindow* w, int focused) { of(w).input.push(FocusChange{focused != 0}); });
  glfwSetDropCallback(window_, [](GLFWwindow* w, int n, const char** paths) {
    of(w).dropped_paths.insert(of(w).dropped_paths.end(), paths, paths + n);
  });
  glfwSetWindowPosCallback(window_, [](GLFWwindow* w, int, int) { of(w).moved = true; });
  glfwSetWindowRefreshCallback(window_, [](GLFWwindow* w) { of(w).damaged = true; });
  glfwSetFramebufferSizeCallback(window_, [](GLFWwindow* w, int, int) { of(w).damaged = true; });
  glfwSetWindowContentScaleCallback(window_, [](GLFWwindow* w, float, float) { of(w).damaged = true; });
  glfwSetWindowIconifyCallback(window_, [](GLFWwindow* w, int) { of(w).damaged = true; });
}

void GlfwWindow::set_up_imgui() {
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.LogFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
  io.ConfigInputTextCursorBlink = false;
  set_up_imgui_keys(io);
  io.ClipboardUserData = window_;
  io.GetClipboardTextFn = [](void* window) {
    static std::string text;
    text = of(static_cast<GLFWwindow*>(window)).clipboard().value_or("");
    return text.c_str();
  };
  io.SetClipboardTextFn = [](void* window, const char* text) {
    of(static_cast<GLFWwindow*>(window)).set_clipboard(text);
  };
  if (!ImGui_ImplOpenGL3_Init("#version 130")) fail("the OpenGL driver reports no version");
  constexpr std::pair<int, int> kShapes[] = {{ImGuiMouseCursor_Arrow, GLFW_ARROW_CURSOR},
                                             {ImGuiMouseCursor_TextInput, GLFW_IBEAM_CURSOR},
                                             {ImGuiMouseCursor_ResizeEW, GLFW_HRESIZE_CURSOR},
                                             {ImGuiMouseCursor_ResizeNS, GLFW_VRESIZE_CURSOR},
                                             {ImGuiMouseCursor_Hand, GLFW_HAND_CURSOR}};
  for (const auto& [imgui, glfw] : kShapes) cursors_[imgui] = glfwCreateStandardCursor(glfw);
}

void GlfwWindow::wait() { glfwWaitEvents(), read_input_method(); }
void GlfwWindow::wait_seconds(double seconds) { glfwWaitEventsTimeout(std::max(seconds, 1e-4)), read_input_method(); }
void GlfwWindow::poll() { glfwPollEvents(), read_input_method(); }
void GlfwWindow::wake() { glfwPostEmptyEvent(); }
double GlfwWindow::now() { return glfwGetTime(); }

bool GlfwWindow::asked_to_close() const { return glfwWindowShouldClose(window_) != 0; }
bool GlfwWindow::hidden() const { return glfwGetWindowAttrib(window_, GLFW_ICONIFIED) != 0; }
bool GlfwWindow::focused() const { return glfwGetWindowAttrib(window_, GLFW_FOCUSED) != 0; }

float GlfwWindow::content_scale() const {
  float x = 1, y = 1;
  glfwGetWindowContentScale(window_, &x, &y);
  return std::clamp(std::max(x, y), 0.5f, 8.0f);
}

size_t monitor_of(const Rect& window, const std::vector<Rect>& monitors) {
  size_t best = 0;
  float max = 0;
  for (size_t i = 0; i < monitors.size(); ++i) {
    const float width = std::min(window.right(), monitors[i].right()) - std::max(window.x, monitors[i].x);
    const float height = std::min(window.bottom(), monitors[i].bottom()) - std::max(window.y, monitors[i].y);
    const float shown = std::max(width, 0.0f) * std::max(height, 0.0f);
    if (shown > max) best = i, max = shown;
  }
  return best;
}

GLFWmonitor* GlfwWindow::monitor() const {
  int n = 0;
  GLFWmonitor** monitors = glfwGetMonitors(&n);
  if (n < 2) return n == 1 ? monitors[0] : nullptr;
  std::vector<Rect> places;
  for (int i = 0; i < n; ++i) {
    int x = 0, y = 0;
    glfwGetMonitorPos(monitors[i], &x, &y);
    const GLFWvidmode* mode = glfwGetVideoMode(monitors[i]);
    places.push_back({static_cast<float>(x), static_cast<float>(y), mode ? static_cast<float>(mode->width) : 0,
                      mode ? static_cast<float>(mode->height) : 0});
  }
  int x = 0, y = 0, width = 0, height = 0;
  glfwGetWindowPos(window_, &x, &y);
  glfwGetWindowSize(window_, &width, &height);
  return monitors[monitor_of(
      {static_cast<float>(x), static_cast<float>(y), static_cast<float>(width), static_cast<float>(height)}, places)];
}

double GlfwWindow::refresh_seconds() const {
  GLFWmonitor* shown_on = monitor();
  const GLFWvidmode* mode = shown_on ? glfwGetVideoMode(shown_on) : nullptr;
  return 1.0 / (mode && mode->refreshRate >= 24 ? mode->refreshRate : 60);
}

WindowPlace GlfwWindow::place() const {
  WindowPlace place = windowed_;
  if (full_screen_ || hidden()) return place;
  glfwGetWindowPos(window_, &place.x, &place.y);
  glfwGetWindowSize(window_, &place.width, &place.height);
  place.placed = true;
  return place;
}

void GlfwWindow::toggle_full_screen() {
  GLFWmonitor* shown_on = monitor();
  const GLFWvidmode* mode = shown_on ? glfwGetVideoMode(shown_on) : nullptr;
  if (!mode) return;
  if (full_screen_) {
    glfwSetWindowMonitor(window_, nullptr, windowed_.x, windowed_.y, windowed_.width, windowed_.height, 0);
  } else {
    windowed_ = place();
    glfwSetWindowMonitor(window_, shown_on, 0, 0, mode->width, mode->height, mode->refreshRate);
  }
  full_screen_ = !full_screen_;
  glfwSwapInterval(1);
  damaged = true;
}

void GlfwWindow::hide() { glfwHideWindow(window_); }

void GlfwWindow::set_title(const std::string& title) {
  if (title == title_) return;
  title_ = title;
  glfwSetWindowTitle(window_, title.c_str());
}

// GLFW waits without end for another program, so it is asked for its own text alone.
std::optional<std::string> GlfwWindow::clipboard() const {
  constexpr auto kClipboard = X11Selection::Which::kClipboard;
  if (others_ && (own_clipboard_ == 0 || others_->owner(kClipboard) != own_clipboard_))
    return others_->read(kClipboard);
  const char* text = glfwGetClipboardString(window_);
  return text ? text : "";
}

void GlfwWindow::set_clipboard(const std::string& text) {
  glfwSetClipboardString(window_, text.c_str());
  if (others_) own_clipboard_ = others_->owner(X11Selection::Which::kClipboard);
}

std::optional<std::string> GlfwWindow::primary_selection() const {
  constexpr auto kPrimary = X11Selection::Which::kPrimary;
  if (others_ && (own_primary_ == 0 || others_->owner(kPrimary) != own_primary_)) return others_->read(kPrimary);
  static auto* const get = x11_function<const char*()>("glfwGetX11SelectionString");
  const char* text = get ? get() : nullptr;
  return text ? text : "";
}

void GlfwWindow::set_primary_selection(const std::string& text) {
  static auto* const set = x11_function<void(const char*)>("glfwSetX11SelectionString");
  if (!set) return;
  set(text.c_str());
  if (others_) own_primary_ = others_->owner(X11Selection::Which::kPrimary);
}

unsigned long GlfwWindow::x11_window() const {
  static auto* const get = x11_function<unsigned long(GLFWwindow*)>("glfwGetX11Window");
  return get ? get(window_) : 0;
}

std::string GlfwWindow::portal_name() const {
  char name[32] = "";
  if (x11_window() != 0) std::snprintf(name, sizeof name, "x11:%lx", x11_window());
  return name;
}

void GlfwWindow::open_input_method() {
  if (x11_window() == 0) return;
  for (int key = GLFW_KEY_SPACE; key <= GLFW_KEY_LAST; ++key)
    if (const int scancode = glfwGetKeyScancode(key); scancode > 0) key_of_scancode_.try_emplace(scancode, key);
  glfwGetError(nullptr);  // not all numbers are keys
  input_method_ = InputMethod::open(x11_window(), wake);
}

void GlfwWindow::read_input_method() {
  if (!input_method_) return;
  for (XInput& event : input_method_->pop_all()) {
    if (std::string* text = std::get_if<std::string>(&event)) {
      input.push(TypedText{std::move(*text)});
      continue;
    }
    const XKey& pressed = std::get<XKey>(event);
    const auto key = key_of_scancode_.find(pressed.keycode);
    if (key == key_of_scancode_.end()) continue;
    const int named = key_of_layout(key->second, pressed.keycode);
    pressed.pressed ? input.push(KeyPress{named, pressed.mods}) : input.push(KeyRelease{named});
  }
  std::string composed = input_method_->composition();
  if (composed == composition_) return;
  composition_ = std::move(composed);
  damaged = true;
}

void GlfwWindow::set_caret(float x, float y) {
  if (!input_method_) return;
  const float scale = pixels_a_unit(window_);
  input_method_->set_caret(static_cast<int>(x / scale), static_cast<int>(y / scale));
}

namespace {

struct Modifier {
  int bit, left, right;  // the last two are keys
};
constexpr Modifier kModifiers[] = {{GLFW_MOD_CONTROL, GLFW_KEY_LEFT_CONTROL, GLFW_KEY_RIGHT_CONTROL},
                                   {GLFW_MOD_SHIFT, GLFW_KEY_LEFT_SHIFT, GLFW_KEY_RIGHT_SHIFT},
                                   {GLFW_MOD_ALT, GLFW_KEY_LEFT_ALT, GLFW_KEY_RIGHT_ALT}};

struct GiveToImGui {
  ImGuiIO& io;
  void operator()(const KeyPress& press) const {
    tell_imgui_key(io, press.key, true);
    for (const Modifier& modifier : kModifiers)
      tell_imgui_modifier(io, modifier.bit, (press.mods & modifier.bit) != 0 || press.key == modifier.left);
  }
  void operator()(const KeyRelease& release) const {
    tell_imgui_key(io, release.key, false);
    for (const Modifier& modifier : kModifiers)
      if (release.key == modifier.left || release.key == modifier.right) tell_imgui_modifier(io, modifier.bit, false);
  }
  void operator()(const TypedText& typed) const { io.AddInputCharactersUTF8(typed.utf8.c_str()); }
  void operator()(const MouseMove& move) const { io.MousePos = ImVec2(move.x, move.y); }
  void operator()(const MouseButton& button) const {
    if (button.button >= 0 && button.button < 5) io.MouseDown[button.button] = button.down;
  }
  void operator()(const MouseWheel& wheel) const { io.MouseWheel += wheel.y, io.MouseWheelH += wheel.x; }
  void operator()(const MouseLeft&) const { io.MousePos = ImVec2(-1e9f, -1e9f); }
  void operator()(const FocusChange& change) const {
    if (!change.focused) release_imgui_keys(io);
  }
};

}  // namespace

void GlfwWindow::begin_imgui(const std::vector<InputEvent>& events) {
  ImGuiIO& io = ImGui::GetIO();
  int width, height;
  glfwGetFramebufferSize(window_, &width, &height);
  io.DisplaySize = ImVec2(static_cast<float>(width), static_cast<float>(height));
  const double time = now();
  io.DeltaTime = static_cast<float>(std::max(time - last_frame_, 1e-4));
  last_frame_ = time;
  for (const InputEvent& event : events) std::visit(GiveToImGui{io}, event);
  ImGui_ImplOpenGL3_NewFrame();
  ImGui::NewFrame();
}

void GlfwWindow::show_cursor() {
  void* cursor = cursors_[std::clamp(ImGui::GetMouseCursor(), 0, 8)];
  glfwSetCursor(window_, static_cast<GLFWcursor*>(cursor ? cursor : cursors_[ImGuiMouseCursor_Arrow]));
}

void GlfwWindow::show(uint32_t background) {
  ImGui::Render();
  int width, height;
  glfwGetFramebufferSize(window_, &width, &height);
  const ImVec4 colour = ImGui::ColorConvertU32ToFloat4(background);
  glViewport(0, 0, width, height);
  glClearColor(colour.x, colour.y, colour.z, 1);
  glClear(GL_COLOR_BUFFER_BIT);
  ImGui_ImplOpenGL3_RenderDrawData(ImGui::GetDrawData());
  show_cursor();
  glfwSwapBuffers(window_);
}

}  // namespace warpchat::gui
