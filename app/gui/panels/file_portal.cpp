// A dialog is a thread with a connection and a main loop of its own: it calls OpenFile or SaveFile, which returns the
// path of a request object, and waits for that object's signal Response. When the connection ends, the portal closes
// the dialog.
#include "app/gui/panels/file_portal.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "app/gui/desktop/bus_connection.h"
#include "app/platform/session_bus.h"
#include "models/error.h"
#include "models/threads.h"

namespace warpchat::gui {

namespace {

constexpr const char *kChooser = "org.freedesktop.portal.FileChooser", *kRequest = "org.freedesktop.portal.Request";

GVariant* filter_of(const FileFilter& filter) {
  GVariantBuilder patterns;
  g_variant_builder_init(&patterns, G_VARIANT_TYPE("a(us)"));
  constexpr guint32 kGlob = 0;
  for (const std::string_view extension : filter.extensions)
    g_variant_builder_add(&patterns, "(us)", kGlob, ("*" + std::string(extension)).c_str());
  if (filter.extensions.empty()) g_variant_builder_add(&patterns, "(us)", kGlob, "*");
  return g_variant_new("(sa(us))", std::string(filter.name).c_str(), &patterns);
}

GVariant* options_of(const FileQuestion& question, const std::string& token) {
  GVariantBuilder options, filters;
  g_variant_builder_init(&options, G_VARIANT_TYPE_VARDICT);
  const auto add = [&](const char* key, GVariant* value) { g_variant_builder_add(&options, "{sv}", key, value); };
  add("handle_token", g_variant_new_string(token.c_str()));
  add("accept_label", g_variant_new_string(std::string(question.button).c_str()));
  if (question.several) add("multiple", g_variant_new_boolean(TRUE));
  if (!question.name.empty()) add("current_name", g_variant_new_string(question.name.c_str()));
  if (!question.folder.empty()) add("current_folder", g_variant_new_bytestring(question.folder.c_str()));
  g_variant_builder_init(&filters, G_VARIANT_TYPE("a(sa(us))"));
  for (const FileFilter& filter : question.filters) g_variant_builder_add_value(&filters, filter_of(filter));
  add("filters", g_variant_builder_end(&filters));
  add("current_filter", filter_of(question.filters[0]));
  return g_variant_builder_end(&options);
}

// "/org/freedesktop/portal/desktop/request/1_42/TOKEN" of the connection ":1.42".
std::string request_path(GDBusConnection* connection, const std::string& token) {
  std::string sender = g_dbus_connection_get_unique_name(connection) + 1;
  for (char& c : sender)
    if (c == '.') c = '_';
  return std::string(kPortalObject) + "/request/" + sender + "/" + token;
}

}  // namespace

// Shared by the window and the thread, which end in any order.
struct FilePortal::Request {
  FileQuestion question;
  std::string parent, path{};
  std::function<void()> wake;
  GMainContext* context = g_main_context_new();
  GCancellable* cancellable = g_cancellable_new();
  std::atomic<bool> closed = false;
  std::mutex mutex{};
  std::optional<PortalReply> reply{};

  Request(FileQuestion asked, std::string of, std::function<void()> wakes)
      : question(std::move(asked)), parent(std::move(of)), wake(std::move(wakes)) {}
  ~Request() {
    g_object_unref(cancellable);
    g_main_context_unref(context);
  }

  void finish(PortalReply given) {
    {
      const std::lock_guard lock(mutex);
      if (!reply) reply = std::move(given);
    }
    if (!closed) wake();
  }
  bool is_over() {
    const std::lock_guard lock(mutex);
    return reply || closed;
  }

  void run();
  void subscribe(GDBusConnection* connection, const std::string& request);
  void take_response(GVariant* parameters);
  void hang_up(GDBusConnection* connection);
};

// To what ends the request: its response, the portal's end, the bus's end.
void FilePortal::Request::subscribe(GDBusConnection* connection, const std::string& request) {
  const auto respond = [](GDBusConnection*, const char*, const char*, const char*, const char*, GVariant* parameters,
                          void* self) { static_cast<Request*>(self)->take_response(parameters); };
  const auto lose = [](GDBusConnection*, const char*, const char*, const char*, const char*, GVariant* parameters,
                       void* self) {
    const char *name, *before, *now;
    g_variant_get(parameters, "(&s&s&s)", &name, &before, &now);
    if (*now == 0) static_cast<Request*>(self)->finish({.fault = "the portal closed the connection"});
  };
  g_dbus_connection_signal_subscribe(connection, kPortalName, kRequest, "Response", request.c_str(), nullptr,
                                     G_DBUS_SIGNAL_FLAGS_NONE, respond, this, nullptr);
  if (!path.empty()) return;
  g_dbus_connection_signal_subscribe(connection, "org.freedesktop.DBus", "org.freedesktop.DBus", "NameOwnerChanged",
                                     "/org/freedesktop/DBus", kPortalName, G_DBUS_SIGNAL_FLAGS_NONE, lose, this,
                                     nullptr);
  const auto end = [](GDBusConnection*, gboolean, GError*, void* self) {
    static_cast<Request*>(self)->finish({.fault = "the session bus closed the connection"});
  };
  g_signal_connect(connection, "closed", G_CALLBACK(+end), this);
}

void FilePortal::Request::take_response(GVariant* parameters) {
  if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ua{sv})")))
    return finish({.fault = "the portal's response is malformed"});
  constexpr guint32 kChosen = 0, kCancelled = 1;
  guint32 code = 0;
  GVariant* given = nullptr;
  g_variant_get(parameters, "(u@a{sv})", &code, &given);
  const BusValue results(given);
  if (code == kCancelled) return finish({});
  if (code != kChosen) return finish({.fault = "the portal could not show its dialog"});
  const BusValue uris(g_variant_lookup_value(results.get(), "uris", G_VARIANT_TYPE_STRING_ARRAY));
  PortalReply said;
  for (gsize i = 0; uris && i < g_variant_n_children(uris.get()); ++i) {
    const BusValue uri(g_variant_get_child_value(uris.get(), i));
    const GlibText path_of(g_filename_from_uri(g_variant_get_string(uri.get(), nullptr), nullptr, nullptr));
    if (path_of) said.answer.paths.emplace_back(path_of.get());
  }
  if (said.answer.paths.empty()) said.fault = "the chosen file is not on this machine";
  said.answer.replaces = question.saves;  // the portal's dialog asks itself
  if (const BusValue filter(g_variant_lookup_value(results.get(), "current_filter", G_VARIANT_TYPE("(sa(us))")));
      filter) {
    const char* name = nullptr;
    g_variant_get(filter.get(), "(&s@a(us))", &name, nullptr);
    const auto chosen = std::ranges::find(question.filters, std::string_view(name), &FileFilter::name);
    if (chosen != question.filters.end()) said.answer.filter = static_cast<size_t>(chosen - question.filters.begin());
  }
  finish(std::move(said));
}

// Closes the dialog explicitly, because some portals do not watch the caller's connection.
void FilePortal::Request::hang_up(GDBusConnection* connection) {
  if (closed && !path.empty())
    g_dbus_connection_call(connection, kPortalName, path.c_str(), kRequest, "Close", nullptr, nullptr,
                           G_DBUS_CALL_FLAGS_NONE, kPortalTimeout, nullptr, nullptr, nullptr);
  g_signal_handlers_disconnect_by_data(connection, this);
  g_dbus_connection_flush_sync(connection, nullptr, nullptr);
  g_dbus_connection_close_sync(connection, nullptr, nullptr);
}

void FilePortal::Request::run() {
  g_main_context_push_thread_default(context);
  std::string fault;
  const BusConnection connection = connect_to_session_bus(cancellable, fault);
  if (!connection) finish({.fault = fault});
  if (connection) {
    static std::atomic<int> n_requests = 0;
    const std::string token = "warpchat" + std::to_string(getpid()) + "_" + std::to_string(++n_requests);
    const std::string expected = request_path(connection.get(), token);
    subscribe(connection.get(), expected);  // before the call: the answer may come first
    GError* failed = nullptr;
    const BusValue handle(g_dbus_connection_call_sync(
        connection.get(), kPortalName, kPortalObject, kChooser, question.saves ? "SaveFile" : "OpenFile",
        g_variant_new("(ss@a{sv})", parent.c_str(), std::string(question.title).c_str(), options_of(question, token)),
        G_VARIANT_TYPE("(o)"), G_DBUS_CALL_FLAGS_NONE, kPortalTimeout, cancellable, &failed));
    const GlibError error(failed);
    path = expected;
    if (!handle) {
      finish({.fault = text_of(error)});
    } else {
      const char* given = nullptr;
      g_variant_get(handle.get(), "(&o)", &given);
      path = given;
      if (path != expected) subscribe(connection.get(), path);  // portals before 0.9
    }
    while (!is_over()) g_main_context_iteration(context, TRUE);
    hang_up(connection.get());
  }
  g_main_context_pop_thread_default(context);
}

bool FilePortal::may_be_there() { return !session_bus_address().empty(); }

void FilePortal::ask(const FileQuestion& question, const std::string& parent) {
  close();
  request_ = std::make_shared<Request>(question, parent, wake_);
  try {
    start_thread(
        "to open the desktop's file dialog", [request = request_] { request->run(); },
        [request = request_](const char* sentence) { request->finish({.fault = sentence}); })
        .detach();
  } catch (const Error& error) {
    request_->finish({.fault = error.what()});
  }
}

std::optional<PortalReply> FilePortal::poll() {
  if (!request_) return std::nullopt;
  std::optional<PortalReply> reply;
  {
    const std::lock_guard lock(request_->mutex);
    reply = request_->reply;
  }
  if (reply) request_.reset();
  return reply;
}

void FilePortal::close() {
  if (!request_) return;
  request_->closed = true;
  g_cancellable_cancel(request_->cancellable);
  g_main_context_wakeup(request_->context);
  request_.reset();
}

}  // namespace warpchat::gui
