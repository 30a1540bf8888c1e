// Loads the model that the flags name, behind a spinner.
#pragma once
#include <memory>
#include <string>

#include "app/settings/options.h"
#include "engine/session/model.h"
#include "models/human_bytes.h"

namespace warpchat {

std::string find_model_file(const std::string& name);  // resolve_model with this user's folders

// The flags as ModelOptions; finds the file. UsageError or Error for invalid flags.
ModelOptions model_options(const ModelFlags& flags);

// context: positions, where the command and not the user decides; 0: as the flags say. sequences: each with a cache of
// so many. another_model_loaded: ModelOptions'.
std::unique_ptr<Model> load_model(const ModelFlags& flags, uint32_t context = 0, uint32_t sequences = 1,
                                  bool another_model_loaded = false);

// The trace and its summary that --profile asks for.
void save_profile(const Model& model, const ModelFlags& flags);

// "SmolLM2-135M-Instruct.Q4_1, 95 MB, cpu: 2 threads, context 2,048"
std::string describe(const Model& model);

// A warning if the context exceeds the model's maximum; else empty.
std::string long_context(const Model& model);

std::string model_name(const Model& model);  // the file's: general.name often says less

}  // namespace warpchat
