// Remedies of errors in the words of each view: the errors themselves are data and name no flag, command or button.
#pragma once
#include <exception>
#include <string>

#include "app/chat/state/chat_state.h"

namespace warpchat {

enum class View { kCommandLine, kTerminal, kWindow };

std::string hint_text(const Remedy& remedy, View view);  // "use --device cpu"; empty: none

// The error's message with its remedy.
std::string with_remedy(const std::string& sentence, const Remedy& remedy, View view);
std::string sentence_of(const std::exception& error, View view);

std::string button_of(const Remedy& remedy);  // "Use the CPU"; empty: no button can do it

std::string words_in_terminal(const Remedies& remedies);  // empty: there is none

}  // namespace warpchat
