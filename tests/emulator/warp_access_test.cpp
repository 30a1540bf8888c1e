// Loads and stores of whole warps, with every instruction set: the same bytes for any pattern of addresses.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <numeric>
#include <random>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

constexpr uint32_t kUnits = 64;  // in the source buffer

struct Pattern {
  const char* name;
  uint32_t (*unit)(uint32_t lane);
};
constexpr Pattern kPatterns[] = {
    {"contiguous", [](uint32_t l) { return l; }},        // one vector
    {"shifted", [](uint32_t l) { return l + 7; }},       // one vector, unaligned
    {"reversed", [](uint32_t l) { return 31 - l; }},     // ends where contiguous lanes would not
    {"every_second", [](uint32_t l) { return 2 * l; }},  // a gather, like all that follow
    {"one_for_all", [](uint32_t) { return 5u; }},
    {"last_differs", [](uint32_t l) { return l == 31 ? 63u : l; }},
    {"scattered", [](uint32_t l) { return l * 37 % 64; }},
    {"up_to_the_end", [](uint32_t l) { return 63 - l % 3; }},  // short units that end with the buffer
};

struct Width {
  const char *type, *registers;
  uint32_t bytes;
};
constexpr Width kWidths[] = {
    {"u8", "%h1", 1},
    {"b16", "%h1", 2},
    {"b32", "%r1", 4},
    {"b64", "%rd1", 8},
    {"v2.u8", "{%h1, %h2}", 2},
    {"v4.u8", "{%r1, %r2, %r3, %r4}", 4},  // bytes in wider registers
    {"v2.b16", "{%h1, %h2}", 4},
    {"v4.b16", "{%h1, %h2, %h3, %h4}", 8},
    {"v2.b32", "{%r1, %r2}", 8},
    {"v4.b32", "{%r1, %r2, %r3, %r4}", 16},
    {"v2.b64", "{%rd1, %rd2}", 16},
};

struct Lanes {
  const char* name;
  uint32_t mask;
};
constexpr Lanes kLaneSets[] = {{"all", kAllLanes}, {"odd", 0xaaaaaaaau}, {"the_last", 1u << 31}};

// Lane l moves unit index[l] of the source to unit index[32 + l] of `out`, in one space, if flag index[64 + l] is set.
std::string mover(const Width& w, const std::string& space) {
  const std::string bytes = std::to_string(w.bytes), type = w.type;
  const bool shared = space == ".shared";
  std::string text =
      "mad.wide.u32 %rd8, %thread, 4, %in;\nld.global.u32 %r8, [%rd8];\nld.global.u32 %r9, [%rd8+128];\n"
      "ld.global.u32 %r10, [%rd8+256];\nadd.u64 %rd9, %in, 384;\n";
  if (shared) {
    text +=
        "mov.u32 %r11, 0;\nmad.wide.u32 %rd10, %thread, 4, %rd9;\nmad.lo.u32 %r12, %thread, 4, 0;\nmov.u32 %r13, "
        "buffer;\nadd.u32 %r12, %r12, %r13;\nfill:\nld.global.u32 %r14, [%rd10];\nst.shared.u32 [%r12], %r14;\n"
        "add.u64 %rd10, %rd10, 128;\nadd.u32 %r12, %r12, 128;\nadd.u32 %r11, %r11, 1;\n"
        "setp.lt.u32 %p0, %r11, 8;\n@%p0 bra fill;\nbar.sync 0;\nmad.lo.u32 %r8, %r8, " +
        bytes + ", %r13;\n";
  } else {
    text += "mad.wide.u32 %rd9, %r8, " + bytes + ", %rd9;\n";
  }
  text += "mad.wide.u32 %rd11, %r9, " + bytes + ", %out;\nsetp.ne.u32 %p1, %r10, 0;\n@%p1 ld" + space + "." + type +
          " " + w.registers + ", [" + (shared ? "%r8" : "%rd9") + "];\n@%p1 st" + (shared ? ".global" : space) + "." +
          type + " [%rd11], " + w.registers + ";\n";
  return kernel(text, ".shared .align 16 .b8 buffer[1024];\n");
}

// Expected contents of `out`, which starts as 0xee.
std::vector<uint8_t> expected(const Width& w, const Pattern& from, const Pattern& to, uint32_t mask,
                              const std::vector<uint8_t>& source) {
  std::vector<uint8_t> out(kUnits * w.bytes, 0xee);
  for (uint32_t l = 0; l < kLanes; ++l) {
    if (mask >> l & 1) std::memcpy(&out[to.unit(l) * w.bytes], &source[from.unit(l) * w.bytes], w.bytes);
  }
  return out;
}

class WarpAccess : public testing::TestWithParam<std::tuple<InstructionSet, const char*, bool>> {};

TEST_P(WarpAccess, MovesTheSameBytes) {
  const auto [set, space, checked] = GetParam();
  if (set > best_instruction_set()) GTEST_SKIP() << "this machine has no such instructions";
  std::mt19937 random(1);
  for (const Width& w : kWidths) {
    Device device;
    const Module module(mover(w, space), device.profile, device.memory, set);
    std::vector<uint8_t> source(1024);
    for (uint8_t& byte : source) byte = static_cast<uint8_t>(random());
    for (const Pattern& pattern : kPatterns) {
      for (const Lanes& lanes : kLaneSets) {
        for (const bool scatters : {false, true}) {  // the pattern applies to writes or to reads
          const Pattern &from = kPatterns[0], &to = kPatterns[0];
          const Pattern &reads = scatters ? from : pattern, &writes = scatters ? pattern : to;
          std::vector<uint32_t> input(96);
          for (uint32_t l = 0; l < kLanes; ++l) {
            input[l] = reads.unit(l), input[32 + l] = writes.unit(l), input[64 + l] = lanes.mask >> l & 1;
          }
          const size_t n =
              space == std::string(".shared") ? 1024 : kUnits * w.bytes;  // the buffer ends with its last unit
          uint8_t* in = device.zeros<uint8_t>(384 + n);
          std::memcpy(in, input.data(), 384);
          std::memcpy(in + 384, source.data(), n);
          uint8_t* out = device.upload(std::vector<uint8_t>(kUnits * w.bytes, 0xee));
          LaunchOptions options;
          if (checked) options.checks.bounds = options.checks.uninitialised = true;
          const std::string what = std::string(w.type) + " " + pattern.name + " " + lanes.name;
          ASSERT_EQ(run(device, module, "k", {1}, {32}, pack_parameters(out, in), 0, options), "") << what;
          const std::vector<uint8_t> want = expected(w, reads, writes, lanes.mask, source);
          ASSERT_EQ(device.download(out, want.size()), want) << what << (scatters ? " written" : " read");
        }
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, WarpAccess,
                         testing::Combine(testing::Values(InstructionSet::kBaseline, InstructionSet::kAvx2,
                                                          InstructionSet::kAvx512),
                                          testing::Values(".global", ".shared", ""), testing::Bool()));

// Host memory may end with a page: no gather may read beyond it.
TEST(WarpAccessAtTheEdge, BytesAtTheEndOfAPage) {
  const size_t page = 4096;
  auto* pages =
      static_cast<uint8_t*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(mprotect(pages + page, page, PROT_NONE), 0);
  std::iota(pages + page - 64, pages + page, uint8_t{1});
  Device device;
  device.memory.register_host(pages + page - 64, 64);
  const Module module(
      kernel("mad.wide.u32 %rd8, %thread, 2, %in;\nld.global.u8 %r0, [%rd8+1];\n" + std::string(kStoreResult)),
      device.profile, device.memory);
  uint32_t* out = device.zeros<uint32_t>(32);
  EXPECT_EQ(run(device, module, "k", {1}, {32}, pack_parameters(out, pages + page - 64)), "");
  for (uint32_t l = 0; l < 32; ++l) EXPECT_EQ(out[l], 2 * l + 2) << l;
  device.memory.unregister_host(pages + page - 64);
  munmap(pages, 2 * page);
}

}  // namespace
}  // namespace ptx::emulator
