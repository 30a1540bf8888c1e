// Layers of experts on the CPU. cpu_steps_test compares them with the reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "engine/cpu/cpu_steps.h"
#include "engine/profile.h"
#include "tests/reference/closeness.h"
#include "tests/reference/reference_decoder.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"

namespace warpchat {
namespace {

const TinyModelSpec kSpec = {.architecture = "qwen3moe",
                             .head_dim = 64,
                             .formats = TinyFormats::all(TensorType::kQ8_0),
                             .experts = {.n = 16, .n_used = 4, .ffn = 96, .normalises = true}};

Decoder cpu_decoder(const DecodableModel& model, uint32_t max_columns = 64) {
  CpuOptions options;
  options.threads = 2, options.max_columns = max_columns, options.context = 128;
  return Decoder(model.config, make_cpu_steps(model.config, model.tensors, options));
}

// The model's file after edit(tensor, its bytes) for each tensor.
template <class Edit>
std::vector<std::byte> edited(const Edit& edit) {
  const std::vector<std::byte> bytes = build_tiny_model(kSpec, /*seed=*/1);
  const GgufFile file = GgufFile::view(bytes, "experts");
  GgufWriter writer;
  writer.copy_metadata(file);
  for (const TensorInfo& tensor : file.tensors()) {
    std::vector<std::byte> data(tensor.data.begin(), tensor.data.end());
    edit(tensor, data);
    writer.add_tensor(tensor.name, tensor.type, std::span(tensor.shape).first(tensor.n_dims), data);
  }
  return writer.bytes();
}

// If the buffers hold few assignments, experts take turns.
TEST(CpuExperts, GiveTheSameBitsInAnyRoom) {
  const std::vector<std::byte> bytes = build_tiny_model(kSpec, /*seed=*/1);
  const DecodableModel model(GgufFile::view(bytes, "experts"));
  const std::vector<Token> tokens = some_tokens(40);
  Decoder wide = cpu_decoder(model, 128);
  const std::vector<float> expected = decode(wide, tokens, {40});
  for (const uint32_t columns : {1u, 3u, 17u, 40u}) {
    Decoder narrow = cpu_decoder(model, columns);
    EXPECT_EQ(decode(narrow, tokens, {columns}), expected) << columns;
  }
}

TEST(CpuExperts, OfEqualScoresTheFirstAreChosen) {
  const std::vector<std::byte> alike = edited([](const TensorInfo& tensor, std::span<std::byte> data) {
    if (tensor.name.ends_with("ffn_gate_inp.weight")) std::ranges::fill(data, std::byte{0});
  });
  const DecodableModel model(GgufFile::view(alike, "experts alike"));
  const std::vector<Token> tokens = some_tokens(20);
  Decoder decoder = cpu_decoder(model);
  expect_accuracy(
      compare_logits(decode(decoder, tokens, {9}), reference_logits(model.file, tokens), model.config.n_vocab),
      {8e-4, 3e-6}, "experts alike");
}

// An expert is read when a token first uses it, and is refused then and each time after.
TEST(CpuExperts, ADamagedOneIsRefusedWhenItIsNeeded) {
  const std::vector<std::byte> damaged = edited([](const TensorInfo& tensor, std::span<std::byte> data) {
    if (tensor.name != "blk.1.ffn_up_exps.weight") return;
    for (size_t block = 0; block < data.size(); block += 34)
      data[block] = std::byte{0}, data[block + 1] = std::byte{0x7c};
  });
  const GgufFile opened = GgufFile::view(damaged, "damaged.gguf");
  const ModelConfig config = read_model_config(opened);
  const ModelTensors tensors = find_model_tensors(opened, config);
  CpuOptions options;
  options.threads = 2, options.context = 64;
  Decoder decoder(config, make_cpu_steps(config, tensors, options));
  for (int i = 0; i < 50; ++i)
    EXPECT_THAT(error_of([&] { decode(decoder, some_tokens(3), {3}); }),
                testing::HasSubstr("cannot load damaged.gguf: tensor blk.1.ffn_up_exps.weight holds a scale"));
}

// The weights that are packed when loading, with router and shared expert.
TEST(CpuExperts, ReportProgressToTheEnd) {
  TinyModelSpec spec = kSpec;
  spec.architecture = "qwen2moe", spec.experts.shared_ffn = 64;
  const std::vector<std::byte> bytes = build_tiny_model(spec, /*seed=*/1);
  const DecodableModel model(GgufFile::view(bytes, "experts"));
  CpuOptions options;
  options.threads = 2, options.context = 64;
  double last = 0;
  bool rising = true;
  options.progress = [&](double done) { rising &= done >= std::exchange(last, done); };
  make_cpu_steps(model.config, model.tensors, options);
  EXPECT_TRUE(rising);
  EXPECT_DOUBLE_EQ(last, 1.0);
}

TEST(CpuExperts, CountAsFarAsATokenGoesThroughThem) {
  TinyModelSpec all = kSpec;
  all.experts.n_used = all.experts.n;
  const std::vector<std::byte> bytes[] = {build_tiny_model(kSpec, 1), build_tiny_model(all, 1)};
  const DecodableModel some_used(GgufFile::view(bytes[0], "some")), all_used(GgufFile::view(bytes[1], "all"));
  Decoder some = cpu_decoder(some_used), every = cpu_decoder(all_used);
  const uint64_t expert = 3 * bytes_per_row(TensorType::kQ8_0, 96) * 256;  // its size in the file
  EXPECT_EQ(every.steps().weight_bytes_per_token() - some.steps().weight_bytes_per_token(), 2 * 12 * expert);

  some.steps().set_measuring(true);
  decode(some, some_tokens(3), {1});
  std::map<std::string, OperationProfile> rows;
  for (const OperationProfile& row : some.steps().profile().rows()) rows[row.name] = row;
  EXPECT_FALSE(rows.contains("norm_gate_up"));
  EXPECT_EQ(rows["norm_route"].calls, 6u);
  EXPECT_EQ(rows["experts_residual"].calls, 6u);
  EXPECT_GE(rows["experts_residual"].bytes, 6 * 4 * expert);
  EXPECT_LT(rows["experts_residual"].bytes, 6 * 5 * expert);
}

}  // namespace
}  // namespace warpchat
