// libsecret's simple calls by their C interface (libsecret/secret-password.h), and a JSON object of names and keys.
#include "app/platform/key_store.h"

#include <dlfcn.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "app/platform/directories.h"
#include "app/platform/output.h"
#include "app/platform/session_bus.h"
#include "app/platform/text_input.h"
#include "engine/remedy.h"
#include "engine/untrusted_json.h"
#include "models/error.h"
#include "models/text_format.h"

namespace warpchat {

namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxKeysBytes = 1 << 20;

// SecretSchema of libsecret 0.18 and later; the library reads it up to the first attribute without a name.
struct SecretSchema {
  const char* name;
  int flags;
  struct {
    const char* name;
    int type;  // 0: a string
  } attributes[32];
  int reserved;
  void* more_reserved[7];
};
const SecretSchema kSchema = {"io.github.warpchat.Endpoint", 0, {{"endpoint", 0}}, 0, {}};

struct GlibError {
  uint32_t domain;
  int code;
  char* message;
};

// Each call ends with the attributes, name and value in turns, and a null pointer.
struct Keyring {
  int (*store)(const SecretSchema*, const char* collection, const char* label, const char* password, void* cancellable,
               GlibError**, ...) = nullptr;
  char* (*lookup)(const SecretSchema*, void* cancellable, GlibError**, ...) = nullptr;
  int (*clear)(const SecretSchema*, void* cancellable, GlibError**, ...) = nullptr;
  void (*free)(char*) = nullptr;
  explicit operator bool() const { return store && lookup && clear && free; }
};

Keyring open_keyring() {
  Keyring keyring;
  const bool can_ask = !session_bus_address().empty();
  void* library = can_ask ? dlopen("libsecret-1.so.0", RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (library == nullptr) return keyring;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
  };
  find(keyring.store, "secret_password_store_sync");
  find(keyring.lookup, "secret_password_lookup_sync");
  find(keyring.clear, "secret_password_clear_sync");
  find(keyring.free, "secret_password_free");
  return keyring;
}

const Keyring& keyring() {
  static const Keyring opened = open_keyring();
  return opened;
}

constexpr const char* kEnd = nullptr;

bool store_in_keyring(const std::string& endpoint, const std::string& key) {
  if (!keyring()) return false;
  GlibError* error = nullptr;  // never freed: a few bytes, and GLib's own function would be one more symbol to load
  const std::string label = "Warpchat: key of " + endpoint;
  return keyring().store(&kSchema, nullptr, label.c_str(), key.c_str(), nullptr, &error, "endpoint", endpoint.c_str(),
                         kEnd) != 0 &&
         error == nullptr;
}

std::optional<std::string> find_in_keyring(const std::string& endpoint) {
  if (!keyring())
    throw ErrorWithRemedy(
        "the key of endpoint '" + endpoint + "' is in the desktop's keyring, which is not reachable from here",
        Remedy::Kind::kEndpointKey);
  GlibError* error = nullptr;
  char* found = keyring().lookup(&kSchema, nullptr, &error, "endpoint", endpoint.c_str(), kEnd);
  if (error != nullptr) throw Error("the desktop's keyring does not answer: " + printable(error->message, 200));
  if (found == nullptr) return std::nullopt;
  std::string key = found;
  keyring().free(found);
  return key;
}

ordered_json read_key_file() {
  struct stat status;
  if (stat(key_file().c_str(), &status) != 0) return ordered_json::object();
  if ((status.st_mode & 077) != 0)
    throw Error(key_file() +
                " holds keys but other users can read it; run chmod 600 on it, and replace the keys if others may have "
                "seen them");
  ordered_json keys = try_parse_untrusted_json<ordered_json>(read_regular_file(key_file(), kMaxKeysBytes));
  if (!keys.is_object()) throw Error(key_file() + " is not a JSON object of names and keys; repair or delete it");
  return keys;
}

void write_key_file(const ordered_json& keys) {
  if (!make_private_directory(config_directory())) throw Error("cannot create " + config_directory());
  write_file(key_file(), keys.dump(2) + "\n", OutputFile::Readers::kOwner);
}

}  // namespace

std::string key_file() { return config_directory() + "/keys.json"; }

KeyPlace store_key(const std::string& endpoint, const std::string& key) {
  if (store_in_keyring(endpoint, key)) return KeyPlace::kKeyring;
  ordered_json keys = read_key_file();
  keys[endpoint] = key;
  write_key_file(keys);
  return KeyPlace::kFile;
}

std::optional<std::string> find_key(const std::string& endpoint, KeyPlace place) {
  if (place == KeyPlace::kKeyring) return find_in_keyring(endpoint);
  const ordered_json keys = read_key_file();
  const auto found = keys.find(endpoint);
  if (found == keys.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

void forget_key(const std::string& endpoint, KeyPlace place) {
  if (place == KeyPlace::kKeyring) {
    GlibError* error = nullptr;
    if (keyring()) keyring().clear(&kSchema, nullptr, &error, "endpoint", endpoint.c_str(), kEnd);
    return;
  }
  ordered_json keys = read_key_file();
  if (keys.erase(endpoint) > 0) write_key_file(keys);
}

}  // namespace warpchat
