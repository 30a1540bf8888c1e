// The XDG base directories, and where downloads go.
#pragma once
#include <optional>
#include <string>

namespace warpchat {

// $HOME if it is an absolute path, else what the system's list of users says; none: neither does.
std::optional<std::string> find_home();

// The directories below need a home where their variable is not set; Error if there is none.
std::string data_directory();    // $XDG_DATA_HOME/warpchat, or ~/.local/share/warpchat; not created
std::string state_directory();   // $XDG_STATE_HOME/warpchat, or ~/.local/state/warpchat
std::string config_directory();  // $XDG_CONFIG_HOME/warpchat, or ~/.config/warpchat
std::string cache_directory();   // $XDG_CACHE_HOME/warpchat, or ~/.cache/warpchat

std::string cache_home();  // $XDG_CACHE_HOME, or ~/.cache
std::string data_home();   // $XDG_DATA_HOME, or ~/.local/share

// The value of a variable that names a folder of models, with a tilde as its programs understand it; empty: not set.
std::string folder_variable(const char* name);

std::string line_history_file();   // the lines typed at a terminal, in the state directory
std::string device_record_file();  // what is known of GPUs, in the state directory

// Creates it, readable by the owner only, with its parents. False if that fails.
bool make_private_directory(const std::string& path);

// Where downloads go: the hub's cache, which other programs share. Among the model folders
// (app/model_choice/model_places.h).
std::string hub_cache_directory();

}  // namespace warpchat
