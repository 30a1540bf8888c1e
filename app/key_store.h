// Where keys of endpoints are kept: the desktop's keyring where one answers, else a file that only its owner can read.
// libsecret is looked for at run time: who has no desktop needs neither it nor GLib, and no start waits for them.
#pragma once
#include <optional>
#include <string>

namespace warpchat {

enum class KeyPlace { kKeyring, kFile };

// Error if neither takes it.
KeyPlace store_key(const std::string& endpoint, const std::string& key);

// nullopt: it is not there. Error if the place does not answer, or if others can read the file.
std::optional<std::string> find_key(const std::string& endpoint, KeyPlace place);

void forget_key(const std::string& endpoint, KeyPlace place);  // best effort

std::string key_file();  // its path

}  // namespace warpchat
