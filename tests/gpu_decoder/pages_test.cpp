// KV cache pages on a GPU: logits are the same to the bit wherever pages lie, whether they are shared, and after they
// move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "engine/gpu/gpu_steps.h"
#include "kernels/attention/kv_cache.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr KvTypes kHalves{KvType::kF16, KvType::kF16}, kCodes{KvType::kQ8_0, KvType::kQ8_0},
    kFloats{KvType::kF32, KvType::kF32};

struct PagesCase {
  const char* name;
  LaunchMode launch;
  KvTypes cache;
};
const PagesCase kCases[] = {
    {"stream", LaunchMode::kStream, kHalves},         {"graph", LaunchMode::kGraph, kHalves},
    {"persistent", LaunchMode::kPersistent, kHalves}, {"q8_stream", LaunchMode::kStream, kCodes},
    {"q8_graph", LaunchMode::kGraph, kCodes},         {"q8_persistent", LaunchMode::kPersistent, kCodes},
    {"f32_graph", LaunchMode::kGraph, kFloats},
};

constexpr uint32_t kContext = 200, kTablePages = pages_of(kContext), kPages = 3 * kTablePages + 1;

std::vector<uint32_t> shuffled_pages(uint32_t seed) {
  std::vector<uint32_t> pages(kPages);
  std::iota(pages.begin(), pages.end(), 0u);
  std::shuffle(pages.begin(), pages.end(), std::mt19937(seed));
  return pages;
}

class GpuPages : public testing::TestWithParam<PagesCase> {
 protected:
  // n_pages: 0 for the full contexts of all sequences, one after the other.
  Decoder decoder(uint32_t n_pages) const {
    const GpuSizes sizes{.context = kContext, .sequences = 2, .cache = GetParam().cache, .n_pages = n_pages};
    return Decoder(model_.config,
                   make_gpu_steps(model_.config, model_.tensors, {test_device(), sizes, GetParam().launch}));
  }
  // Decodes tokens singly, in the case's launch mode.
  std::vector<float> decode_each(Decoder& decoder, std::span<const Token> tokens, uint32_t position) const {
    std::vector<float> logits;
    const auto take = [&](std::span<const float> row) { logits.insert(logits.end(), row.begin(), row.end()); };
    if (decoder.steps().teacher_force(tokens, position, take)) return logits;
    return decode(decoder, tokens, {1}, position);
  }

  const std::vector<std::byte> bytes_ = build_tiny_model({}, /*seed=*/4);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

// Before each part of an answer, all pages move and the old ones are overwritten.
TEST_P(GpuPages, MayLieAnywhereAndMove) {
  const std::vector<Token> tokens = some_tokens(136);
  const auto part = [&](size_t first, size_t n) { return std::span(tokens).subspan(first, n); };
  Decoder fixed = decoder(0), paged = decoder(kPages);
  Steps& steps = paged.steps();
  EXPECT_EQ(fixed.steps().n_pages(), 2 * kTablePages);
  EXPECT_EQ(steps.n_pages(), kPages);
  const std::vector<uint32_t> all = shuffled_pages(1);
  std::span<const uint32_t> pages = std::span(all).first(kTablePages);
  steps.set_pages(0, pages);
  const auto move = [&](size_t first) {
    const std::span<const uint32_t> moved = std::span(all).subspan(first, kTablePages);
    for (uint32_t i = 0; i < 3; ++i) steps.copy_page(pages[i], moved[i]);
    for (uint32_t i = 0; i < 3; ++i) steps.copy_page(moved[(i + 1) % 3], pages[i]);
    steps.set_pages(0, moved);
    pages = moved;
  };
  EXPECT_EQ(decode(paged, part(0, 122), {30}), decode(fixed, part(0, 122), {30}));
  move(kTablePages);
  EXPECT_EQ(decode_each(paged, part(122, 5), 122), decode_each(fixed, part(122, 5), 122));
  move(2 * kTablePages);  // the next part starts on a new page
  EXPECT_EQ(decode_each(paged, part(127, 4), 127), decode_each(fixed, part(127, 4), 127));
  steps.set_pages(0, std::vector<uint32_t>{pages[0], pages[1], all[0]});
  steps.copy_page(pages[2], all[0]);
  EXPECT_EQ(decode_each(paged, part(131, 3), 131), decode_each(fixed, part(131, 3), 131));
}

// Two sequences with the same prompt share its full page; the partial last page is copied.
TEST_P(GpuPages, AreSharedByAFork) {
  const std::vector<Token> prompt = some_tokens(70), other = {7, 9, 11};
  Decoder alone = decoder(0), forked = decoder(kPages);
  Steps& steps = forked.steps();
  const std::vector<uint32_t> all = shuffled_pages(2);
  steps.set_pages(0, std::span(all).first(kTablePages));
  decode(forked, prompt, {30});
  steps.copy_page(all[1], all[5]);
  steps.set_pages(1, std::vector<uint32_t>{all[0], all[5], all[6], all[7]});
  const auto both = [&](Decoder& of, uint32_t i) {
    const warpchat::Run runs[] = {{0, 70 + i, {&prompt[i], 1}, Logits::kLast},
                                  {1, 70 + i, {&other[i], 1}, Logits::kLast}};
    EXPECT_TRUE(of.forward(runs));
    std::vector<float> logits(of.logits(0).begin(), of.logits(0).end());
    logits.insert(logits.end(), of.logits(1).begin(), of.logits(1).end());
    return logits;
  };
  for (uint32_t sequence : {0u, 1u})
    for (uint32_t first = 0; first < prompt.size(); first += 30)
      alone.forward(std::span(prompt).subspan(first, std::min<size_t>(30, prompt.size() - first)), first, Logits::kNone,
                    nullptr, sequence);
  for (uint32_t i = 0; i < other.size(); ++i) EXPECT_EQ(both(forked, i), both(alone, i)) << i;
}

// Several tokens of a sequence in one pass, across the end of a page, some for the second time. Each token's logits
// equal those of a single-token pass.
TEST_P(GpuPages, HoldARunThatIsComputedOneByOne) {
  const std::vector<Token> tokens = some_tokens(136);
  Decoder single = decoder(0), several = decoder(0);
  for (Decoder* each : {&single, &several}) decode(*each, std::span(tokens).first(122), {30});
  const auto n_vocab = model_.config.n_vocab;
  const std::vector<float> expected = decode_each(single, std::span(tokens).subspan(122), 122);
  const struct { uint32_t position, n; } runs[] = {{122, 8}, {126, 3}, {129, 1}, {130, 2}, {130, 6}, {122, 8}};
  for (const auto& [position, n] : runs) {
    const warpchat::Run run{0, position, std::span(tokens).subspan(position, n), Logits::kAll, /*verify_draft=*/true};
    ASSERT_TRUE(several.forward({&run, 1}));
    for (uint32_t i = 0; i < n; ++i)
      EXPECT_TRUE(std::ranges::equal(several.logits(i),
                                     std::span(expected).subspan((position + i - 122) * uint64_t{n_vocab}, n_vocab)))
          << position << ", " << i << " of " << n;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GpuPages, testing::ValuesIn(kCases), [](const auto& c) { return c.param.name; });

TEST(GpuPagesErrors, PositionsWithoutAPageAreRefused) {
  const std::vector<std::byte> bytes = build_tiny_model({}, /*seed=*/4);
  const DecodableModel model(GgufFile::view(bytes, "tiny"));
  Decoder decoder(model.config,
                  make_gpu_steps(model.config, model.tensors, {test_device(), {.context = 100, .n_pages = 1}}));
  const std::vector<Token> tokens = some_tokens(64);
  const std::vector<float> expected = decode(decoder, tokens, {32});
  EXPECT_EQ(error_of([&] { decode(decoder, std::span(tokens).first(1), {1}, 64); }),
            "the GPU refuses a pass: page 1 in column 0, the cache ends before 1");
  EXPECT_EQ(decode(decoder, tokens, {32}), expected) << "and nothing was written";
  EXPECT_NE(error_of([&] { decoder.steps().set_pages(0, std::vector<uint32_t>{1}); }), "no error");
  EXPECT_NE(error_of([&] { decoder.steps().set_pages(0, std::vector<uint32_t>{0, 0, 0}); }), "no error");
  EXPECT_NE(error_of([&] { decoder.steps().copy_page(0, 1); }), "no error");
}

}  // namespace
}  // namespace warpchat
