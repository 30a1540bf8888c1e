// A whole conversation as it should look in a terminal: messages as they were typed, answers as they streamed.
#pragma once
#include <functional>
#include <string>

#include "app/terminal/answer_view.h"
#include "engine/message.h"

namespace warpchat {

// One message and the blank line after it: a user's behind "> ", further lines behind ". ", its files named before it;
// an answer through an AnswerView.
// stopped: asked before every piece of a few thousand bytes; what was laid out until it says true is returned.
using Stopped = std::function<bool()>;
std::string message_text(
    const Message& message, const AnswerLook& look, const Stopped& stopped = [] { return false; });

}  // namespace warpchat
