// The desktop window: `chat --gui`.
#pragma once
#include "app/settings/options.h"

namespace warpchat {

// Opens the window and returns when it is closed: 0, or 128 + the signal that ended it. What streamed is stored by
// then. Error if there is no display, no OpenGL 3 or no font.
int run_window(const ChatOptions& options);

}  // namespace warpchat
