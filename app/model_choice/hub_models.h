// Models of the hub: a short list for the first start, and search results.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "app/model_choice/memory_room.h"
#include "engine/hub/hub_client.h"

namespace warpchat {

// Suggestions for most machines, each with its purpose; sizes are approximate.
std::vector<ModelChoice> suggested_models(const MemoryRoom& room);

// Models whose download was paused, with their progress and what is left to fetch.
std::vector<ModelChoice> paused_models(const std::string& cache, const MemoryRoom& room);

// Says of a suggestion whose download was paused how much of it is in the cache.
void note_paused_downloads(std::vector<ModelChoice>& models, const std::string& cache);

// Index in suggested_models() of the first recommendation: on a GPU the largest that fits; on a CPU, where decoding is
// bandwidth-bound, the largest that fits up to 3 GB. The smallest if none fits.
size_t best_suggestion(const std::vector<ModelChoice>& models, const MemoryRoom& room);

// Asks the hub for names, then for the files of each; calls found for each model, most downloaded first. Error if the
// hub cannot be reached; HttpStopped.
void search_hub(HubClient& hub, const std::string& words, const MemoryRoom& room,
                const std::function<void(ModelChoice)>& found);

// Whether this is a search, not a file's path, a model's name on the hub or an address.
bool are_search_words(std::string_view text);

}  // namespace warpchat
