// The owner writes the text into a property of a window of ours: at once, or in pieces (INCR), each after we have
// deleted the one before.
#include "app/gui/desktop/x11_selection.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <poll.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "models/utf8.h"

namespace warpchat::gui {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{500};  // with an owner that does nothing
constexpr long kWholeProperty = 0x1FFFFFFF;          // in units of four bytes
constexpr size_t kMaxBytes = 256 << 20;

}  // namespace

class X11Selection::Connection {
 public:
  explicit Connection(Display* display)
      : display_(display), window_(XCreateSimpleWindow(display, DefaultRootWindow(display), 0, 0, 1, 1, 0, 0, 0)) {
    XSelectInput(display_, window_, PropertyChangeMask);
  }
  ~Connection() { XCloseDisplay(display_); }

  unsigned long owner(Which which) const { return XGetSelectionOwner(display_, selection(which)); }

  std::optional<std::string> read(Which which) {
    for (const Atom target : {atom("UTF8_STRING"), XA_STRING}) {
      std::optional<Property> found = convert(selection(which), target);
      if (!found) return std::nullopt;
      if (found->type == atom("INCR")) return read_pieces();
      if (found->type == target) return target == XA_STRING ? from_latin1(found->bytes) : std::move(found->bytes);
    }
    return "";
  }

 private:
  struct Property {
    Atom type = 0;  // 0: the owner has no such text
    std::string bytes = {};
  };

  Atom atom(const char* name) const { return XInternAtom(display_, name, False); }
  Atom property() const { return atom("WARPCHAT_SELECTION"); }
  Atom selection(Which which) const { return which == Which::kPrimary ? XA_PRIMARY : atom("CLIPBOARD"); }

  static std::string from_latin1(std::string_view bytes) {
    std::string text;
    for (const char c : bytes) append_utf8(static_cast<unsigned char>(c), text);
    return text;
  }

  std::optional<Property> convert(Atom selection, Atom target) {
    XDeleteProperty(display_, window_, property());
    XSync(display_, True);  // drops what is left of an earlier question
    XConvertSelection(display_, selection, target, property(), window_, CurrentTime);
    const auto is_answer = [&](const XEvent& event) {
      return event.type == SelectionNotify && event.xselection.selection == selection &&
             event.xselection.target == target;
    };
    const std::optional<XEvent> answer = wait_for(is_answer);
    if (!answer) return std::nullopt;
    return answer->xselection.property == 0 ? Property() : take_property();
  }

  std::optional<std::string> read_pieces() {
    const auto is_piece = [&](const XEvent& event) {
      return event.type == PropertyNotify && event.xproperty.state == PropertyNewValue &&
             event.xproperty.atom == property();
    };
    std::string text;
    while (wait_for(is_piece)) {
      const Property piece = take_property();
      if (piece.bytes.empty() || text.size() > kMaxBytes) return text;
      text += piece.bytes;
    }
    return std::nullopt;
  }

  Property take_property() {
    Property taken;
    int format = 0;
    unsigned long n = 0, rest = 0;
    unsigned char* data = nullptr;
    XGetWindowProperty(display_, window_, property(), 0, kWholeProperty, True, AnyPropertyType, &taken.type, &format,
                       &n, &rest, &data);
    if (format == 8 && data != nullptr) taken.bytes.assign(reinterpret_cast<const char*>(data), n);
    if (data != nullptr) XFree(data);
    return taken;
  }

  template <class Condition>
  std::optional<XEvent> wait_for(const Condition& is_wanted) {
    const auto end = Clock::now() + kPatience;
    for (;;) {
      while (XPending(display_) > 0) {
        XEvent event;
        XNextEvent(display_, &event);
        if (is_wanted(event)) return event;
      }
      const auto rest = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
      if (rest.count() <= 0) return std::nullopt;
      pollfd source{ConnectionNumber(display_), POLLIN, 0};
      poll(&source, 1, static_cast<int>(rest.count()));
    }
  }

  Display* display_;
  Window window_;
};

X11Selection::X11Selection(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
X11Selection::~X11Selection() = default;

std::unique_ptr<X11Selection> X11Selection::open() {
  Display* display = XOpenDisplay(nullptr);
  if (display == nullptr) return nullptr;
  return std::unique_ptr<X11Selection>(new X11Selection(std::make_unique<Connection>(display)));
}

unsigned long X11Selection::owner(Which which) const { return connection_->owner(which); }
std::optional<std::string> X11Selection::read(Which which) const { return connection_->read(which); }

}  // namespace warpchat::gui
