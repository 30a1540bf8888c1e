// The persistent decoder as the host drives it, on the tests' device, against the same model kernel by kernel.
#include "engine/gpu/persistent_launch.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/decoder.h"
#include "engine/gpu/gpu_memory.h"
#include "engine/gpu/gpu_steps.h"
#include "engine/gpu/weight_upload.h"
#include "kernels/persistent/phase_program.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr uint32_t kContext = 32;

// A small model in device memory, with the buffers of a persistent launch.
struct PersistentModel {
  std::vector<std::byte> bytes = build_tiny_model({.formats = TinyFormats::all(TensorType::kQ8_0)}, /*seed=*/1);
  DecodableModel model{GgufFile::view(bytes, "tiny")};
  ContextPointer context = Context::open(*test_device().table, test_device().gpu);
  Stream stream{context};
  PersistentSpec spec{launch_list(text_decoder(model.config), model.config, formats_of(model.tensors),
                                  {PassKind::kDecode, 1, kContext})};
  DeviceMemory weights;
  std::vector<DeviceMemory> buffers;
  PassAddresses at;
  uint64_t page_table;

  PersistentModel() {
    place_weights();
    for (size_t i = 0; i < kBuffers; ++i) {
      const BufferShape shape = shape_of(static_cast<Buffer>(i), model.config);
      if (shape.width > 0) at.buffers[i] = floats(shape.width * shape.per_column);
    }
    at[Buffer::kAttentionScratch] = zeros(attention_scratch_bytes(spec.decoder.token_attention()));
    at[Buffer::kError] = zeros(sizeof(ErrorWord));
    at.n_pages = 2;
    const uint64_t page_bytes = uint64_t{shape_of(Buffer::kK, model.config).width} * kPagePositions * 2;
    for (uint32_t layer = 0; layer < model.config.n_layers; ++layer) {
      at.keys.push_back(zeros(page_bytes * at.n_pages));
      at.values.push_back(zeros(page_bytes * at.n_pages));
    }
    page_table = floats(1);
    const uint32_t second = 1;
    stream.upload(page_table, std::as_bytes(std::span(&second, 1)));
    stream.wait();
  }

  std::unique_ptr<PersistentLaunch> launch() {
    return std::make_unique<PersistentLaunch>(stream, spec, at, PersistentLaunch::compile(stream.context(), spec));
  }

 private:
  void place_weights() {
    WeightUpload upload(stream, weights_bytes(model.config, model.tensors), {});
    at.weights = warpchat::place_weights(upload, model.tensors);
    weights = upload.finish();
  }
  uint64_t floats(uint32_t n) { return memory(uint64_t{n} * sizeof(float)); }
  uint64_t zeros(uint64_t n_bytes) {
    const uint64_t address = memory(n_bytes);
    stream.fill(address, 0, n_bytes);
    return address;
  }
  uint64_t memory(uint64_t n_bytes) {
    buffers.emplace_back(context, n_bytes, "a test");
    return buffers.back().address();
  }
};

struct Answer {
  std::vector<Token> tokens;
  std::vector<float> logits;
  bool operator==(const Answer&) const = default;
};

// The same tokens kernel by kernel: each is the argmax of the last logits, unless forced.
Answer kernel_by_kernel(const DecodableModel& model, Token token, uint32_t n_tokens, std::span<const Token> forced) {
  Decoder decoder(model.config, make_gpu_steps(model.config, model.tensors,
                                               {test_device(), {.context = kContext}, LaunchMode::kStream, {}}));
  Answer answer;
  for (uint32_t i = 0; i < n_tokens; ++i) {
    EXPECT_TRUE(decoder.forward(std::span(&token, 1), i, Logits::kLast));
    const std::span<const float> row = decoder.logits(0);
    answer.logits.insert(answer.logits.end(), row.begin(), row.end());
    token = i + 1 < forced.size() ? forced[i + 1]
                                  : static_cast<Token>(std::max_element(row.begin(), row.end()) - row.begin());
    answer.tokens.push_back(token);
  }
  return answer;
}

Answer all_of(const PersistentModel& m, PersistentLaunch& launch, PersistentLaunch::Request request) {
  Answer answer;
  request.page_table = m.page_table;
  launch.start(request);
  while (const std::optional<Token> token = launch.next()) {
    answer.tokens.push_back(*token);
    if (!request.returns_rows) continue;
    const std::span<const float> row = launch.row();
    answer.logits.insert(answer.logits.end(), row.begin(), row.end());
  }
  return answer;
}

TEST(PersistentLaunch, GivesTheBitsOfTheStream) {
  PersistentModel m;
  const auto launch = m.launch();
  constexpr uint32_t kTokens = 7;  // more than there are row slots
  const std::vector<Token> forced = {5, 200, 17, 3, 99, 42, 8};
  const struct {
    const char* name;
    std::span<const Token> forced;
  } ways[] = {{"choices", {}}, {"forced", forced}, {"forced, then choices", std::span(forced).first(3)}};
  for (const auto& way : ways) {
    const Answer expected = kernel_by_kernel(m.model, 5, kTokens, way.forced);
    EXPECT_EQ(all_of(m, *launch, {.token = 5, .max_tokens = kTokens, .forced = way.forced, .returns_rows = true}),
              expected)
        << way.name;
    EXPECT_EQ(launch->end(), DecodeEnd::kMaxSteps);
  }
}

TEST(PersistentLaunch, GoesOnWhereItEnded) {
  PersistentModel m;
  const auto launch = m.launch();
  const Answer expected = kernel_by_kernel(m.model, 5, 6, {});
  Answer answer = all_of(m, *launch, {.token = 5, .max_tokens = 2});
  const Answer rest = all_of(m, *launch, {.token = answer.tokens.back(), .position = 2, .max_tokens = 4});
  answer.tokens.insert(answer.tokens.end(), rest.tokens.begin(), rest.tokens.end());
  EXPECT_EQ(answer.tokens, expected.tokens);
}

TEST(PersistentLaunch, EndsAtAnEndToken) {
  PersistentModel m;
  const auto launch = m.launch();
  const std::vector<Token> tokens = all_of(m, *launch, {.token = 5, .max_tokens = 5}).tokens;
  const auto first = std::find(tokens.begin(), tokens.end(), tokens[3]);
  const std::vector<Token> end_tokens = {tokens[3]};
  const Answer answer = all_of(m, *launch, {.token = 5, .end_tokens = end_tokens});
  EXPECT_EQ(answer.tokens, std::vector<Token>(tokens.begin(), first + 1));
  EXPECT_EQ(launch->end(), DecodeEnd::kEndToken);
}

TEST(PersistentLaunch, FillsTheContext) {
  PersistentModel m;
  const auto launch = m.launch();
  EXPECT_EQ(all_of(m, *launch, {.token = 5, .position = kContext - 3}).tokens.size(), 3u);
  EXPECT_EQ(launch->end(), DecodeEnd::kCacheFull);
}

// After a stop, the current token is finished.
TEST(PersistentLaunch, StopsWithinAToken) {
  PersistentModel m;
  const auto launch = m.launch();
  launch->start({.token = 5, .page_table = m.page_table});
  launch->stop();
  uint32_t n = 0;
  while (launch->next()) ++n;
  EXPECT_GE(n, 1u);
  EXPECT_LT(n, kContext);
  EXPECT_EQ(launch->end(), DecodeEnd::kStopped);
  EXPECT_EQ(all_of(m, *launch, {.token = 5, .max_tokens = 2}).tokens.size(), 2u);  // and starts again
}

TEST(PersistentLaunch, MayBeDroppedUnderWay) {
  PersistentModel m;
  const auto launch = m.launch();
  launch->start({.token = 5, .returns_rows = true, .page_table = m.page_table});
  ASSERT_TRUE(launch->next());
}

TEST(PersistentLaunch, RefusesWhatIsOutOfRangeAndWorksAgain) {
  PersistentModel m;
  const auto launch = m.launch();
  EXPECT_EQ(error_of([&] { all_of(m, *launch, {.token = 100'000}); }),
            "the GPU refuses a token: token 100,000 in column 0, the vocabulary ends before " +
                std::to_string(m.model.config.n_vocab));
  EXPECT_EQ(launch->end(), DecodeEnd::kError);
  EXPECT_EQ(error_of([&] { all_of(m, *launch, {.token = 5, .position = kContext}); }),
            "the GPU refuses a token: position 32 in column 0, the cache ends before 32");
  EXPECT_EQ(all_of(m, *launch, {.token = 5, .max_tokens = 2}).tokens.size(), 2u);
}

TEST(PersistentLaunch, SamplesByTheSeed) {
  PersistentModel m;
  m.spec.ring = 64;
  const auto launch = m.launch();
  const auto tokens_of = [&](uint64_t seed) {
    return all_of(m, *launch, {.token = 5, .max_tokens = 6, .sampler = {.temperature = 2, .seed = seed}}).tokens;
  };
  EXPECT_EQ(tokens_of(1), tokens_of(1));
  EXPECT_NE(tokens_of(1), tokens_of(2));
}

TEST(PersistentLaunch, KeepsTimeWhereAsked) {
  PersistentModel m;
  m.spec.stamps = true;
  const auto launch = m.launch();
  constexpr uint32_t kTokens = 2;
  const PhaseProgram program = decoder_program(m.spec.decoder);
  const size_t per_token = phases_of_a_token(program, phases_of_layers(m.spec.decoder)).size();
  const Answer expected = all_of(m, *launch, {.token = 5, .max_tokens = kTokens});
  EXPECT_TRUE(launch->stamps().empty());
  for (const uint32_t n_blocks : {1u, launch->n_blocks()}) {
    const PersistentLaunch::Request request{.token = 5, .max_tokens = kTokens, .stamps = {n_blocks, 100}};
    EXPECT_EQ(all_of(m, *launch, request), expected);
    const std::vector<std::vector<Stamp>> blocks = launch->stamps();
    ASSERT_EQ(blocks.size(), n_blocks);
    for (const std::vector<Stamp>& stamps : blocks) {
      ASSERT_EQ(stamps.size(), kTokens * per_token * 2);
      EXPECT_EQ(stamps.front().phase, 0u);
      EXPECT_EQ(stamps.back().phase, (program.phases.size() - 1) | kEndOfPhase);
      for (const Stamp& stamp : stamps) EXPECT_EQ(stamp.sm, stamps[0].sm);
    }
  }
}

}  // namespace
}  // namespace warpchat
