// From what the user calls a model to the file: a path, an alias, a part of a name or org/repo[:QUANT] in the caches,
// or nothing at all. Only looks; downloads nothing.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/model_choice/model_stores.h"
#include "app/platform/usage_error.h"
#include "engine/hub/model_name.h"

namespace warpchat {

// The three that a person at a terminal can be asked about.
class NoModel : public UsageError {  // nothing was named, and there is nothing
 public:
  using UsageError::UsageError;
};
class SeveralModels : public UsageError {  // nothing was named, and none was used before; or a part of several names
 public:
  SeveralModels(const std::string& sentence, std::vector<FoundModel> found)
      : UsageError(sentence), models(std::move(found)) {}
  std::vector<FoundModel> models;
};
class NotCached : public UsageError {  // a hub's model that would have to be fetched
 public:
  NotCached(const std::string& sentence, HubModelName model) : UsageError(sentence), name(std::move(model)) {}
  HubModelName name;
};

// Whether every word is somewhere in the name, without regard to case.
bool has_words(std::string_view name, std::string_view words);

// name: what -m says, a file, an alias, a model's name or words of it; empty: the last used model if it is still there,
// else the only one found. UsageError if there is none or more than one; Error if the name is no file and in no folder.
std::string resolve_model(const std::string& name, const ModelPlaces& places, const std::string& state_directory);

// What people call a model, of a file or a server: its name without folders, ".gguf" and the number of its first part;
// of a file that Ollama stores under a hash the name there, which is looked up once. Empty for no model.
std::string shown_name(const std::string& model);

void remember_model(const std::string& path, const std::string& state_directory);  // as the last used; best effort

// A server that the last conversation was held with, so that a window opens with it.
struct LastServer {
  std::string endpoint, model;  // NAME or URL; its name there
};
std::optional<LastServer> last_server(const std::string& state_directory);
void remember_server(const std::optional<LastServer>& server, const std::string& state_directory);  // best effort

}  // namespace warpchat
