// Answers with their thought in their text, as front ends show them, and apart, as they are stored.
#pragma once
#include <string>
#include <string_view>

#include "engine/message.h"

namespace warpchat {

// grows: more may follow, so that what may turn out to be a tag, or blank beside one, is not in it yet; of what such
// calls give for a text that grows, content and reasoning only grow.
Message parted(const std::string& role, std::string_view text, bool grows = false);

// As the model wrote it, but for blanks beside the tags; files as the model reads them.
std::string joined(const Message& message);

}  // namespace warpchat
