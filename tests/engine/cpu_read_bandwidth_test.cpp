// The read bandwidth to which decoding on the CPU is compared.
#include "engine/cpu/read_bandwidth.h"

#include <gtest/gtest.h>

#include "engine/cpu/cpu_steps.h"
#include "engine/cpu/pages.h"
#include "engine/cpu/thread_pool.h"
#include "engine/profile.h"
#include "tests/support/decoder_cases.h"

namespace warpchat {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

TEST(ReadBandwidth, IsNotToldOfMemoryThatIsTooSmall) {
  ThreadPool pool(2);
  const Pages pages(32 * kMiB, "test");
  EXPECT_EQ(read_bandwidth(pool, {}), 0);
  EXPECT_EQ(read_bandwidth(pool, {pages.as<uint8_t>(), 32 * kMiB - 1}), 0);
}

TEST(ReadBandwidth, IsThatOfAMachine) {
  ThreadPool pool(2);
  const Pages pages(40 * kMiB, "test");
  const double bandwidth = read_bandwidth(pool, {pages.as<uint8_t>(), pages.n_bytes()});
  EXPECT_GT(bandwidth, 1e6) << "a megabyte a second";
  EXPECT_LT(bandwidth, 1e14);
}

TEST(ReadBandwidth, IsMeasuredOnDemand) {
  TinyModelSpec spec = TinyModelSpec::smallest();
  spec.n_vocab = 33 * kMiB / (spec.hidden * 2);  // in F16
  const std::vector<std::byte> bytes = build_tiny_model(spec, /*seed=*/1);
  const DecodableModel model(GgufFile::view(bytes, "a large vocabulary"));
  CpuOptions options;
  options.threads = 2, options.context = 64;
  Decoder decoder(model.config, make_cpu_steps(model.config, model.tensors, options));
  decode(decoder, some_tokens(3), {3});
  EXPECT_EQ(decoder.steps().profile().peak_bandwidth(), 0);
  decoder.steps().set_measuring(true);
  decode(decoder, some_tokens(3), {3});
  EXPECT_GT(decoder.steps().profile().peak_bandwidth(), 1e6);
}

}  // namespace
}  // namespace warpchat
