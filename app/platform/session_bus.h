// The desktop's message bus, D-Bus.
#pragma once
#include <sys/stat.h>

#include <cstdlib>
#include <string>

namespace warpchat {

// $DBUS_SESSION_BUS_ADDRESS, or $XDG_RUNTIME_DIR/bus; empty: none. GLib's own function would try to start a bus.
inline std::string session_bus_address() {
  const char *address = std::getenv("DBUS_SESSION_BUS_ADDRESS"), *folder = std::getenv("XDG_RUNTIME_DIR");
  if (address != nullptr && *address != 0) return address;
  if (folder == nullptr) return "";
  const std::string socket = std::string(folder) + "/bus";
  struct stat status;
  return stat(socket.c_str(), &status) == 0 ? "unix:path=" + socket : "";
}

}  // namespace warpchat
