// What the flags of models may be, known without their files and devices.
#pragma once
#include <string>

#include "app/settings/options.h"
#include "engine/session/model.h"

namespace warpchat {

void require_valid_flags(const ModelFlags& flags);  // UsageError or Error

KvTypes cache_types(const ModelFlags& flags);  // the same

// UsageError for a name of no known form; empty: the default.
void require_known_device(const std::string& name);

}  // namespace warpchat
