#include "app/model_choice/remembered_model.h"

#include <algorithm>

#include "engine/store/conversation_store.h"

namespace warpchat {

// The store has the model alone; which server it is at is said by the answers.
RememberedModel remembered_model(const StoredConversation& stored) {
  const std::string& model = stored.summary.model;
  const auto last = std::find_if(stored.turns.rbegin(), stored.turns.rend(),
                                 [](const Turn& turn) { return !turn.message.model.empty(); });
  const bool is_its = last != stored.turns.rend() && last->message.model == model;
  return {model, is_its ? last->message.endpoint : ""};
}

}  // namespace warpchat
