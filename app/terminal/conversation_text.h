// A whole conversation as it should look in a terminal: messages as they were typed, answers as they streamed.
#pragma once
#include <string>

#include "app/terminal/answer_view.h"
#include "engine/message.h"

namespace warpchat {

// One message and the blank line after it: a user's behind "> ", further lines behind ". ", its files named before it;
// an answer through an AnswerView.
std::string message_text(const Message& message, const AnswerLook& look);

}  // namespace warpchat
