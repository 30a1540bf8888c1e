// The emulator's API in one include: Memory (device memory), Module (PTX text loaded for a profile), Launch (a grid).
//
//   Memory memory(profile.memory_bytes);
//   Module module(text, profile, memory);
//   Launch launch({module.find_function("kernel"), {blocks}, {threads}, 0, parameters, {}}, module, profile, memory);
//   if (launch.run() == LaunchState::kFaulted) puts(launch.fault().message().c_str());
#pragma once

#include "ptx/emulator/code.h"
#include "ptx/emulator/launch.h"
#include "ptx/emulator/load_error.h"
#include "ptx/emulator/memory.h"
#include "ptx/emulator/profile.h"
