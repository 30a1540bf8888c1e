// GGUF files on disk: paths that are no files, other file types, and models in several parts.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "models/gguf_reader.h"
#include "tests/support/gguf/gguf_writer.h"
#include "tests/support/test_files.h"

namespace warpchat {
namespace {

using testing::HasSubstr;

class GgufFiles : public testing::Test {
 protected:
  GgufFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "warpchat-gguf-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~GgufFiles() override { std::filesystem::remove_all(folder_); }

  std::string at(const std::string& name) const { return folder_ / name; }
  std::string with_text(const std::string& name, const std::string& text) const {
    std::ofstream(at(name), std::ios::binary) << text;
    return at(name);
  }
  static std::string error_of(const std::string& path) {
    try {
      GgufFile::open(path);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

TEST_F(GgufFiles, NamesWhatIsNoGgufFile) {
  ::mkfifo(at("fifo").c_str(), 0600);  // without a writer, a plain open would wait forever
  std::filesystem::create_directory(at("folder"));
  struct Row {
    std::string path;
    const char* cause;
  };
  const Row rows[] = {
      {at("absent.gguf"), "no such file"},
      {at("folder"), "it is a directory; give the path of a GGUF file"},
      {at("fifo"), "it is a pipe; give the path of a GGUF file"},
      {"/dev/null", "it is a device; give the path of a GGUF file"},
      {with_text("empty", ""), "the file is empty; download it again"},
      {with_text("short", "GG"),
       "it needs 4 bytes at byte 0 for its magic, the file ends at byte 2; download it again"},
      {with_text("page", "<!DOCTYPE html>"),
       "it starts with \"<!DO\", a GGUF file starts with \"GGUF\"; it looks like a web page; download the file itself"},
      {with_text("pointer", "version https://git-lfs.github.com/spec/v1\n"),
       "it starts with \"vers\", a GGUF file starts with \"GGUF\"; it looks like a Git LFS pointer; download the file "
       "itself"},
      {with_text("text", "hello, world"),
       "it starts with \"hell\", a GGUF file starts with \"GGUF\"; give the path of a GGUF file"},
      {with_text("binary", std::string("\0\n\xff\x1b", 4)),
       "it starts with \"\\x00\\x0a\\xff\\x1b\", a GGUF file starts with \"GGUF\"; give the path of a GGUF file"},
      {at("text/below"), "Not a directory"},
  };
  for (const Row& row : rows) EXPECT_EQ(error_of(row.path), "cannot load " + row.path + ": " + row.cause);
}

TEST_F(GgufFiles, NamesASocket) {
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  at("socket").copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(error_of(at("socket")), "cannot load " + at("socket") + ": it is a socket; give the path of a GGUF file");
  ::close(listener);
}

TEST_F(GgufFiles, KeepsTheMappingWhenMoved) {
  GgufWriter writer;
  writer.add_string("general.name", "moved");
  writer.add_tensor("t", TensorType::kF32, std::vector<uint64_t>{1}, std::vector<std::byte>(4, std::byte{7}));
  writer.write(at("a.gguf"));
  GgufFile first = GgufFile::open(at("a.gguf"));
  GgufFile second = std::move(first);
  second = GgufFile(std::move(second));
  EXPECT_EQ(second.get_string("general.name"), "moved");
  EXPECT_EQ(second.tensor("t").data[3], std::byte{7});
  EXPECT_EQ(second.path(), at("a.gguf"));
  EXPECT_EQ(second.file_bytes(), std::filesystem::file_size(at("a.gguf")));
}

TEST_F(GgufFiles, ReportsWhatCannotBeWritten) {
  EXPECT_THROW(
      {
        try {
          GgufWriter().write(at("absent/a.gguf"));
        } catch (const Error& error) {
          EXPECT_EQ(error.what(), "cannot write " + at("absent/a.gguf") + ": No such file or directory");
          throw;
        }
      },
      Error);
}

// A model in three parts as llama.cpp's gguf-split writes it: metadata in the first, tensors in all.
class SplitModel : public GgufFiles {
 protected:
  static constexpr uint32_t kParts = 3;

  std::string name(uint32_t part) const { return at("m-0000" + std::to_string(part) + "-of-00003.gguf"); }

  // number counts from 0.
  void write_part(uint32_t number, const std::string& path, uint32_t stated_number, uint32_t stated_count = kParts,
                  uint32_t stated_tensors = kParts) const {
    GgufWriter writer;
    if (number == 0) writer.add_string("general.architecture", "qwen2");
    writer.add_uint32("split.no", stated_number);
    writer.add_uint32("split.count", stated_count);
    writer.add_uint32("split.tensors.count", stated_tensors);
    const std::vector<std::byte> data(4, static_cast<std::byte>(number));
    writer.add_tensor("t" + std::to_string(number), TensorType::kF32, std::vector<uint64_t>{1}, data);
    writer.write(path);
  }
  void write_all() const {
    for (uint32_t number = 0; number < kParts; ++number) write_part(number, name(number + 1), number);
  }
};

TEST_F(SplitModel, JoinsItsParts) {
  write_all();
  const GgufFile file = GgufFile::open(name(1));
  ASSERT_EQ(file.tensors().size(), kParts);
  for (uint32_t i = 0; i < kParts; ++i)
    EXPECT_EQ(file.tensor("t" + std::to_string(i)).data[0], static_cast<std::byte>(i));
  uint64_t bytes = 0;
  for (uint32_t part = 1; part <= kParts; ++part) bytes += std::filesystem::file_size(name(part));
  EXPECT_EQ(file.file_bytes(), bytes);
  EXPECT_EQ(file.get_string("general.architecture"), "qwen2");
}

TEST_F(SplitModel, IsOpenedByItsFirstPart) {
  write_all();
  EXPECT_EQ(error_of(name(2)),
            "cannot load " + name(2) + ": it is part 2 of 3 of a split model; open the first, " + name(1));
}

TEST_F(SplitModel, NeedsEveryPart) {
  write_all();
  std::filesystem::remove(name(3));
  EXPECT_EQ(error_of(name(1)), "cannot load " + name(3) + ": no such file (it is part 3 of 3 of " + name(1) + ")");
}

TEST_F(SplitModel, NamesTheBrokenPart) {
  write_all();
  std::filesystem::resize_file(name(2), std::filesystem::file_size(name(2)) - 32);
  EXPECT_THAT(error_of(name(1)), HasSubstr("cannot load " + name(2) + ": tensor t1 ends at byte"));
  EXPECT_THAT(error_of(name(1)), HasSubstr("(it is part 2 of 3 of " + name(1) + ")"));
}

TEST_F(SplitModel, NeedsItsName) {
  write_all();
  std::filesystem::rename(name(1), at("renamed.gguf"));
  EXPECT_THAT(error_of(at("renamed.gguf")),
              HasSubstr("it is part 1 of 3 of a split model, but its name does not end in -00001-of-00003.gguf"));
}

TEST_F(SplitModel, RefusesPartsThatDisagree) {
  const auto error_with_part = [&](uint32_t number, uint32_t stated_number, uint32_t stated_count, uint32_t n_tensors) {
    write_all();
    write_part(number, name(number + 1), stated_number, stated_count, n_tensors);
    return error_of(name(1));
  };
  EXPECT_THAT(error_with_part(1, 2, 3, 3), HasSubstr("it says that it is part 3 of 3"));
  EXPECT_THAT(error_with_part(1, 1, 4, 3), HasSubstr("it says that it is part 2 of 4"));
  EXPECT_THAT(error_with_part(0, 0, 2, 3), HasSubstr("does not end in -00001-of-00002.gguf"));
  EXPECT_THAT(error_with_part(0, 0, 70000, 3), HasSubstr("does not end in -00001-of-70000.gguf"));
  EXPECT_THAT(error_with_part(0, 0, 3, 4),
              HasSubstr("key split.tensors.count is 4, the 3 parts hold 3 tensors; download them again"));
}

TEST_F(SplitModel, RefusesATensorInTwoParts) {
  write_all();
  write_part(1, name(3), 2);  // repeats the second part's tensor
  EXPECT_EQ(error_of(name(1)), "cannot load " + name(1) + ": tensor t1 appears twice");
}

TEST_F(SplitModel, OfOnePartMayHaveAnyName) {
  write_part(0, at("one.gguf"), 0, 1, 1);
  EXPECT_EQ(GgufFile::open(at("one.gguf")).tensors().size(), 1u);
}

TEST_F(SplitModel, NeedsAPathNotBytes) {
  write_all();
  std::ifstream in(name(1), std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THROW(GgufFile::view(std::as_bytes(std::span(text)), "bytes"), Error);
}

TEST(ReferenceData, EveryVocabularyAndModelOpens) {
  for (const char* name :
       {"tiny2.gguf", "mini3.gguf", "odd2.gguf", "tinyll.gguf", "ggml-vocab-qwen2.gguf", "ggml-vocab-llama-spm.gguf"})
    EXPECT_GE(GgufFile::open(reference_data_path(name)).n_elements("tokenizer.ggml.tokens"), 512u) << name;
}

}  // namespace
}  // namespace warpchat
