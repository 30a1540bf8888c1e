// Compiled kernels on disk, so that a text is compiled once for a device and a driver. One file an entry, written whole
// or not at all; what is damaged or of another text counts as missing and is written anew. A folder that cannot be
// read, written or enlarged only costs the time: nothing here throws.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace warpchat {

// What an image depends on.
struct ModuleKey {
  uint64_t text_hash[2];    // XXH3, 128 bits
  uint32_t target;          // of the device: 10 * major + minor
  uint32_t driver_version;  // as cuDriverGetVersion gives it
  uint64_t is_emulated;     // the emulator's images are no machine code
};

ModuleKey module_key(std::string_view text, uint32_t target, int driver_version, bool is_emulated);

class ModuleCache {
 public:
  static constexpr uint64_t kMostBytes = 128 << 20;  // a model's kernels take one or two million bytes

  // The folder is made, for this user alone, with the first entry; empty: no cache. Entries beyond most_bytes go,
  // longest unused first.
  explicit ModuleCache(std::string folder = "", uint64_t most_bytes = kMostBytes)
      : folder_(std::move(folder)), most_bytes_(most_bytes) {}

  bool is_on() const { return !folder_.empty(); }
  std::optional<std::vector<char>> find(const ModuleKey& key) const;
  void store(const ModuleKey& key, std::span<const char> image) const;
  std::string path_of(const ModuleKey& key) const;  // FOLDER/HASH-sm_90-13000.cubin

 private:
  void remove_oldest() const;

  std::string folder_;
  uint64_t most_bytes_;
};

}  // namespace warpchat
