// The three launch forms of incremental attention and KV scatter: they give the same results, report every wrong size
// in a sentence, and write nothing if a launch is refused.
#include "engine/gpu/attention_launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "models/half.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

constexpr uint32_t kHeads = 4, kKvHeads = 2, kHeadDim = 64, kPositions = 200, kColumns = 3;
constexpr uint64_t kWidth = kHeads * kHeadDim, kKvWidth = kKvHeads * kHeadDim;

// A value for element i of tensor `salt`, in [-1, 1).
float noise(uint64_t i, uint32_t salt) {
  const uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull ^ (uint64_t{salt} << 40);
  return static_cast<float>(static_cast<int64_t>(x * 0xbf58476d1ce4e5b9ull >> 32) & 0xffff) / 32768.0f - 1.0f;
}

class AttentionForms : public testing::Test {
 protected:
  AttentionForms() {
    for (uint32_t c = 0; c < kColumns; ++c) {
      tables.push_back(device_pages.address() + c * kTablePages * 4);
      for (uint32_t i = 0; i < kTablePages; ++i)
        pages.push_back((c * kTablePages + i) * 5 % kPages);  // a different page each
    }
    std::vector<uint16_t> halves(kPages * kPageBytes);
    for (size_t i = 0; i < halves.size(); ++i) halves[i] = to_f16(noise(i, 1)).bits;
    put(cache, halves);
    put(device_pages, pages);
    for (size_t i = 0; i < q.size(); ++i) q[i] = noise(i, 2) * 3;
    put(device_q, q);
    put(device_tables, tables);
    put(device_lengths, lengths);
    put(device_out, std::vector<float>(kColumns * kWidth, kPoison));
    cache_values = std::move(halves);
  }
  template <class T>
  void put(const DeviceMemory& to, const std::vector<T>& from) {
    stream.upload(to.address(), std::as_bytes(std::span(from)));
    stream.wait();
  }
  std::vector<float> output() {
    std::vector<float> out(kColumns * kWidth);
    stream.download(std::as_writable_bytes(std::span(out)), device_out.address());
    stream.wait();
    return out;
  }
  // Index of a row in the cache; keys come first, then values.
  size_t row_at(uint32_t column, uint32_t values, uint32_t head, uint32_t position) const {
    const uint64_t page = values * kPages + pages[column * kTablePages + position / kPagePositions];
    return ((page * kKvHeads + head) * kPagePositions + position % kPagePositions) * kHeadDim;
  }
  double cached(uint32_t column, uint32_t values, uint32_t head, uint32_t position, uint32_t i) const {
    return to_float(f16{cache_values[row_at(column, values, head, position) + i]});
  }
  // One element of the exact result.
  double expected(uint32_t column, uint32_t head, uint32_t i) const {
    const uint32_t kv_head = head / (kHeads / kKvHeads);
    double sum = 0, weighted = 0;
    for (uint32_t p = 0; p < lengths[column]; ++p) {
      double score = 0;
      for (uint32_t d = 0; d < kHeadDim; ++d)
        score += q[column * kWidth + head * kHeadDim + d] * cached(column, 0, kv_head, p, d);
      const double weight = std::exp(score / std::sqrt(kHeadDim));
      sum += weight;
      weighted += weight * cached(column, 1, kv_head, p, i);
    }
    return lengths[column] == 0 ? 0 : weighted / sum;
  }
  void expect_right(uint32_t columns) {
    const std::vector<float> out = output();
    for (uint32_t c = 0; c < kColumns; ++c)
      for (uint32_t h = 0; h < kHeads; ++h)
        for (uint32_t i = 0; i < kHeadDim; ++i) {
          const float got = out[c * kWidth + h * kHeadDim + i];
          if (c < columns) {
            ASSERT_NEAR(got, expected(c, h, i), 1e-5) << "column " << c << ", head " << h << ", value " << i;
          } else {
            ASSERT_EQ(got, kPoison) << "column " << c << " is outside of the launch";
          }
        }
  }
  AttentionTensors tensors(uint64_t columns = kColumns) const {
    return {{device_q.address(), ElementType::kF32, {columns, kWidth}},
            {cache.address(), ElementType::kU8, {kPages, kPageBytes}},
            {cache.address() + kPages * kPageBytes, ElementType::kU8, {kPages, kPageBytes}},
            {device_tables.address(), ElementType::kU64, {columns}},
            {device_lengths.address(), ElementType::kU32, {columns}},
            {device_out.address(), ElementType::kF32, {columns, kWidth}}};
  }

  static constexpr uint32_t kTablePages = pages_of(kPositions), kPages = kColumns * kTablePages + 1;
  static constexpr uint64_t kPageBytes = uint64_t{kKvHeads} * kPagePositions * kHeadDim * 2;
  static constexpr float kPoison = 12345;
  const AttentionSpec spec{kHeads, kKvHeads, kHeadDim, kPositions, kColumns};
  const DeviceChoice choice = test_device();
  const ContextPointer context = Context::open(*choice.table, choice.gpu);
  const Stream stream{context};
  const DeviceMemory cache{context, kPages * 2 * kPageBytes, "cache"};
  const DeviceMemory device_q{context, kColumns*kWidth * 4, "q"}, device_out{context, kColumns*kWidth * 4, "out"};
  const DeviceMemory device_pages{context, kColumns* kTablePages * 4, "pages"};
  const DeviceMemory device_tables{context, kColumns * 8, "tables"};
  const DeviceMemory device_lengths{context, kColumns * 4, "lengths"};
  std::vector<uint32_t> pages;  // per column: the pages of its table
  std::vector<uint64_t> tables;
  std::vector<uint32_t> lengths = {200, 0, 77};
  std::vector<float> q = std::vector<float>(kColumns * kWidth);
  std::vector<uint16_t> cache_values;
};

TEST_F(AttentionForms, RunWaits) {
  AttentionLaunch(context, spec).run(tensors());
  expect_right(kColumns);
}

TEST_F(AttentionForms, FewerColumnsAndBlocksAreEnough) {
  AttentionLaunch(context, spec).run(tensors(2), 200);
  expect_right(2);
}

TEST_F(AttentionForms, EnqueueTakesItsTurnInTheCallersStream) {
  AttentionLaunch launch(context, spec);
  const Stream mine(context);
  const std::vector<uint32_t> shorter = {5, 6, 7};
  launch.enqueue(mine, tensors());
  std::vector<float> before(kColumns * kWidth);
  mine.download(std::as_writable_bytes(std::span(before)), device_out.address());
  mine.upload(device_lengths.address(), std::as_bytes(std::span(shorter)));
  launch.enqueue(mine, tensors());
  launch.check(mine);
  EXPECT_NEAR(before[0], expected(0, 0, 0), 1e-5) << "of the first launch";
  lengths = shorter;
  expect_right(kColumns);
}

TEST_F(AttentionForms, StartReturnsAHandle) {
  AttentionLaunch launch(context, spec);
  PendingLaunch first = launch.start(tensors()), second = launch.start(tensors());
  second.wait();
  EXPECT_TRUE(first.is_done()) << "launches of one object run in order";
  first.wait();
  expect_right(kColumns);
}

TEST_F(AttentionForms, AHandleOutlivesItsObject) {
  PendingLaunch pending = AttentionLaunch(context, spec).start(tensors());
  EXPECT_TRUE(pending.is_done()) << "destroying the object waits";
  pending.wait();
  expect_right(kColumns);
}

TEST_F(AttentionForms, RefusesWhatIsNoLaunchByItself) {
  AttentionSpec wrong = spec;
  wrong.writes_f16 = true;
  EXPECT_EQ(error_of([&] { AttentionLaunch(context, wrong); }), "incremental attention: a launch by itself gives f32");
  wrong = spec;
  wrong.scatters.push_back({kHeads, kKvHeads, kHeadDim, kHeadDim, RopePairing::kNeox, kPositions, kColumns});
  EXPECT_EQ(error_of([&] { AttentionLaunch(context, wrong); }),
            "incremental attention: a launch by itself takes queries that are rotated");
}

TEST_F(AttentionForms, RefusesWrongTensorsAndWritesNothing) {
  AttentionLaunch launch(context, spec);
  struct Row {
    std::function<void(AttentionTensors&)> spoil;
    const char* says;
  };
  const Row rows[] = {
      {[](auto& t) {
         t.q.shape = {3, 255};
       },
       "q is f32 [3, 255], expected f32 [3, 256]"},
      {[](auto& t) {
         t.q.shape = {4, 256};
       },
       "q is f32 [4, 256], expected 1 to 3 in its first dimension"},
      {[](auto& t) {
         t.q.shape = {0, 256};
       },
       "q is f32 [0, 256], expected 1 to 3 in its first dimension"},
      {[](auto& t) { t.q.shape = {}; }, "q is f32 [], expected 1 to 3 in its first dimension"},
      {[](auto& t) { t.q.type = ElementType::kF16; }, "q is f16 [3, 256], expected f32 [3, 256]"},
      {[](auto& t) { t.k_pages.shape[1] = 2; }, "k_pages is u8 [13, 2], expected u8 [13, 16,384]"},
      {[](auto& t) {
         t.k_pages.type = ElementType::kF16, t.k_pages.shape = {kPages, 2, 64, 63};
       },
       "k_pages is f16 [13, 2, 64, 63], expected f16 [13, 2, 64, 64]"},
      {[](auto& t) { t.k_pages.type = ElementType::kF32; }, "k_pages is f32 [13, 16,384], expected u8 [13, 16,384]"},
      {[](auto& t) { t.v_pages.shape[0] = 12; }, "v_pages is u8 [12, 16,384], expected u8 [13, 16,384]"},
      {[](auto& t) { t.page_tables.shape = {2}; }, "page_tables is u64 [2], expected u64 [3]"},
      {[](auto& t) { t.page_tables.address = 0; }, "page_tables has no address, expected u64 [3]"},
      {[](auto& t) {
         t.lengths.shape = {3, 1};
       },
       "lengths is u32 [3, 1], expected u32 [3]"},
      {[](auto& t) { t.out.address += 4; }, "expected a multiple of 16"},
      {[](auto& t) { t.out.address = 0xfffffffffffffff0; }, "does not fit into memory"},
  };
  for (const Row& row : rows) {
    AttentionTensors spoilt = tensors();
    row.spoil(spoilt);
    EXPECT_THAT(error_of([&] { launch.run(spoilt); }),
                testing::AllOf(testing::StartsWith("incremental attention: "), testing::HasSubstr(row.says)));
    EXPECT_THAT(error_of([&] { launch.enqueue(stream, spoilt); }), testing::HasSubstr(row.says));
  }
  EXPECT_THAT(output(), testing::Each(kPoison));
}

TEST_F(AttentionForms, ReportsALengthBeyondTheCache) {
  AttentionLaunch launch(context, spec);
  put(device_lengths, std::vector<uint32_t>{1, 2, kPositions + 1});
  const char* says = "length 201 in column 2, attention covers 200 keys";
  EXPECT_THAT(error_of([&] { launch.run(tensors()); }), testing::HasSubstr(says));
  launch.enqueue(stream, tensors());
  EXPECT_THAT(error_of([&] { launch.check(stream); }), testing::HasSubstr(says));
  const std::vector<float> out = output();
  EXPECT_THAT(std::vector<float>(out.end() - kWidth, out.end()), testing::Each(kPoison));
  put(device_lengths, lengths);
  EXPECT_EQ(error_of([&] { launch.run(tensors()); }), "no error") << "and the next launch works";
}

TEST_F(AttentionForms, ScatterWritesWhatAttentionReads) {
  KvScatterSpec scatter{kHeads, kKvHeads, kHeadDim, kHeadDim, RopePairing::kNeox, kPositions, kColumns};
  scatter.frequencies.assign(kHeadDim / 2, 0.25);
  std::vector<float> kv(kColumns * kKvWidth);
  for (size_t i = 0; i < kv.size(); ++i) kv[i] = noise(i, 3);
  const DeviceMemory device_k(context, kv.size() * 4, "k"), device_v(context, kv.size() * 4, "v");
  put(device_k, kv);
  put(device_v, kv);
  put(device_lengths, std::vector<uint32_t>{3, kPositions, 5});  // positions; the second is out of range
  const KvScatterTensors tensors{{device_q.address(), ElementType::kF32, {kColumns, kWidth}},
                                 {device_k.address(), ElementType::kF32, {kColumns, kKvWidth}},
                                 {device_v.address(), ElementType::kF32, {kColumns, kKvWidth}},
                                 {},
                                 {},
                                 {device_lengths.address(), ElementType::kU32, {kColumns}},
                                 {cache.address(), ElementType::kU8, {kPages, kPageBytes}},
                                 {cache.address() + kPages * kPageBytes, ElementType::kU8, {kPages, kPageBytes}},
                                 {device_tables.address(), ElementType::kU64, {kColumns}}};
  KvScatterLaunch launch(context, scatter);
  KvScatterTensors narrow = tensors;
  narrow.v.shape = {kColumns, kKvWidth - 1};
  EXPECT_EQ(error_of([&] { launch.run(narrow); }), "KV scatter: v is f32 [3, 127], expected f32 [3, 128]");
  EXPECT_THAT(error_of([&] { launch.run(tensors); }),
              testing::HasSubstr("position 200 in column 1, the cache ends before 200"));
  std::vector<uint16_t> after(cache_values.size());
  stream.download(std::as_writable_bytes(std::span(after)), cache.address());
  stream.wait();
  size_t changed = 0;
  for (size_t i = 0; i < after.size(); ++i) changed += after[i] != cache_values[i];
  EXPECT_GT(changed, 0u);
  EXPECT_LE(changed, 2u * 2 * kKvWidth) << "two columns' keys and values, and nothing else";
  for (uint32_t i = 0; i < kHeadDim; ++i)
    EXPECT_EQ(after[row_at(2, 1, 1, 5) + i], to_f16(kv[2 * kKvWidth + kHeadDim + i]).bits);
  const double angle = 3 * 0.25, x = kv[0], y = kv[kHeadDim / 2];
  EXPECT_NEAR(to_float(f16{after[row_at(0, 0, 0, 3)]}), x * std::cos(angle) - y * std::sin(angle), 1e-3);
}

}  // namespace
}  // namespace warpchat
