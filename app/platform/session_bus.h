// The desktop's message bus, D-Bus.
#pragma once
#include <string>

namespace warpchat {

// $DBUS_SESSION_BUS_ADDRESS, or $XDG_RUNTIME_DIR/bus; empty: none. GLib's own function would try to start a bus.
std::string session_bus_address();

}  // namespace warpchat
