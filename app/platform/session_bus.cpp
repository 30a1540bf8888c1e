#include "app/platform/session_bus.h"

#include <sys/stat.h>

#include <cstdlib>

namespace warpchat {

std::string session_bus_address() {
  const char *address = std::getenv("DBUS_SESSION_BUS_ADDRESS"), *folder = std::getenv("XDG_RUNTIME_DIR");
  if (address != nullptr && *address != 0) return address;
  if (folder == nullptr) return "";
  const std::string socket = std::string(folder) + "/bus";
  struct stat status;
  return stat(socket.c_str(), &status) == 0 ? "unix:path=" + socket : "";
}

}  // namespace warpchat
