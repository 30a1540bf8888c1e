// The desktop's message bus, D-Bus.
#pragma once
#include <string>

namespace warpchat {

// $DBUS_SESSION_BUS_ADDRESS, or $XDG_RUNTIME_DIR/bus; empty: there is none. GLib, if asked, would try to start one.
std::string session_bus_address();

}  // namespace warpchat
