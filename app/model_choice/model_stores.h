// The model files in the folders of this and other programs, each with the name by which its program knows it.
#pragma once
#include <string>
#include <vector>

#include "app/model_choice/model_places.h"

namespace warpchat {

struct FoundModel {
  std::string path;
  std::string name;                        // how to ask for it: a file's name, org/repo:QUANT, qwen2.5:3b
  ModelStore store = ModelStore::kOpened;  // where it was found
  std::string folder = {};                 // in which; empty: it was opened
  std::string within = {};                 // its path in its repository; empty: it belongs to none
  std::string manifest = {};               // the file of its program that names it; empty: none
};

// Each GGUF file once, whatever it is for, in search order, files that were opened last; of a split file its first
// part, no projectors. What other programs wrote is checked, and left out where it makes no sense.
std::vector<FoundModel> find_model_files(const ModelPlaces& places);

// All files of a split model, the first part first; of another model itself.
std::vector<std::string> files_of_model(const std::string& path);

// Ollama's: the blobs that a manifest names, also of a model's template and the like; empty for one that makes no
// sense.
std::vector<std::string> blobs_of_manifest(const std::string& folder, const std::string& manifest);

}  // namespace warpchat
