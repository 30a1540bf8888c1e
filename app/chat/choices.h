// The choices for the user: models in the folders with facts of their headers, suggestions of the hub, and devices. A
// separate thread looks for them, since folders and drivers can be slow.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/chat/state/chat_state.h"
#include "app/model_choice/model_facts.h"
#include "app/settings/options.h"

namespace warpchat {

struct FoundChoices {
  std::vector<ModelChoice> models;
  std::vector<DeviceLine> devices;
  std::string fault = {};  // why nothing, or not everything, could be found; empty: it could
};

class ChoiceFinder {
 public:
  ~ChoiceFinder();

  struct Question {
    ModelFlags flags;          // for loading a model; their model is a choice, too
    uint64_t spare_bytes = 0;  // of main memory that the loaded model would free
  };
  // found is called on the finder's thread, or here if no thread can be started. Call it again only after that.
  void look(Question question, std::function<void(FoundChoices)> found);

 private:
  std::optional<ModelCatalogue> catalogue_;  // of the finder's thread; nullopt: not needed yet
  std::thread thread_;
};

}  // namespace warpchat
