// The files of a repository as the hub lists them, and which of them a quantisation means. All pure.
#pragma once
#include <cstdint>
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

// The ids of /api/models?search=; empty if there are none or the text is something else.
std::vector<std::string> parse_search(std::string_view json);

// All parts, in order, of the one model that the name means. Error that lists what there is if there is none, if
// several fit equally well, or if parts or hashes are missing.
std::vector<HubFile> choose_files(const std::vector<HubFile>& files, const HubModelName& name);

uint64_t total_bytes(const std::vector<HubFile>& files);

}  // namespace warpchat
