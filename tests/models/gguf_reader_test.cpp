// The GGUF reader on bytes: valid files, every corrupted byte, every conversion, and exact error messages.
#include "models/gguf_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>

#include "models/text_format.h"
#include "tests/support/gguf/gguf_writer.h"

namespace warpchat {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Bytes = std::vector<std::byte>;

Bytes pattern(size_t n_bytes) {
  Bytes bytes(n_bytes);
  for (size_t i = 0; i < n_bytes; ++i) bytes[i] = static_cast<std::byte>(i * 7 % 100);
  return bytes;
}

template <class T>
Bytes encoded(GgufType type, T value) {
  Bytes bytes(4 + sizeof value);
  std::memcpy(bytes.data(), &type, 4);
  std::memcpy(bytes.data() + 4, &value, sizeof value);
  return bytes;
}

// A small file with every kind of value and two tensors.
GgufWriter small_writer() {
  GgufWriter writer;
  writer.add_string("general.architecture", "qwen2");
  writer.add_uint32("count", 24);
  writer.add_uint64("large", uint64_t{1} << 40);
  writer.add_float32("real", 1e-6f);
  writer.add_bool("flag", true);
  writer.add_strings("texts", std::vector<std::string>{"", "ä", "three"});
  writer.add_floats("floats", std::vector<float>{0.5f, -2});
  writer.add_ints("ints", std::vector<int32_t>{-1, 0, 7});
  writer.add_tensor("matrix", TensorType::kQ8_0, std::vector<uint64_t>{32, 3}, pattern(3 * 34));
  writer.add_tensor("vector", TensorType::kF32, std::vector<uint64_t>{5}, pattern(20));
  return writer;
}

// The bytes in a heap buffer of their exact size, so a sanitizer sees reads beyond it.
struct Exact {
  std::unique_ptr<std::byte[]> bytes;
  std::span<const std::byte> span;
  explicit Exact(std::span<const std::byte> from)
      : bytes(std::make_unique<std::byte[]>(from.size())), span(bytes.get(), from.size()) {
    std::copy(from.begin(), from.end(), bytes.get());
  }
};

std::string error_of(std::span<const std::byte> bytes) {
  const Exact exact(bytes);
  try {
    GgufFile::view(exact.span, "a.gguf");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_small(const GgufFile& file) {
  EXPECT_EQ(file.version(), 3u);
  EXPECT_EQ(file.get_string("general.architecture"), "qwen2");
  EXPECT_EQ(file.get_uint("count"), 24u);
  EXPECT_EQ(file.get_uint("large"), uint64_t{1} << 40);
  EXPECT_EQ(file.get_float("real"), double{1e-6f});
  EXPECT_TRUE(file.get_bool("flag", false));
  EXPECT_THAT(file.get_strings("texts"), ElementsAre("", "ä", "three"));
  EXPECT_THAT(file.get_floats("floats"), ElementsAre(0.5f, -2.0f));
  EXPECT_THAT(file.get_ints("ints"), ElementsAre(-1, 0, 7));
  ASSERT_EQ(file.tensors().size(), 2u);
  const TensorInfo& matrix = file.tensor("matrix");
  EXPECT_EQ(matrix.type, TensorType::kQ8_0);
  EXPECT_THAT(matrix.shape, ElementsAre(32, 3, 1, 1));
  EXPECT_EQ(matrix.n_dims, 2u);
  EXPECT_TRUE(std::ranges::equal(matrix.data, pattern(3 * 34)));
  EXPECT_TRUE(std::ranges::equal(file.tensor("vector").data, pattern(20)));
}

TEST(GgufReader, ReadsBackWhatTheWriterWrote) {
  for (uint32_t alignment : {8u, 32u, 4096u}) {
    const Bytes bytes = small_writer().bytes(alignment);
    const Exact exact(bytes);
    const GgufFile file = GgufFile::view(exact.span, "a.gguf");
    expect_small(file);
    for (const TensorInfo& tensor : file.tensors())
      EXPECT_EQ(static_cast<size_t>(tensor.data.data() - exact.span.data()) % alignment, 0u) << tensor.name;
  }
}

TEST(GgufReader, RefusesEveryTruncation) {
  const Bytes bytes = small_writer().bytes();
  const GgufFile whole = GgufFile::view(bytes, "a.gguf");
  const auto data_end = static_cast<size_t>(&whole.tensor("vector").data.back() + 1 - bytes.data());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const std::string error = error_of(std::span(bytes).first(size));
    if (size < data_end)
      EXPECT_THAT(error, HasSubstr("download it again")) << size;
    else
      EXPECT_EQ(error, "") << "only padding is missing at " << size;
  }
}

TEST(GgufReader, IgnoresExtraBytes) {
  Bytes bytes = small_writer().bytes();
  bytes.resize(bytes.size() + 4097, std::byte{0xff});
  const Exact exact(bytes);
  expect_small(GgufFile::view(exact.span, "a.gguf"));
}

TEST(GgufReader, RefusesABadHeader) {
  struct Row {
    size_t at;
    std::string_view bytes;
    const char* error;
  };
  constexpr std::string_view kMax = "\xff\xff\xff\xff\xff\xff\xff\xff", kNone("\0\0\0\0\0\0\0\0", 8);
  const Row rows[] = {
      {0, "XGUF", "it starts with \"XGUF\", a GGUF file starts with \"GGUF\"; give the path of a GGUF file"},
      {0, "tjgg", "it starts with \"tjgg\", a GGUF file starts with \"GGUF\"; it is an old GGJT file; convert"},
      {8, kMax, "it counts 18,446,744,073,709,551,615 tensors in its header, which"},
      {16, kMax, "it counts 18,446,744,073,709,551,615 keys in its header, which"},
      {16, kNone, "tensor general.architecture has 8 dimensions"},  // the first key, read as a tensor
  };
  for (const Row& row : rows) {
    Bytes bytes = small_writer().bytes();
    std::memcpy(bytes.data() + row.at, row.bytes.data(), row.bytes.size());
    EXPECT_THAT(error_of(bytes), HasSubstr(row.error)) << row.at;
  }
}

TEST(GgufReader, RefusesABadVersion) {
  struct Row {
    uint32_t version;
    const char* error;
  };
  const Row rows[] = {
      {0, "cannot load a.gguf: it has GGUF version 0, supported are 2 and 3"},
      {1, "cannot load a.gguf: it has GGUF version 1, supported are 2 and 3; convert the model again"},
      {2, ""},
      {4, "cannot load a.gguf: it has GGUF version 4, supported are 2 and 3"},
      {3u << 24,
       "cannot load a.gguf: it is big-endian, only little-endian GGUF files can be read; convert the model again"},
  };
  for (const Row& row : rows) {
    Bytes bytes = small_writer().bytes();
    std::memcpy(bytes.data() + 4, &row.version, 4);
    EXPECT_EQ(error_of(bytes), row.error);
  }
}

TEST(GgufReader, SurvivesEveryCorruptedByte) {
  const Bytes right = small_writer().bytes();
  for (size_t at = 0; at < right.size(); ++at) {
    for (int value : {0, 1, 9, 0x7f, 0x80, 0xff}) {
      Bytes bytes = right;
      bytes[at] = static_cast<std::byte>(value);
      const std::string error = error_of(bytes);  // an Error or a file, nothing else
      EXPECT_EQ(error, printable(error, error.size())) << "byte " << at << " is " << value;
    }
  }
}

TEST(GgufReader, ConvertsIntegersOfEveryWidth) {
  GgufWriter writer;
  writer.add_encoded("u8", encoded(GgufType::kUint8, uint8_t{200}));
  writer.add_encoded("i8", encoded(GgufType::kInt8, int8_t{100}));
  writer.add_encoded("u16", encoded(GgufType::kUint16, uint16_t{60000}));
  writer.add_encoded("i16", encoded(GgufType::kInt16, int16_t{30000}));
  writer.add_encoded("i32", encoded(GgufType::kInt32, int32_t{2000000000}));
  writer.add_encoded("u64", encoded(GgufType::kUint64, ~uint64_t{0}));
  writer.add_encoded("i64", encoded(GgufType::kInt64, int64_t{1} << 62));
  writer.add_encoded("f64", encoded(GgufType::kFloat64, 0.1));
  const Bytes bytes = writer.bytes();
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  EXPECT_EQ(file.get_uint("u8"), 200u);
  EXPECT_EQ(file.get_uint("i8"), 100u);
  EXPECT_EQ(file.get_uint("u16"), 60000u);
  EXPECT_EQ(file.get_uint("i16"), 30000u);
  EXPECT_EQ(file.get_uint("i32"), 2000000000u);
  EXPECT_EQ(file.get_uint("u64"), ~uint64_t{0});
  EXPECT_EQ(file.get_uint("i64"), uint64_t{1} << 62);
  EXPECT_EQ(file.get_float("f64"), 0.1);
}

TEST(GgufReader, GivesDefaultsOnlyForMissingKeys) {
  const Bytes bytes = small_writer().bytes();
  const GgufFile file = GgufFile::view(bytes, "a.gguf");
  EXPECT_EQ(file.get_uint("absent", 5), 5u);
  EXPECT_EQ(file.get_float("absent", 0.5), 0.5);
  EXPECT_TRUE(file.get_bool("absent", true));
  EXPECT_EQ(file.get_string("absent", "x"), "x");
  EXPECT_EQ(file.find_tensor("absent"), nullptr);
  EXPECT_THROW(file.get_uint("real", 5), Error);
  EXPECT_THROW(file.get_float("count", 0.5), Error);
  EXPECT_THROW(file.get_bool("count", true), Error);
  EXPECT_THROW(file.get_string("count", "x"), Error);
}

TEST(GgufReader, NamesKeyFoundAndExpected) {
  GgufWriter writer = small_writer();
  writer.add_encoded("minus", encoded(GgufType::kInt32, -5));
  writer.add_encoded("nan", encoded(GgufType::kFloat32, std::numeric_limits<float>::quiet_NaN()));
  writer.add_floats("infinite", std::vector<float>{0, std::numeric_limits<float>::infinity()});
  const Bytes bytes = writer.bytes();
  const GgufFile file = GgufFile::view(bytes, "dir/a.gguf");
  struct Row {
    void (*use)(const GgufFile&);
    const char* error;
  };
  const Row rows[] = {
      {[](const GgufFile& f) { f.get_uint("absent"); }, "key absent is missing"},
      {[](const GgufFile& f) { f.get_uint("texts"); },
       "key texts is array of 3 string, expected an integer of at least 0"},
      {[](const GgufFile& f) { f.get_uint("minus"); }, "key minus is int32 -5, expected an integer of at least 0"},
      {[](const GgufFile& f) { f.get_float("nan"); }, "key nan is float32 nan, expected a finite float32 or float64"},
      {[](const GgufFile& f) { f.get_float("flag"); }, "key flag is bool true, expected a finite float32 or float64"},
      {[](const GgufFile& f) { f.get_string("count"); }, "key count is uint32 24, expected a string"},
      {[](const GgufFile& f) { f.get_strings("ints"); }, "key ints is array of 3 int32, expected an array of strings"},
      {[](const GgufFile& f) { f.get_strings("count"); }, "key count is uint32 24, expected an array of strings"},
      {[](const GgufFile& f) { f.get_floats("ints"); }, "key ints is array of 3 int32, expected an array of float32"},
      {[](const GgufFile& f) { f.get_floats("infinite"); }, "element 1 of key infinite is not finite"},
      {[](const GgufFile& f) { f.get_ints("floats"); },
       "key floats is array of 2 float32, expected an array of integers"},
      {[](const GgufFile& f) { f.n_elements("count"); }, "key count is uint32 24, expected an array"},
      {[](const GgufFile& f) { f.tensor("absent"); }, "tensor absent is missing"},
  };
  for (const Row& row : rows) {
    try {
      row.use(file);
      ADD_FAILURE() << "no error; expected: " << row.error;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), std::string("cannot load dir/a.gguf: ") + row.error);
    }
  }
}

TEST(GgufReader, NamesTheTensorAtFault) {
  struct Row {
    const char* name;
    TensorType type;
    std::vector<uint64_t> shape;
    size_t at;  // byte to overwrite, after the end of the tensor's name: n_dims, shape, type, offset
    uint64_t value;
    size_t size;
    const char* error;
  };
  const Row rows[] = {
      {"unsupported",
       TensorType::kF32,
       {8},
       12,
       19,
       4,
       "tensor unsupported has type IQ1_S, which is not supported; supported are F32 F16 BF16 Q4_0 Q4_1 Q5_0 Q5_1 "
       "Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL IQ4_XS MXFP4 IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S"},
      {"unheard_of", TensorType::kF32, {8}, 12, 77, 4, "tensor unheard_of has type number 77, which is not supported"},
      {"ragged",
       TensorType::kQ4_K,
       {256},
       4,
       255,
       8,
       "tensor ragged has rows of 255 weights, type Q4_K needs a multiple of 256"},
      {"too_long",
       TensorType::kF32,
       {8},
       4,
       9,
       8,
       "tensor too_long ends at byte 100, the file has 96; download it again"},
      {"huge",
       TensorType::kF32,
       {8},
       4,
       uint64_t{1} << 62,
       8,
       "tensor huge has dimensions that multiply to more bytes than 64 bits"},
      {"misaligned",
       TensorType::kF32,
       {8},
       16,
       4,
       8,
       "tensor misaligned has offset 4, no multiple of the alignment 32"},
      {"far",
       TensorType::kF32,
       {8},
       16,
       ~uint64_t{31},
       8,
       "tensor far has offset 18,446,744,073,709,551,584, beyond what 64 bits"},
      {"flat", TensorType::kF32, {8}, 0, 0, 4, "tensor flat has 0 dimensions, expected 1 to 4"},
      {"empty", TensorType::kF32, {8}, 4, 0, 8, "tensor empty has a dimension of 0"},
  };
  for (const Row& row : rows) {
    GgufWriter writer;
    uint64_t rows_below = 1;
    for (size_t i = 1; i < row.shape.size(); ++i) rows_below *= row.shape[i];
    writer.add_tensor(row.name, row.type, row.shape, pattern(rows_below * bytes_per_row(row.type, row.shape[0])));
    Bytes bytes = writer.bytes();
    const size_t after_name = 24 + 8 + std::strlen(row.name);
    std::memcpy(bytes.data() + after_name + row.at, &row.value, row.size);
    EXPECT_THAT(error_of(bytes), testing::StartsWith(std::string("cannot load a.gguf: ") + row.error));
  }
}

TEST(GgufReader, RefusesTensorsThatShareBytes) {
  GgufWriter writer;
  writer.add_tensor("first", TensorType::kF32, std::vector<uint64_t>{16}, pattern(64));
  writer.add_tensor("second", TensorType::kF32, std::vector<uint64_t>{8}, pattern(32));
  Bytes bytes = writer.bytes();
  const size_t offset_of_second = 24 + (8 + 5 + 24) + (8 + 6 + 16);
  const uint64_t inside_first = 32;
  std::memcpy(bytes.data() + offset_of_second, &inside_first, 8);
  EXPECT_EQ(error_of(bytes), "cannot load a.gguf: tensor second overlaps tensor first");
}

TEST(GgufReader, ListsEntriesForPeople) {
  GgufWriter writer = small_writer();
  writer.add_string("tricky", "line\nbreak \x1b[31m \xff");
  writer.add_ints("many", std::vector<int32_t>(100, 3));
  const Bytes bytes = writer.bytes();
  const auto entries = GgufFile::view(bytes, "a.gguf").entries();
  std::vector<std::string> lines;
  for (const GgufFile::Entry& entry : entries) lines.push_back(std::string(entry.key) + " = " + entry.text);
  EXPECT_THAT(
      lines,
      ElementsAre("general.architecture = \"qwen2\"", "count = 24", "large = 1099511627776", "real = 9.99999997e-07",
                  "flag = true", "texts = [\"\", \"ä\", \"three\"]", "floats = [0.5, -2]", "ints = [-1, 0, 7]",
                  "tricky = \"line\\x0abreak \\x1b[31m \\xff\"", "many = [3, 3, 3, 3, 3, 3, 3, 3, ...]"));
  EXPECT_EQ(entries.back().n_elements, 100u);
  EXPECT_EQ(entries.back().element, GgufType::kInt32);
}

}  // namespace
}  // namespace warpchat
