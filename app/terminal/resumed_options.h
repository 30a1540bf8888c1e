// What a stored conversation that --resume names says for a start.
#pragma once
#include "app/settings/options.h"

namespace warpchat {

// The options with the conversation's own model or server where no flag names one. One that is gone is said, and the
// options stay. choices: for one answer, its settings as if flags had made them, below those that did.
enum class ResumedChoices { kLeft, kTaken };
ChatOptions with_resumed(ChatOptions options, ResumedChoices choices);

}  // namespace warpchat
