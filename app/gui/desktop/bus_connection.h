// The session bus by GIO: its objects as owners, and a connection. Conversations with it run on threads of their own.
// HarfBuzz has GIO installed wherever the window runs, so that it costs no package; libdbus is meant for bindings and
// refers to it, and sd-bus would tie the program to systemd's library.
#pragma once
#include <gio/gio.h>

#include <memory>
#include <string>

namespace warpchat::gui {

template <auto release>
struct Release {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};
using BusValue = std::unique_ptr<GVariant, Release<g_variant_unref>>;
using BusConnection = std::unique_ptr<GDBusConnection, Release<g_object_unref>>;
using GlibError = std::unique_ptr<GError, Release<g_error_free>>;
using GlibText = std::unique_ptr<char, Release<g_free>>;

constexpr const char *kPortalName = "org.freedesktop.portal.Desktop",
                     *kPortalObject = "/org/freedesktop/portal/desktop";
constexpr int kPortalTimeout = 10'000;  // ms; of a portal that has to be started first

std::string text_of(const GlibError& error);

// null and the reason in `fault` if there is no bus or it does not answer. Ends when it is cancelled.
BusConnection connect_to_session_bus(GCancellable* cancellable, std::string& fault);

}  // namespace warpchat::gui
