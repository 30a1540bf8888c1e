// The file behind an address is found without memory of its own, as a signal handler needs it.
#include "engine/file_mappings.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "models/mapped_file.h"
#include "tests/support/test_files.h"

namespace warpchat {
namespace {

std::string path_at(const void* address, size_t room = 4096) {
  std::vector<char> path(room);
  return {path.data(), mapped_file_at(address, path)};
}

TEST(FileMappings, TheFileAtAnAddressIsNamed) {
  const TemporaryFile file(std::vector<std::byte>(10000));
  const MappedFile mapped = MappedFile::open(file.path());
  EXPECT_EQ(path_at(mapped.bytes().data()), file.path());
  EXPECT_EQ(path_at(mapped.bytes().data() + 9999), file.path());
  EXPECT_EQ(path_at(mapped.bytes().data(), 5), file.path().substr(0, 5));
  const auto on_heap = std::make_unique<int>();
  EXPECT_EQ(path_at(on_heap.get()), "");
  EXPECT_EQ(path_at(nullptr), "");
}

}  // namespace
}  // namespace warpchat
