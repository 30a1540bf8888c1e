// Where keys of endpoints are kept: the desktop's keyring where one answers, else a file that only its owner can read.
// libsecret is loaded at run time: without a desktop neither it nor GLib is needed, and startup never waits for them.
#pragma once
#include <optional>
#include <string>

namespace warpchat {

enum class KeyPlace { kKeyring, kFile };

// Error if neither can store it.
KeyPlace store_key(const std::string& endpoint, const std::string& key);

// nullopt: no such key. Error if the keyring does not answer, or if other users can read the file.
std::optional<std::string> find_key(const std::string& endpoint, KeyPlace place);

void forget_key(const std::string& endpoint, KeyPlace place);  // best effort

std::string key_file();  // its path

}  // namespace warpchat
