// The search for non-finite scales. For every format's scales, see tests/tools/malformed.
#include "models/weight_check.h"

#include <gtest/gtest.h>

#include <cstring>

#include "tests/support/gguf/gguf_writer.h"

namespace warpchat {
namespace {

using Bytes = std::vector<std::byte>;

// Tensors a, b, c in Q8_0, each as long as a few search chunks.
struct Weights {
  static constexpr uint64_t kRows = 3000, kRowBytes = 34 * 32, kColumns = 1024;
  Bytes data[3] = {Bytes(kRows * kRowBytes), Bytes(kRows* kRowBytes), Bytes(kRows* kRowBytes)};

  void spoil(int tensor, uint64_t block) {
    const uint16_t infinity = 0x7c00;
    std::memcpy(data[tensor].data() + block * 34, &infinity, 2);
  }
  std::string error() const {
    GgufWriter writer;
    for (int i = 0; i < 3; ++i)
      writer.add_tensor(std::string(1, static_cast<char>('a' + i)), TensorType::kQ8_0,
                        std::vector<uint64_t>{kColumns, kRows}, data[i]);
    const Bytes bytes = writer.bytes();
    try {
      check_scales(GgufFile::view(bytes, "x.gguf"));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

constexpr uint64_t kBlocks = Weights::kRows * 32;

TEST(WeightCheck, AcceptsFiniteScales) { EXPECT_EQ(Weights().error(), ""); }

TEST(WeightCheck, FindsOneBadScaleWhereverItIs) {
  for (uint64_t block :
       {uint64_t{0}, uint64_t{30839}, uint64_t{30840}, kBlocks / 2, kBlocks - 1}) {  // and at a chunk's edge
    Weights weights;
    weights.spoil(1, block);
    EXPECT_EQ(
        weights.error(),
        "cannot load x.gguf: tensor b holds a scale or weight that is not a finite number; download the file again")
        << "block " << block;
  }
}

TEST(WeightCheck, NamesTheFirstTensorAtFault) {
  for (int repeat = 0; repeat < 20; ++repeat) {  // in any order of threads
    Weights weights;
    weights.spoil(0, kBlocks - 1), weights.spoil(1, 0), weights.spoil(2, 0);
    EXPECT_NE(weights.error().find("tensor a holds"), std::string::npos);
  }
}

TEST(WeightCheck, AcceptsAFileWithoutTensors) {
  const Bytes bytes = GgufWriter().bytes();
  EXPECT_NO_THROW(check_scales(GgufFile::view(bytes, "x.gguf")));
}

}  // namespace
}  // namespace warpchat
