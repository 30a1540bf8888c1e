// Chooses the model, asking the user at the terminal where the name is ambiguous.
#pragma once
#include <string>

#include "app/settings/options.h"

namespace warpchat {

// The model file that the flags name. A model of the hub that is in no cache is downloaded if the user agrees, or with
// --yes. Among several the user chooses. UsageError without a terminal to ask at; Interrupted and Error as in
// download_model; NoModel.
std::string choose_model_file(const ChatOptions& options);

// The same options with a model: that file's path, or with --endpoint the name of one of the server's models. If there
// is no model, a short list is offered, and a server may be named instead of a file.
ChatOptions with_chosen_model(ChatOptions options);

// Searches the hub and lets the user choose a model, as org/repo:QUANT. Without a terminal to ask at, a UsageError with
// the list.
std::string choose_of_hub(const std::string& words, const CommonOptions& options, bool offline);

// Whether there is a terminal to ask at, and whether the user agrees there; false without one.
bool can_ask();
bool agrees(const std::string& question);

}  // namespace warpchat
