// The model that a conversation was last held with.
#pragma once
#include <algorithm>
#include <string>

#include "engine/store/conversation_store.h"

namespace warpchat {

struct RememberedModel {
  std::string model;     // a file's absolute path, or its name at the server or program that had it; empty: none
  std::string endpoint;  // URL; empty: no server
  bool is_file() const { return endpoint.empty() && model.starts_with('/'); }
  bool operator==(const RememberedModel&) const = default;
};

// The store has the model alone; which server it is at is said by the answers.
inline RememberedModel remembered_model(const StoredConversation& stored) {
  const std::string& model = stored.summary.model;
  const auto last = std::find_if(stored.turns.rbegin(), stored.turns.rend(),
                                 [](const Turn& turn) { return !turn.message.model.empty(); });
  const bool is_its = last != stored.turns.rend() && last->message.model == model;
  return {model, is_its ? last->message.endpoint : ""};
}

// What a front end offers where another model, or none, is loaded.
struct ModelOffer {
  std::string name;      // shown_name() of the model
  std::string model;     // as LoadModel::path has it
  std::string endpoint;  // NAME or URL; empty: a file
  bool is_gone = false;  // the file is not there any more
  bool operator==(const ModelOffer&) const = default;
};

}  // namespace warpchat
