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

// The hub and the cache as the environment names them.
HubSettings hub_settings_of_user(bool offline);

// Returns the file's path in the cache. agree: asked, before anything is fetched, whether this much shall go into this
// folder; may throw. Interrupted if Ctrl-C paused it; Error for whatever stands in the way.
std::string download_model(const HubModelName& name, bool offline,
                           const std::function<void(const DownloadPlan&, const std::string& folder)>& agree = {});

}  // namespace warpchat
