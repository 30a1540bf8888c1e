// The table filled from NVIDIA's driver library by name.
#include <dlfcn.h>

#include <map>
#include <mutex>

#include "engine/driver/driver_table.h"
#include "engine/way_out.h"

namespace warpchat {

namespace {

template <class Function>
bool resolve(void* library, const char* symbol, Function& entry) {
  entry = reinterpret_cast<Function>(dlsym(library, symbol));
  return entry != nullptr;
}

DriverTable fill(const std::string& name) {
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw ErrorWithWayOut("no NVIDIA driver: " + std::string(dlerror()) + "; install NVIDIA's driver for this GPU",
                          WayOut::Kind::kUseCpu);
  DriverTable table;
  std::string missing;
#define WARPCHAT_DRIVER_RESOLVE(entry, symbol) \
  if (!resolve(library, #symbol, table.entry)) missing += std::string(" ") + #symbol;
  WARPCHAT_DRIVER_FUNCTIONS(WARPCHAT_DRIVER_RESOLVE)
#undef WARPCHAT_DRIVER_RESOLVE
  if (!resolve(library, "cuEventElapsedTime_v2", table.cuEventElapsedTime) &&
      !resolve(library, "cuEventElapsedTime", table.cuEventElapsedTime))
    missing += " cuEventElapsedTime";
  if (!missing.empty()) {
    dlclose(library);
    throw ErrorWithWayOut(
        "the NVIDIA driver " + name + " is too old: it lacks" + missing + "; install driver 525 or newer",
        WayOut::Kind::kUseCpu);
  }
  return table;
}

}  // namespace

const DriverTable& libcuda_table(const std::string& library) {
  static std::mutex mutex;
  static std::map<std::string, DriverTable> tables;
  std::lock_guard lock(mutex);
  auto found = tables.find(library);
  if (found == tables.end()) found = tables.emplace(library, fill(library)).first;
  return found->second;
}

}  // namespace warpchat
