// Where models are looked for: the folders of this program, of the user and of other programs, and single files.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// The layout of a folder, which its program defines; model_stores.cpp reads them.
enum class ModelStore {
  kOwn,       // GGUF files
  kFolder,    // one of the user's: the same, also in folders below
  kHub,       // models--org--repo/{blobs,refs,snapshots}
  kLlamaCpp,  // org_repo_file.gguf beside manifest=org=repo=tag.json
  kLmStudio,  // publisher/repo/file.gguf
  kOllama,    // manifests/host/namespace/name/tag beside blobs/sha256-...
  kJan,       // model.yml and GGUF files, at any depth
  kOpened,    // no folder: a file that the user has opened
};

std::string_view name_of(ModelStore store);  // as people know it: "Ollama"

struct ModelFolder {
  std::string path;
  ModelStore store = ModelStore::kOwn;
  bool operator==(const ModelFolder&) const = default;
};

struct ModelPlaces {
  std::vector<ModelFolder> folders;            // in search order
  std::map<std::string, std::string> aliases;  // to a name that -m understands
  std::vector<std::string> opened;             // paths, the last one first
  std::string fault = {};                      // of models.json, which is left out then; empty: none
};

// Those of this user. This program's folder and the caches of hub and llama.cpp are listed even if they do not exist.
ModelPlaces model_places();

}  // namespace warpchat
