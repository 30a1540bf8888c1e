// Small files of the cache: marks of verified blobs, and a folder in which others may lay traps.
#include "engine/hub/hub_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/hub/sha256.h"
#include "tests/store/store_folder.h"

namespace warpchat {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

class HubCacheFiles : public testing::Test {
 protected:
  HubCacheFiles() { cache_.create_folders(); }
  void write_blob(const std::string& text) const { std::ofstream(cache_.blob(file_)) << text; }

  StoreFolder folder_;
  HubCache cache_{folder_.path(), "org/repo"};
  HubFile file_{"a.gguf", 4, std::string(64, 'a')};
};

TEST_F(HubCacheFiles, AMarkHoldsUntilTheBlobChanges) {
  EXPECT_FALSE(cache_.is_verified(file_));
  write_blob("text");
  EXPECT_FALSE(cache_.is_verified(file_));
  cache_.mark_verified(file_, cache_.state_of(file_));
  EXPECT_TRUE(cache_.is_verified(file_));
  write_blob("texts");
  EXPECT_FALSE(cache_.is_verified(file_)) << "another length";
  write_blob("text");
  const timespec times[2] = {{1, 0}, {1, 5}};
  ASSERT_EQ(utimensat(AT_FDCWD, cache_.blob(file_).c_str(), times, 0), 0);
  EXPECT_FALSE(cache_.is_verified(file_)) << "another time";
  std::filesystem::remove(cache_.blob(file_));
  EXPECT_FALSE(cache_.is_verified(file_));
}

TEST_F(HubCacheFiles, ALinkUnderTheTemporaryNameIsNotFollowed) {
  const std::string mine = folder_.path() + "/mine";
  std::ofstream(mine) << "text";
  std::filesystem::create_symlink(mine,
                                  folder_.path() + "/.locks/models--org--repo/" + std::to_string(getpid()) + ".tmp");
  cache_.point_main_at("commit");
  EXPECT_EQ(content_of(mine), "text");
  EXPECT_EQ(content_of(folder_.path() + "/models--org--repo/refs/main"), "commit");
  EXPECT_FALSE(std::filesystem::is_symlink(folder_.path() + "/models--org--repo/refs/main"));
}

TEST(Sha256OfFile, ReadsAllOfIt) {
  StoreFolder folder;
  const std::string path = folder.path() + "/a";
  std::string text(3'000'000, 'x');
  std::ofstream(path) << text;
  Sha256 hash;
  hash.add(std::as_bytes(std::span(text)));
  uint64_t last = 0;
  EXPECT_EQ(sha256_of_file(path, [&](uint64_t bytes) { last = bytes; }), hash.finish());
  EXPECT_EQ(last, text.size());
  EXPECT_EQ(sha256_of_file(folder.path() + "/none", [](uint64_t) {}), "");
}

}  // namespace
}  // namespace warpchat
