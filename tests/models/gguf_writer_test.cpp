// The GGUF writer: bytes on disk, padding, alignment, and metadata taken over from another file.
#include "tests/support/gguf/gguf_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/test_files.h"

namespace warpchat {
namespace {

using testing::ElementsAre;
using Bytes = std::vector<std::byte>;

Bytes text_bytes(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

TEST(GgufWriter, LaysOutTheSmallestFileAsTheSpecificationSays) {
  GgufWriter writer;
  writer.add_uint32("k", 0x04030201);
  writer.add_tensor("t", TensorType::kF16, std::vector<uint64_t>{3}, text_bytes("abcdef"));
  using namespace std::string_literals;
  const std::string expected =
      "GGUF\3\0\0\0"                               // magic, version
      "\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0"           // one tensor, one key
      "\1\0\0\0\0\0\0\0k\4\0\0\0\1\2\3\4"          // name, type uint32, value
      "\1\0\0\0\0\0\0\0t\1\0\0\0\3\0\0\0\0\0\0\0"  // name, one dimension of 3
      "\1\0\0\0\0\0\0\0\0\0\0\0"s +                // type F16, offset 0: 74 bytes so far
      std::string(96 - 74, '\0') +
      "abcdef" + std::string(128 - 102, '\0');
  EXPECT_EQ(writer.bytes(), text_bytes(expected));
}

TEST(GgufWriter, WritesTheSameBytesToDisk) {
  GgufWriter writer;
  writer.add_strings("texts", std::vector<std::string>{"a", ""});
  for (int i = 0; i < 3; ++i)
    writer.add_tensor("t" + std::to_string(i), TensorType::kQ4_0, std::vector<uint64_t>{32}, Bytes(18, std::byte{7}));
  for (uint32_t alignment : {8u, 32u, 256u}) {
    const TemporaryFile file;
    writer.write(file.path(), alignment);
    std::ifstream in(file.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(text_bytes(text), writer.bytes(alignment)) << alignment;
  }
}

TEST(GgufWriter, TakesOverMetadataButWhatConcernsTheOtherFileAlone) {
  GgufWriter from;
  from.add_string("general.architecture", "qwen2");
  from.add_ints("list", std::vector<int32_t>{1, 2});
  from.add_bool("unwanted", true);
  from.add_uint32("split.count", 1);
  const Bytes bytes = from.bytes(64);  // states general.alignment
  const GgufFile other = GgufFile::view(bytes, "other");
  ASSERT_TRUE(other.has("general.alignment"));
  GgufWriter writer;
  writer.copy_metadata(other, std::vector<std::string>{"unwanted"});
  const Bytes copied = writer.bytes();
  const GgufFile file = GgufFile::view(copied, "copy");
  std::vector<std::string_view> keys;
  for (const GgufValue& value : file.values()) keys.push_back(value.key);
  EXPECT_THAT(keys, ElementsAre("general.architecture", "list"));
  EXPECT_EQ(file.get_string("general.architecture"), "qwen2");
  EXPECT_THAT(file.get_ints("list"), ElementsAre(1, 2));
}

}  // namespace
}  // namespace warpchat
