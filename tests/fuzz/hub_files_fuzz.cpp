// Any bytes as a hub's list of files, and the choice among them. A refusal is an Error; a chosen file stays in its
// folder and has a checksum.
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/hub/hub_files.h"
#include "engine/hub/sha256.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t n_bytes) {
  using namespace warpchat;
  const std::string_view text(reinterpret_cast<const char*>(data), n_bytes);
  try {
    for (const HubHit& hit : parse_search(text, "hub")) assert(parse_hub_model_name(hit.repository));
  } catch (const Error&) {
  }
  try {
    const std::vector<HubFile> files = parse_file_list(text, "hub");
    for (const HubFile& file : files) {
      assert(("/" + file.path + "/").find("/../") == std::string::npos && !file.path.starts_with('/'));
      try {
        for (const HubFile& chosen : choose_files(files, {"org/repo", quant_of(file.path)}))
          assert(is_sha256(chosen.sha256));
      } catch (const Error&) {
      }
    }
  } catch (const Error&) {
  }
  return 0;
}
