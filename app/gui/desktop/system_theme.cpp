// A thread with a connection and a main loop of its own, which sleeps until the setting changes or the window closes.
#include "app/gui/desktop/system_theme.h"

#include <atomic>
#include <filesystem>

#include "app/gui/desktop/bus_connection.h"
#include "app/platform/directories.h"
#include "app/platform/session_bus.h"
#include "app/platform/text_input.h"
#include "models/ascii.h"
#include "models/error.h"
#include "models/threads.h"

namespace warpchat::gui {

namespace {

constexpr const char *kSettings = "org.freedesktop.portal.Settings", *kAppearance = "org.freedesktop.appearance",
                     *kColourScheme = "color-scheme";
constexpr guint32 kPrefersDark = 1, kPrefersLight = 2;
constexpr uint64_t kMaxSettingsBytes = 1 << 20;

// In a variant, or in several.
std::optional<bool> dark_in(GVariant* value) {
  BusValue inner(g_variant_ref(value));
  while (g_variant_is_of_type(inner.get(), G_VARIANT_TYPE_VARIANT)) inner.reset(g_variant_get_variant(inner.get()));
  if (!g_variant_is_of_type(inner.get(), G_VARIANT_TYPE_UINT32)) return std::nullopt;
  const guint32 scheme = g_variant_get_uint32(inner.get());
  if (scheme == kPrefersDark) return true;
  return scheme == kPrefersLight ? std::optional(false) : std::nullopt;
}

bool dark_by_gtk() {
  const std::string folder = std::filesystem::path(config_directory()).parent_path().string();
  for (const char* file : {"/gtk-4.0/settings.ini", "/gtk-3.0/settings.ini"}) try {
      if (const auto dark = dark_in_gtk_settings(read_regular_file(folder + file, kMaxSettingsBytes))) return *dark;
    } catch (const Error&) {  // no such file
    }
  return false;
}

}  // namespace

std::optional<bool> dark_in_gtk_settings(std::string_view ini) {
  std::optional<bool> dark;
  while (!ini.empty()) {
    const std::string_view line = ini.substr(0, ini.find('\n'));
    ini.remove_prefix(std::min(line.size() + 1, ini.size()));
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, equals), " \t");
    const std::string value = lower_case(trimmed(line.substr(equals + 1), " \t\r\""));
    if (key == "gtk-application-prefer-dark-theme") return value == "1" || value == "true" || value == "yes";
    if (key == "gtk-theme-name") dark = value.ends_with("-dark") || value.ends_with(":dark");
  }
  return dark;
}

struct SystemTheme::Watch {
  std::function<void()> wake;
  GMainContext* context = g_main_context_new();
  GCancellable* cancellable = g_cancellable_new();
  enum class Known { kNothing, kLight, kDark };
  std::atomic<Known> known = Known::kNothing;
  std::atomic<bool> ends = false;

  explicit Watch(std::function<void()> wakes) : wake(std::move(wakes)) {}
  ~Watch() {
    g_object_unref(cancellable);
    g_main_context_unref(context);
  }

  void tell(std::optional<bool> dark) {
    const Known now = (dark ? *dark : dark_by_gtk()) ? Known::kDark : Known::kLight;
    if (known.exchange(now) != now && !ends) wake();
  }
  void run();
  void subscribe(GDBusConnection* connection);
};

void SystemTheme::Watch::subscribe(GDBusConnection* connection) {
  const auto change = [](GDBusConnection*, const char*, const char*, const char*, const char*, GVariant* parameters,
                         void* self) {
    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ssv)"))) return;
    const char *group, *key;
    GVariant* value;
    g_variant_get(parameters, "(&s&s@v)", &group, &key, &value);
    const BusValue owned(value);
    if (std::string_view(key) == kColourScheme) static_cast<Watch*>(self)->tell(dark_in(value));
  };
  g_dbus_connection_signal_subscribe(connection, kPortalName, kSettings, "SettingChanged", kPortalObject, kAppearance,
                                     G_DBUS_SIGNAL_FLAGS_NONE, change, this, nullptr);
}

void SystemTheme::Watch::run() {
  std::string fault;
  const bool may_be_there = !session_bus_address().empty();
  g_main_context_push_thread_default(context);
  if (const BusConnection connection = may_be_there ? connect_to_session_bus(cancellable, fault) : nullptr) {
    subscribe(connection.get());  // before the call: nothing is missed
    const BusValue read(g_dbus_connection_call_sync(connection.get(), kPortalName, kPortalObject, kSettings, "Read",
                                                    g_variant_new("(ss)", kAppearance, kColourScheme),
                                                    G_VARIANT_TYPE("(v)"), G_DBUS_CALL_FLAGS_NONE, kPortalTimeout,
                                                    cancellable, nullptr));
    const BusValue value(read ? g_variant_get_child_value(read.get(), 0) : nullptr);
    tell(value ? dark_in(value.get()) : std::nullopt);
    while (!ends) g_main_context_iteration(context, TRUE);
    g_dbus_connection_close_sync(connection.get(), cancellable, nullptr);
  } else {
    tell(std::nullopt);
  }
  g_main_context_pop_thread_default(context);
}

SystemTheme::SystemTheme(std::function<void()> wake) : watch_(std::make_unique<Watch>(std::move(wake))) {}

SystemTheme::~SystemTheme() {
  if (!thread_.joinable()) return;
  watch_->ends = true;
  g_cancellable_cancel(watch_->cancellable);
  g_main_context_wakeup(watch_->context);
  thread_.join();
}

void SystemTheme::follow() {
  if (thread_.joinable()) return;
  try {
    thread_ = start_thread(
        "to follow the desktop's theme", [this] { watch_->run(); }, ends_unnoticed);
  } catch (const Error&) {  // without a thread it is known once, and not followed
    watch_->tell(std::nullopt);
  }
}

std::optional<bool> SystemTheme::is_dark() const {
  const Watch::Known known = watch_->known;
  return known == Watch::Known::kNothing ? std::nullopt : std::optional(known == Watch::Known::kDark);
}

}  // namespace warpchat::gui
