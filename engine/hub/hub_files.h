// A repository's files as the hub lists them, and which of them a quantisation names. Pure functions.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/hub/model_name.h"
#include "models/error.h"

namespace warpchat {

struct HubFile {
  std::string path;  // within the repository: "model-q4_k_m.gguf", "Q4_K_M/model-00001-of-00002.gguf"
  uint64_t bytes = 0;
  std::string sha256;  // 64 hexadecimal digits; empty: unknown to the hub
};

// Parses a page of /api/models/ORG/REPO/tree/main. source: for messages. Error for an invalid list, and for a path that
// would leave its folder.
std::vector<HubFile> parse_file_list(std::string_view json, const std::string& source);

struct HubHit {
  std::string repository;    // "org/repo"
  std::string architecture;  // architecture of its GGUF files, "qwen2"; empty: unknown
  uint64_t downloads = 0;    // recent; 0: unknown
};

// Parses the result of /api/models?search=, without repositories whose task is not to write text (embeddings, ranking).
// source: for messages. Error for an invalid list.
std::vector<HubHit> parse_search(std::string_view json, const std::string& source);

// All parts, in order, of the one model with that name. If none was named and the default is missing, the only model.
// Files that accompany a model count only if nothing else matches, or by their whole name. Error with the available
// models if none or several match, or if parts or hashes are missing.
std::vector<HubFile> choose_files(const std::vector<HubFile>& files, const HubModelName& name);

// Default quantisation of a repository: Q4_K_M if available, else the nearest that this program supports. nullopt:
// none.
std::optional<HubModelName> usual_model(const std::vector<HubFile>& files, const std::string& repository);

uint64_t total_bytes(const std::vector<HubFile>& files);

}  // namespace warpchat
