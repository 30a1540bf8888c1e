#include "app/gui/desktop/input_method.h"

#include <GLFW/glfw3.h>
#include <X11/XKBlib.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <cwchar>
#include <string_view>
#include <thread>
#include <utility>

#include "models/threads.h"
#include "models/utf8.h"

namespace warpchat::gui {

namespace {

constexpr char kVariable[] = "XMODIFIERS";

int mods_of(unsigned state) {
  return ((state & ShiftMask) != 0 ? GLFW_MOD_SHIFT : 0) | ((state & ControlMask) != 0 ? GLFW_MOD_CONTROL : 0) |
         ((state & Mod1Mask) != 0 ? GLFW_MOD_ALT : 0) | ((state & Mod4Mask) != 0 ? GLFW_MOD_SUPER : 0);
}

// Enter, Escape and Ctrl with a letter also have a character, which is no text.
std::string without_control_characters(std::string_view text) {
  std::string kept;
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F) kept += c;
  return kept;
}

std::u32string characters_of(const XIMText& text) {
  std::u32string out;
  if (text.encoding_is_wchar) {
    for (int i = 0; i < text.length; ++i) out += static_cast<char32_t>(text.string.wide_char[i]);
    return out;
  }
  std::mbstate_t state{};
  const char* at = text.string.multi_byte;
  for (int i = 0; i < text.length; ++i) {
    wchar_t c = 0;
    const size_t bytes = std::mbrtowc(&c, at, MB_CUR_MAX, &state);
    if (bytes == 0 || bytes > MB_CUR_MAX) break;
    out += static_cast<char32_t>(c);
    at += bytes;
  }
  return out;
}

}  // namespace

// Everything of Xlib's happens in the thread.
class InputMethod::Connection {
 public:
  Connection(Display* display, unsigned long window, std::function<void()> wake)
      : display_(display), window_(window), wake_(std::move(wake)), wanted_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    thread_ = start_thread(
        "for the keyboard", [this] { run(); }, [this](const char*) { has_failed_ = true; });
  }
  ~Connection() {
    is_ending_ = true;
    knock();
    thread_.join();
    close(wanted_);
  }

  bool works() const { return !has_failed_; }
  std::vector<XInput> pop_all() {
    const std::lock_guard lock(mutex_);
    return std::exchange(input_, {});
  }
  std::string composition() const {
    const std::lock_guard lock(mutex_);
    std::string text;
    for (const char32_t c : composed_) append_utf8(c, text);
    return text;
  }
  void set_caret(int x, int y) {
    const std::lock_guard lock(mutex_);
    if (caret_.x == x && caret_.y == y) return;
    caret_ = {static_cast<short>(x), static_cast<short>(y)};
    has_moved_ = true;
  }

 private:
  static Connection& of(XPointer self) { return *reinterpret_cast<Connection*>(self); }

  void run() {
    XkbSetDetectableAutoRepeat(display_, True, nullptr);  // else each repetition of a held key also is a release
    XSelectInput(display_, window_, KeyPressMask | KeyReleaseMask | FocusChangeMask);
    while (!is_ending_) {
      if (method_ == nullptr) open_method();
      while (!is_ending_ && XPending(display_) > 0) {
        XEvent event;
        XNextEvent(display_, &event);
        handle(event);
      }
      pollfd sources[] = {{ConnectionNumber(display_), POLLIN, 0}, {wanted_, POLLIN, 0}};
      poll(sources, 2, -1);
      uint64_t count = 0;
      while (read(wanted_, &count, sizeof count) > 0) continue;
    }
    if (context_ != nullptr) XDestroyIC(context_);
    if (method_ != nullptr) XCloseIM(method_);
    XCloseDisplay(display_);
  }

  // The user's, else Xlib's own, which knows dead keys. Where neither can be had, keys give Latin letters.
  void open_method() {
    if (has_no_method_) return;
    for (const char* modifiers : {"", "@im=none"}) {
      if (XSetLocaleModifiers(modifiers) == nullptr) continue;
      method_ = XOpenIM(display_, nullptr, nullptr, nullptr);
      if (method_ == nullptr) continue;
      open_context();
      if (context_ != nullptr) break;
      XCloseIM(std::exchange(method_, nullptr));
    }
    has_no_method_ = method_ == nullptr;
    if (has_no_method_) return;
    XIMCallback destroyed{reinterpret_cast<XPointer>(this), [](XIM, XPointer p, XPointer) {
                            of(p).method_ = nullptr;
                            of(p).context_ = nullptr;
                            of(p).set_composed({});
                          }};
    XSetIMValues(method_, XNDestroyCallback, &destroyed, nullptr);
  }

  void open_context() {
    XIMStyles* styles = nullptr;
    if (XGetIMValues(method_, XNQueryInputStyle, &styles, nullptr) != nullptr || styles == nullptr) return;
    const auto offers = [&](XIMStyle style) {
      return std::find(styles->supported_styles, styles->supported_styles + styles->count_styles, style) !=
             styles->supported_styles + styles->count_styles;
    };
    XIMStyle style = XIMPreeditNothing | XIMStatusNothing;
    for (const XIMStyle wanted : {XIMPreeditCallbacks | XIMStatusNothing, XIMPreeditCallbacks | XIMStatusNone,
                                  XIMPreeditNothing | XIMStatusNothing, XIMPreeditNone | XIMStatusNone})
      if (offers(wanted)) {
        style = wanted;
        break;
      }
    XFree(styles);
    if ((style & XIMPreeditCallbacks) != 0) {
      const auto self = reinterpret_cast<XPointer>(this);
      XICCallback start{self, [](XIC, XPointer, XPointer) { return -1; }};  // of any length
      XIMCallback done{self, [](XIM, XPointer p, XPointer) { of(p).set_composed({}); }};
      XIMCallback draw{self, [](XIM, XPointer p, XPointer change) {
                         of(p).draw_composition(*reinterpret_cast<XIMPreeditDrawCallbackStruct*>(change));
                       }};
      XIMCallback caret{self, [](XIM, XPointer, XPointer) {}};  // it is shown at the end
      XPoint spot{0, 0};
      XVaNestedList list =
          XVaCreateNestedList(0, XNPreeditStartCallback, &start, XNPreeditDoneCallback, &done, XNPreeditDrawCallback,
                              &draw, XNPreeditCaretCallback, &caret, XNSpotLocation, &spot, nullptr);
      context_ = XCreateIC(method_, XNInputStyle, style, XNClientWindow, window_, XNFocusWindow, window_,
                           XNPreeditAttributes, list, nullptr);
      XFree(list);
    } else {
      context_ = XCreateIC(method_, XNInputStyle, style, XNClientWindow, window_, XNFocusWindow, window_, nullptr);
    }
    if (context_ == nullptr) return;
    long filtered = 0;
    XGetICValues(context_, XNFilterEvents, &filtered, nullptr);
    XSelectInput(display_, window_, KeyPressMask | KeyReleaseMask | FocusChangeMask | filtered);
    Window focused = None;
    int revert = 0;
    XGetInputFocus(display_, &focused, &revert);
    if (focused == window_) XSetICFocus(context_);
  }

  void handle(XEvent& event) {
    // Releases are told in any case: one too many does no harm.
    if (event.type == KeyRelease) push(XKey{static_cast<int>(event.xkey.keycode), mods_of(event.xkey.state), false});
    // Only now, because some input methods lose what they wanted to show if this comes while they work on a key.
    if (event.type == KeyPress && composed_.empty()) move_caret();
    if (XFilterEvent(&event, None)) return;
    if (event.type == FocusIn && context_ != nullptr) XSetICFocus(context_);
    if (event.type == FocusOut && context_ != nullptr) XUnsetICFocus(context_);
    if (event.type == KeyPress) press(event.xkey);
  }

  // A commit comes as a press of key 0.
  void press(XKeyEvent& key) {
    const int mods = mods_of(key.state);
    if (key.keycode != 0) push(XKey{static_cast<int>(key.keycode), mods, true});
    std::string text = without_control_characters(text_of(key));
    const bool is_command = key.keycode != 0 && (mods & (GLFW_MOD_CONTROL | GLFW_MOD_ALT | GLFW_MOD_SUPER)) != 0;
    if (!text.empty() && !is_command) push(std::move(text));
  }

  std::string text_of(XKeyEvent& key) const {
    std::string text(64, '\0');
    if (context_ == nullptr) {
      KeySym symbol = NoSymbol;
      const int n = XLookupString(&key, text.data(), static_cast<int>(text.size()), &symbol, nullptr);
      std::string utf8;
      for (int i = 0; i < n; ++i) append_utf8(static_cast<unsigned char>(text[static_cast<size_t>(i)]), utf8);
      return utf8;
    }
    Status status = 0;
    const auto look_up = [&] {
      return Xutf8LookupString(context_, &key, text.data(), static_cast<int>(text.size()), nullptr, &status);
    };
    int n = look_up();
    if (status == XBufferOverflow) {
      text.resize(static_cast<size_t>(n));
      n = look_up();
    }
    text.resize(status == XLookupChars || status == XLookupBoth ? static_cast<size_t>(n) : 0);
    return text;
  }

  void move_caret() {
    XPoint caret;
    {
      const std::lock_guard lock(mutex_);
      if (!std::exchange(has_moved_, false)) return;
      caret = caret_;
    }
    if (context_ == nullptr) return;
    XVaNestedList list = XVaCreateNestedList(0, XNSpotLocation, &caret, nullptr);
    XSetICValues(context_, XNPreeditAttributes, list, nullptr);
    XFree(list);
  }

  void draw_composition(const XIMPreeditDrawCallbackStruct& change) {
    std::u32string text = composed_;
    const size_t first = std::min(static_cast<size_t>(std::max(change.chg_first, 0)), text.size());
    const size_t length = std::min(static_cast<size_t>(std::max(change.chg_length, 0)), text.size() - first);
    if (change.text == nullptr)
      text.erase(first, length);
    else if (change.text->string.multi_byte != nullptr)  // else only looks change
      text.replace(first, length, characters_of(*change.text));
    set_composed(std::move(text));
  }

  void set_composed(std::u32string text) {
    {
      const std::lock_guard lock(mutex_);
      composed_ = std::move(text);
    }
    wake_();
  }
  void push(XInput input) {
    {
      const std::lock_guard lock(mutex_);
      input_.push_back(std::move(input));
    }
    wake_();
  }
  void knock() const {
    constexpr uint64_t kOne = 1;
    [[maybe_unused]] const ssize_t n = write(wanted_, &kOne, sizeof kOne);
  }

  Display* const display_;
  const Window window_;
  const std::function<void()> wake_;
  const int wanted_;  // readable when the thread has something to do
  XIM method_ = nullptr;
  XIC context_ = nullptr;
  bool has_no_method_ = false;
  std::atomic<bool> has_failed_ = false;  // the thread has ended
  std::atomic<bool> is_ending_ = false;

  mutable std::mutex mutex_;
  std::vector<XInput> input_;  // this and the members below are behind mutex_
  std::u32string composed_;
  XPoint caret_{0, 0};
  bool has_moved_ = false;

  std::thread thread_;  // after everything that it uses
};

std::unique_ptr<InputMethod> InputMethod::open(unsigned long window, std::function<void()> wake) {
  if (std::string_view(std::setlocale(LC_CTYPE, nullptr)) == "C") std::setlocale(LC_CTYPE, "");
  Display* display = XOpenDisplay(nullptr);
  if (display == nullptr) return nullptr;
  return std::unique_ptr<InputMethod>(new InputMethod(std::make_unique<Connection>(display, window, std::move(wake))));
}

InputMethod::InputMethod(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
InputMethod::~InputMethod() = default;
bool InputMethod::works() const { return connection_->works(); }
std::vector<XInput> InputMethod::pop_all() { return connection_->pop_all(); }
std::string InputMethod::composition() const { return connection_->composition(); }
void InputMethod::set_caret(int x, int y) { connection_->set_caret(x, y); }

NoInputMethodOfGlfw::NoInputMethodOfGlfw() {
  XInitThreads();  // before Xlib is used: two threads will
  if (const char* before = std::getenv(kVariable)) was_set_ = true, before_ = before;
  setenv(kVariable, "@im=none", 1);
}

NoInputMethodOfGlfw::~NoInputMethodOfGlfw() {
  if (was_set_)
    setenv(kVariable, before_.c_str(), 1);
  else
    unsetenv(kVariable);
}

}  // namespace warpchat::gui
