// What the worker tells the window: small changes of ChatState, so that a long conversation is never copied per token.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "app/gui/chat_state.h"

namespace warpchat::gui {

// Changes the state, on the UI thread.
using Update = std::function<void(ChatState&)>;

}  // namespace warpchat::gui
