// Models of the hub to choose from: a short list for who has none yet, and what the hub has under some words.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/memory_room.h"
#include "engine/hub/hub_client.h"

namespace warpchat {

// Small enough for most machines, with what each is good for; sizes are approximate.
std::vector<ModelChoice> suggested_models(const MemoryRoom& room);

// Index in suggested_models() of what to try first: on a GPU the largest that fits, on a CPU, which reads all weights for
// every token, the largest that fits of those up to 3 GB. The smallest if none fits.
size_t best_suggestion(const std::vector<ModelChoice>& models, const MemoryRoom& room);

// Asks the hub, first for the names, then for the files of each; found is told of one after the other, best known
// first. Error if the hub cannot be asked; HttpStopped.
void search_hub(HubClient& hub, const std::string& words, const MemoryRoom& room,
                const std::function<void(ModelChoice)>& found);

// Whether these are words to search for, and not a file's path, a hub's model or an address.
bool are_search_words(std::string_view text);

}  // namespace warpchat
