// The files of a repository as the hub lists them, and which of them a quantisation means. All pure.
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
  std::string path;  // in the repository: "model-q4_k_m.gguf", "Q4_K_M/model-00001-of-00002.gguf"
  uint64_t bytes = 0;
  std::string sha256;  // 64 hexadecimal digits; empty: the hub keeps none for it
};

// One page of /api/models/ORG/REPO/tree/main. source: for messages. Error for what is no such list, and for a path
// that would leave its folder.
std::vector<HubFile> parse_file_list(std::string_view json, const std::string& source);

struct HubHit {
  std::string repository;    // "org/repo"
  std::string architecture;  // of its GGUF files, "qwen2"; empty: not said
  uint64_t downloads = 0;    // of late; 0: not said
};

// What /api/models?search= found. source: for messages. Error for what is no such list.
std::vector<HubHit> parse_search(std::string_view json, const std::string& source);

// All parts, in order, of the one model that the name means. Error that lists what there is if there is none, if
// several fit equally well, or if parts or hashes are missing.
std::vector<HubFile> choose_files(const std::vector<HubFile>& files, const HubModelName& name);

// The quantisation to take of a repository where nobody says which: Q4_K_M if there is one, else the nearest that this
// program can run. nullopt: there is none.
std::optional<HubModelName> usual_model(const std::vector<HubFile>& files, const std::string& repository);

uint64_t total_bytes(const std::vector<HubFile>& files);

}  // namespace warpchat
