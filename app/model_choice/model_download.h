// Fetches a model from the hub, with its progress on standard error: a line that moves in a terminal, else one line
// every tenth of it. Ctrl-C pauses it.
#pragma once
#include <functional>
#include <string>

#include "engine/hub/download.h"
#include "engine/hub/hub_settings.h"
#include "engine/hub/model_name.h"
#include "models/error.h"

namespace warpchat {

class Interrupted : public Error {  // by Ctrl-C: exit code 130
 public:
  using Error::Error;
};

// The hub and the cache that the environment configures.
HubSettings hub_settings_of_user(bool offline);

// Returns the file's path in the cache. agree: called before anything is downloaded, with the size and the folder; may
// throw. Interrupted if Ctrl-C paused it; Error otherwise.
std::string download_model(const HubModelName& name, bool offline,
                           const std::function<void(const DownloadPlan&, const std::string& folder)>& agree = {});

}  // namespace warpchat
