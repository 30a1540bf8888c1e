// Files of a header and an image. The header repeats the key, so that a renamed file is found out, and sums up the
// image, so that a damaged one is.
#define XXH_INLINE_ALL  // the library's header is all it takes
#include "engine/driver/module_cache.h"

#include <unistd.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace warpchat {

namespace fs = std::filesystem;

namespace {

struct Header {
  char magic[8];
  ModuleKey key;
  uint64_t image_bytes;
  uint64_t image_hash[2];
};
static_assert(sizeof(Header) == 64);
constexpr char kMagic[8] = {'w', 'a', 'r', 'p', 'c', 'u', 'b', '1'};
constexpr size_t kHashDigits = 32;

XXH128_hash_t hash_of(std::string_view bytes) { return XXH3_128bits(bytes.data(), bytes.size()); }

Header header_of(const ModuleKey& key, std::span<const char> image) {
  const XXH128_hash_t hash = hash_of({image.data(), image.size()});
  Header header{{}, key, image.size(), {hash.low64, hash.high64}};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  return header;
}

// An entry, or one that was being written: what the cache may remove. Other files are not its own.
bool is_entry(const std::string& name) {
  return name.size() > kHashDigits && name.find_first_not_of("0123456789abcdef") == kHashDigits &&
         name.compare(kHashDigits, 4, "-sm_") == 0 && name.find(".cubin") != std::string::npos;
}

// A new file beside `path`, owned by this user; its name ends with what mkstemp made of the Xs.
bool write_file(std::string& path, const Header& header, std::span<const char> image) {
  const int descriptor = mkstemp(path.data());
  if (descriptor < 0) return false;
  std::FILE* file = fdopen(descriptor, "wb");
  if (file == nullptr) return close(descriptor), false;
  const bool is_written = std::fwrite(&header, sizeof header, 1, file) == 1 &&
                          std::fwrite(image.data(), 1, image.size(), file) == image.size();
  return (std::fclose(file) == 0) && is_written;
}

}  // namespace

ModuleKey module_key(std::string_view text, uint32_t target, int driver_version, bool is_emulated) {
  const XXH128_hash_t hash = hash_of(text);
  return {{hash.low64, hash.high64}, target, static_cast<uint32_t>(driver_version), is_emulated};
}

std::string ModuleCache::path_of(const ModuleKey& key) const {
  char name[96];
  std::snprintf(name, sizeof name, "%016lx%016lx-sm_%u-%u%s.cubin", key.text_hash[1], key.text_hash[0], key.target,
                key.driver_version, key.is_emulated ? "-emulated" : "");
  return folder_ + "/" + name;
}

std::optional<std::vector<char>> ModuleCache::find(const ModuleKey& key) const {
  if (!is_on()) return std::nullopt;
  const std::string path = path_of(key);
  std::error_code error;
  const uint64_t n_bytes = fs::file_size(path, error);
  if (error || n_bytes <= sizeof(Header) || n_bytes > most_bytes_) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  Header header;
  std::vector<char> image(n_bytes - sizeof header);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  file.read(image.data(), static_cast<std::streamsize>(image.size()));
  const Header expected = header_of(key, image);
  if (!file || std::memcmp(&header, &expected, sizeof header) != 0) return std::nullopt;
  fs::last_write_time(path, fs::file_time_type::clock::now(), error);  // used just now
  return image;
}

void ModuleCache::store(const ModuleKey& key, std::span<const char> image) const {
  if (!is_on() || sizeof(Header) + image.size() > most_bytes_) return;
  const std::string path = path_of(key);
  std::string unfinished = path + "-XXXXXX";
  std::error_code error;
  if (fs::create_directories(folder_, error)) fs::permissions(folder_, fs::perms::owner_all, error);
  if (write_file(unfinished, header_of(key, image), image)) fs::rename(unfinished, path, error);
  fs::remove(unfinished, error);  // still there where something failed
  remove_oldest();
}

void ModuleCache::remove_oldest() const {
  struct Entry {
    fs::file_time_type used;
    uint64_t n_bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  uint64_t sum = 0;
  std::error_code error;
  for (fs::directory_iterator file(folder_, error), end; !error && file != end; file.increment(error)) {
    std::error_code gone;  // another process removes, too
    const Entry entry{file->last_write_time(gone), file->file_size(gone), file->path()};
    if (gone || !is_entry(entry.path.filename().string())) continue;
    entries.push_back(entry);
    sum += entry.n_bytes;
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (size_t i = 0; i < entries.size() && sum > most_bytes_; ++i) {
    fs::remove(entries[i].path, error);
    sum -= entries[i].n_bytes;
  }
}

}  // namespace warpchat
