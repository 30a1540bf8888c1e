// Asynchronous copies used before they are waited for: the check reports them, and a seed makes them show in the
// result. The corrected twins run clean under both.
#include <gmock/gmock.h>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

struct Copying {
  const char* name;
  std::string broken, mended;
  const char* expected;  // part of the fault
};
void PrintTo(const Copying& c, std::ostream* out) { *out << c.name; }

const char* const kShared = ".shared .align 128 .b8 words[8192];\n.shared .align 8 .b64 arrived;\n";

// Each thread copies 16 bytes to its place in shared memory at %r2 and loads their first word to %r0.
std::string own_copy(const std::string& issue, const std::string& wait) {
  return "mov.u32 %r1, words;\nmad.lo.u32 %r2, %thread, 16, %r1;\nmad.wide.u32 %rd1, %thread, 16, %in;\n"
         "st.shared.v4.b32 [%r2], {0, 0, 0, 0};\nbar.sync 0;\n" +
         issue + wait + "\nld.shared.b32 %r0, [%r2];\n";
}
const char* const kCopy = "cp.async.cg.shared.global [%r2], [%rd1], 16;\n";

// A thread in another warp reads what this thread copied.
std::string others_copy(const std::string& wait) {
  return own_copy(std::string(kCopy) + "cp.async.commit_group;\n",
                  wait + "\nxor.b32 %r3, %thread, 32;\nmad.lo.u32 %r2, %r3, 16, %r1;");
}

// Two groups: the older one is used after `wait`.
std::string two_groups(const std::string& wait) {
  return own_copy(std::string(kCopy) +
                      "cp.async.commit_group;\nadd.u32 %r4, %r2, 2048;\n"
                      "cp.async.cg.shared.global [%r4], [%rd1], 16;\ncp.async.commit_group;\n",
                  wait);
}

// Thread 0 copies 1,024 bytes in bulk; all wait for them with `wait`.
std::string bulk_load(const std::string& wait) {
  return "mov.u32 %r1, words;\nmad.lo.u32 %r2, %thread, 16, %r1;\nst.shared.v4.b32 [%r2], {0, 0, 0, 0};\n"
         "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra ready;\nmbarrier.init.shared.b64 [arrived], 1;\nready:\nbar.sync 0;\n"
         "@%p0 bra issued;\nmbarrier.arrive.expect_tx.shared.b64 %rd5, [arrived], 1024;\n"
         "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [words], [%in], 1024, [arrived];\n"
         "issued:\n" +
         wait + "\nld.shared.b32 %r0, [%r2];\n";
}
const char* const kWaitForBulk = "again:\nmbarrier.try_wait.parity.shared.b64 %p1, [arrived], 0;\n@!%p1 bra again;\n";

// Each thread stores a word, and thread 0 copies them out in bulk. `out` is 1,024 bytes in; they are read back from
// there.
std::string bulk_store(
    const std::string& before, const std::string& wait,
    const std::string& copy = "cp.async.bulk.global.shared::cta.bulk_group [%in], [words], 1024;\n") {
  return "mov.u32 %r1, words;\nmad.lo.u32 %r2, %thread, 16, %r1;\nadd.u32 %r3, %thread, 100;\n"
         "st.shared.v4.b32 [%r2], {%r3, %r3, %r3, %r3};\n" +
         before + "bar.sync 0;\nsetp.ne.u32 %p0, %thread, 0;\n@%p0 bra issued;\n" + copy +
         "cp.async.bulk.commit_group;\n" + wait + "issued:\nmov.u32 %r0, 0;\n";
}

const std::vector<Copying>& copies() {
  const std::string commit = "cp.async.commit_group;\n", fence = "fence.proxy.async.shared::cta;\n";
  static const std::vector<Copying> rows = {
      {"no_wait", own_copy(kCopy, ""), own_copy(kCopy, "cp.async.wait_all;"),
       "reads shared byte 512, before the copy of line 18"},
      {"wait_without_commit", own_copy(kCopy, "cp.async.wait_group 0;"),
       own_copy(kCopy, commit + "cp.async.wait_group 0;"), "before the copy of line"},
      {"wait_for_one_group_too_few", two_groups("cp.async.wait_group 2;"), two_groups("cp.async.wait_group 1;"),
       "before the copy of line"},
      {"others_copy_without_barrier", others_copy("cp.async.wait_all;"), others_copy("cp.async.wait_all;\nbar.sync 0;"),
       "cp.async.cg.shared.global"},
      {"barrier_before_the_wait", others_copy("bar.sync 0;\ncp.async.wait_all;"),
       others_copy("cp.async.wait_all;\nbar.sync 0;"), "cp.async.cg.shared.global"},
      {"overwritten_on_the_way", own_copy(kCopy, "st.shared.b32 [%r2+4], 7;\ncp.async.wait_all;"),
       own_copy(kCopy, "cp.async.wait_all;\nst.shared.b32 [%r2+4], 7;"),
       "writes shared byte 516, while the copy of line 18"},
      {"arrival_without_a_wait",
       "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra ready;\nmbarrier.init.shared.b64 [arrived], 64;\nready:\n" +
           own_copy(kCopy, "cp.async.mbarrier.arrive.noinc.shared.b64 [arrived];"),
       "setp.ne.u32 %p0, %thread, 0;\n@%p0 bra ready;\nmbarrier.init.shared.b64 [arrived], 64;\nready:\n" +
           own_copy(kCopy, std::string("cp.async.mbarrier.arrive.noinc.shared.b64 [arrived];\n") + kWaitForBulk),
       "before the copy of line"},
      {"bulk_load_without_wait", bulk_load("bar.sync 0;"), bulk_load(kWaitForBulk), "before the copy of line"},
      {"bulk_store_without_proxy_fence", bulk_store("", "cp.async.bulk.wait_group 0;\n"),
       bulk_store(fence, "cp.async.bulk.wait_group 0;\n"), "which ordinary stores wrote without a fence.proxy.async"},
      {"bulk_store_without_a_wait", bulk_store(fence, ""), bulk_store(fence, "cp.async.bulk.wait_group.read 0;\n"),
       "but no thread waits for it"},
      {"source_overwritten_on_the_way",
       bulk_store(fence, "st.shared.b32 [words+16], 1;\ncp.async.bulk.wait_group.read 0;\n"),
       bulk_store(fence, "cp.async.bulk.wait_group.read 0;\nst.shared.b32 [words+16], 1;\n"), "may still read it"},
      {"bulk_reduction_without_wait",
       bulk_store(fence, "", "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [words], 1024;\n"),
       bulk_store(fence, "cp.async.bulk.wait_group 0;\n",
                  "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [words], 1024;\n"),
       "but no thread waits for it"},
  };
  return rows;
}

std::vector<uint32_t> numbers(size_t n) {
  std::vector<uint32_t> values(n);
  for (size_t k = 0; k < n; ++k) values[k] = static_cast<uint32_t>(1000 + k);
  return values;
}

Result run_copies(const std::string& body, LaunchOptions options) {
  options.alone = true;
  return run_text(kernel(body + kStoreResult, kShared), {1}, {64}, 64, numbers(4096), options);
}

class SeededCopy : public ::testing::TestWithParam<Copying> {};

TEST_P(SeededCopy, IsReportedAndItsTwinRunsClean) {
  LaunchOptions options;
  options.checks = Checks::all();
  EXPECT_THAT(run_copies(GetParam().broken, options).fault, HasSubstr(GetParam().expected));
  EXPECT_EQ(run_copies(GetParam().mended, options).fault, "");
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    options.seed = seed;
    EXPECT_EQ(run_copies(GetParam().mended, options).fault, "") << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(All, SeededCopy, ::testing::ValuesIn(copies()),
                         [](const auto& row) { return row.param.name; });

// Without checks, the fault shows in the result under some seed. The corrected twin's result is right under each.
TEST(AsyncCopy, SeedsShowWhatIsNotWaitedFor) {
  const struct {
    const char* name;
    std::string broken, mended;
  } rows[] = {{"cp.async", own_copy(kCopy, ""), own_copy(kCopy, "cp.async.wait_all;")},
              {"groups", two_groups("cp.async.wait_group 2;"), two_groups("cp.async.wait_group 1;")},
              {"bulk", bulk_load(""), bulk_load(kWaitForBulk)}};
  for (const auto& row : rows) {
    uint32_t wrong = 0;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      LaunchOptions options;
      options.seed = seed;
      options.weak_memory = true;
      std::vector<uint32_t> expected(64);
      for (uint32_t t = 0; t < 64; ++t) expected[t] = 1000 + 4 * t;
      EXPECT_EQ(run_copies(row.mended, options).words, expected) << row.name << " seed " << seed;
      wrong += run_copies(row.broken, options).words != expected;
    }
    EXPECT_GT(wrong, 0u) << row.name;
  }
}

// Data of bulk copies and reductions arrives, with and without checks.
TEST(AsyncCopy, BulkStoresAndReductionsArrive) {
  const std::string fence = "fence.proxy.async.shared::cta;\n", wait = "cp.async.bulk.wait_group 0;\n";
  const std::string reduce = "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%in], [words], 1024;\n";
  for (const bool reduces : {false, true}) {
    const std::string body = reduces ? bulk_store(fence, wait, reduce) : bulk_store(fence, wait);
    for (uint64_t seed = 0; seed <= 6; ++seed) {
      Device device(profile_named("sm_90"));
      const Module module(kernel(body, kShared), device.profile, device.memory);
      uint32_t* in = device.upload(numbers(4096));
      LaunchOptions options;
      options.seed = seed;
      options.weak_memory = seed > 0;
      if (seed % 2) options.checks = Checks::all();
      ASSERT_EQ(run(device, module, "k", {1}, {64}, pack_parameters(in, in), 0, options), "");
      for (uint32_t k = 0; k < 256; ++k) {
        const uint32_t stored = 100 + k / 4;
        ASSERT_EQ(in[k], reduces ? 1000 + k + stored : stored) << "seed " << seed;
      }
      ASSERT_EQ(in[256], 1256u);
    }
  }
}

}  // namespace
}  // namespace ptx::emulator
