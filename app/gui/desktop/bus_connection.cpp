#include "app/gui/desktop/bus_connection.h"

#include "app/platform/session_bus.h"

namespace warpchat::gui {

std::string text_of(const GlibError& error) { return error ? error->message : "no reason given"; }

BusConnection connect_to_session_bus(GCancellable* cancellable, std::string& fault) {
  GError* failed = nullptr;
  constexpr auto kFlags = static_cast<GDBusConnectionFlags>(G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT |
                                                            G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION);
  BusConnection connection(
      g_dbus_connection_new_for_address_sync(session_bus_address().c_str(), kFlags, nullptr, cancellable, &failed));
  const GlibError error(failed);
  if (!connection) fault = "the session bus does not answer: " + text_of(error);
  return connection;
}

}  // namespace warpchat::gui
