// Chooses the model, asking the user at the terminal where the name is ambiguous.
#pragma once
#include <string>

#include "app/options.h"

namespace warpchat {

// The model file that the flags mean. A hub's model that is in no cache is fetched if the user says so, or with --yes;
// without a model a short list is offered, of several that are here one is asked for. UsageError where there is no
// terminal to ask at, Interrupted and Error as download_model throws them.
std::string choose_model_file(const ChatOptions& options);

// A model of the hub that has these words, as org/repo:QUANT: the one that the user picks from what there is. Without a
// terminal to ask at, a UsageError that lists it.
std::string choose_of_hub(const std::string& words, const CommonOptions& options, bool offline);

}  // namespace warpchat
