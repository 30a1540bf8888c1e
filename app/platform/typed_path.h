// Paths as people type, paste or drop them.
#pragma once
#include <string>
#include <string_view>

namespace warpchat {

// Without blanks around it; "~" is the home directory; quotes around it and backslashes before its characters are a
// shell's (a file that is called so is meant all the same), file:// with %20 a file manager's.
std::string typed_path(std::string_view typed);

std::string with_home_directory(std::string path);  // "~" and "~/..." alone

}  // namespace warpchat
