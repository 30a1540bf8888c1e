// Removing a model from the disk: what belongs to it alone, and nothing outside of the folder that it was found in.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/model_choice/model_stores.h"

namespace warpchat {

struct RemovalPlan {
  FoundModel model;
  std::vector<std::string> files;  // in this order; empty: it lies in no folder of models and is only listed
  uint64_t bytes = 0;              // that the disk gets back
};

// Error for a file that leads out of its folder.
RemovalPlan plan_removal(const FoundModel& model);

// "remove qwen.gguf, 1.9 GB, from /data/models?": for people, before it happens.
std::string removal_question(const RemovalPlan& plan);

// Removes the files, and folders of its program that are empty then. Error if one cannot be removed.
void remove_model(const RemovalPlan& plan);

// The listed model of this path, by whatever link; nullptr: none.
const FoundModel* find_listed(const std::vector<FoundModel>& models, const std::string& path);

}  // namespace warpchat
