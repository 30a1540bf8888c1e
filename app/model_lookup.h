// From what the user calls a model to the file: a path, a file name or org/repo[:QUANT] in the caches, or nothing at
// all. Only looks; downloads nothing.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/directories.h"
#include "models/error.h"

namespace warpchat {

// The command line does not say enough: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct FoundModel {
  std::string path;
  std::string name;  // how to ask for it: a file name, or org/repo:QUANT
};

// The GGUF models in these folders, each once, in search order; of a split file its first part, no projectors.
std::vector<FoundModel> find_models(const std::vector<ModelFolder>& folders);

// name: what -m says; empty: the last used model if it is still there, else the only one found. UsageError if there is
// none or more than one; Error if the name is no file and in no cache.
std::string resolve_model(const std::string& name, const std::vector<ModelFolder>& folders,
                          const std::string& state_directory);

void remember_model(const std::string& path, const std::string& state_directory);  // as the last used; best effort

}  // namespace warpchat
