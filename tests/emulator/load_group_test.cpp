// Grouped loads of neighbouring bytes: their values, what must stay between them, and which load is at fault, by every
// instruction set. The first warp meets an unknown buffer and loads singly; the others use groups.
#include <gmock/gmock.h>

#include <algorithm>
#include <random>

#include "tests/emulator/kernel_text.h"

namespace ptx::emulator {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kRecord = 22, kThreads = 128;  // bytes per thread; not a multiple of its alignment

struct Case {
  const char *name, *body;
  uint32_t (*expected)(const uint8_t* record);  // %r0
};

uint32_t half(const uint8_t* record, uint32_t at) { return record[at] | uint32_t{record[at + 1]} << 8; }
uint32_t halves(const uint8_t* record, std::initializer_list<uint32_t> places) {
  uint32_t sum = 0;
  for (uint32_t at : places) sum = sum * 3 + half(record, at);
  return sum;
}

// Joins the given 16-bit registers as `halves` does.
#define JOIN(reg) "cvt.u32.u16 %r9, " reg ";\nmad.lo.u32 %r0, %r0, 3, %r9;\n"
#define LOAD(reg, at) "ld.global.u16 " reg ", [%rd1+" at "];\n"
#define ZERO "mov.u32 %r0, 0;\n"

const Case kCases[] = {
    {"in_order",
     LOAD("%h1", "2") LOAD("%h2", "4") LOAD("%h3", "6") LOAD("%h4", "8") ZERO JOIN("%h1") JOIN("%h2") JOIN("%h3")
         JOIN("%h4"),
     [](const uint8_t* r) {
       return halves(r, {2, 4, 6, 8});
     }},
    {"the_first_byte_last",
     LOAD("%h1", "8") LOAD("%h2", "14") LOAD("%h3", "10") LOAD("%h4", "0") ZERO JOIN("%h1") JOIN("%h2") JOIN("%h3")
         JOIN("%h4"),
     [](const uint8_t* r) {
       return halves(r, {8, 14, 10, 0});
     }},
    {"to_the_end_of_the_buffer",
     LOAD("%h1", "12") LOAD("%h2", "14") LOAD("%h3", "16") LOAD("%h4", "18") LOAD("%h5", "20") ZERO JOIN("%h1")
         JOIN("%h2") JOIN("%h3") JOIN("%h4") JOIN("%h5"),
     [](const uint8_t* r) {
       return halves(r, {12, 14, 16, 18, 20});
     }},
    {"every_width_and_sign",
     "ld.global.u8 %r1, [%rd1+4];\nld.global.s8 %r2, [%rd1+5];\nld.global.s16 %r3, [%rd1+6];\n"
     "ld.global.u16 %r4, [%rd1+8];\nld.global.s8 %h1, [%rd1+10];\nld.global.u8 %rd2, [%rd1+11];\n"
     "ld.global.s16 %rd3, [%rd1+12];\ncvt.s32.s16 %r5, %h1;\ncvt.u32.u64 %r6, %rd2;\nshr.s64 %rd3, %rd3, 2;\n"
     "cvt.u32.u64 %r7, %rd3;\nmad.lo.u32 %r0, %r1, 3, %r2;\nmad.lo.u32 %r0, %r0, 3, %r3;\nmad.lo.u32 %r0, %r0, 3, "
     "%r4;\nmad.lo.u32 %r0, %r0, 3, %r5;\nmad.lo.u32 %r0, %r0, 3, %r6;\nmad.lo.u32 %r0, %r0, 3, %r7;\n",
     [](const uint8_t* r) {
       const auto s8 = [&](uint32_t at) { return static_cast<uint32_t>(static_cast<int8_t>(r[at])); };
       const auto s16 = [&](uint32_t at) { return static_cast<int16_t>(half(r, at)); };
       uint32_t sum = r[4] * 3u + s8(5);
       sum = sum * 3 + static_cast<uint32_t>(s16(6));
       sum = sum * 3 + half(r, 8);
       sum = sum * 3 + s8(10);
       sum = sum * 3 + r[11];
       return sum * 3 + static_cast<uint32_t>(s16(12) >> 2);
     }},
    {"words_between_halves_may_be_misaligned",  // would be misaligned for every second thread if loaded
     "and.b32 %r1, %thread, 1;\nsetp.eq.u32 %p0, %r1, 1;\nmov.u32 %r0, 0;\n@%p0 bra done;\n" LOAD("%h1", "0")
         LOAD("%h2", "2") "ld.global.u32 %r2, [%rd1+4];\n" LOAD("%h3", "8") LOAD("%h4", "10") ZERO JOIN("%h1")
             JOIN("%h2") JOIN("%h3") JOIN("%h4") "add.u32 %r0, %r0, %r2;\ndone:\n",
     [](const uint8_t* r) {
       return halves(r, {0, 2, 8, 10}) + half(r, 4) + (half(r, 6) << 16);
     }},
    {"a_store_between_is_seen",
     LOAD("%h1", "0") "mov.u16 %h7, 513;\nst.global.u16 [%rd1+4], %h7;\n" LOAD("%h2", "2") LOAD("%h3", "4")
         LOAD("%h4", "6") LOAD("%h5", "8") ZERO JOIN("%h1") JOIN("%h2") JOIN("%h3") JOIN("%h4") JOIN("%h5"),
     [](const uint8_t* r) {
       uint32_t sum = halves(r, {0, 2}) * 3 + 513;
       sum = sum * 3 + half(r, 6);
       return sum * 3 + half(r, 8);
     }},
    {"a_register_still_in_use",
     "mov.u16 %h3, 7;\n" LOAD("%h1", "0") LOAD("%h2", "2") "mov.b16 %h7, %h3;\n" LOAD("%h3", "4") LOAD("%h4", "6")
         LOAD("%h5", "8") ZERO JOIN("%h1") JOIN("%h2") JOIN("%h3") JOIN("%h4") JOIN("%h5") JOIN("%h7"),
     [](const uint8_t* r) {
       return halves(r, {0, 2, 4, 6, 8}) * 3 + 7;
     }},
    {"a_register_loaded_twice",
     LOAD("%h1", "0") LOAD("%h2", "2") "mov.b16 %h7, %h2;\n" LOAD("%h2", "4") LOAD("%h3", "6") LOAD("%h4", "8")
         ZERO JOIN("%h1") JOIN("%h7") JOIN("%h2") JOIN("%h3") JOIN("%h4"),
     [](const uint8_t* r) {
       return halves(r, {0, 2, 4, 6, 8});
     }},
    {"the_base_moves",
     LOAD("%h1", "0") LOAD("%h2", "2") "add.u64 %rd1, %rd1, 2;\n" LOAD("%h3", "2") LOAD("%h4", "4") LOAD("%h5", "6")
         LOAD("%h6", "8") ZERO JOIN("%h1") JOIN("%h2") JOIN("%h3") JOIN("%h4") JOIN("%h5") JOIN("%h6"),
     [](const uint8_t* r) {
       return halves(r, {0, 2, 4, 6, 8, 10});
     }},
    {"some_lanes_only",
     "and.b32 %r1, %thread, 3;\nsetp.eq.u32 %p0, %r1, 0;\nmov.u16 %h4, 5;\n@%p0 bra join;\n" LOAD("%h1", "0")
         LOAD("%h2", "2") LOAD("%h3", "4") LOAD("%h4", "6") "join:\n" ZERO JOIN("%h4"),
     nullptr},
};

std::string text_of(const Case& c) {
  return kernel("mad.lo.u32 %r20, %block, 32, %thread;\nmad.wide.u32 %rd1, %r20, 22, %in;\n" + std::string(c.body) +
                "mad.wide.u32 %rd15, %r20, 4, %out;\nst.global.b32 [%rd15], %r0;\n");
}

struct Chosen {
  const char* name;
  InstructionSet set;
  bool checked;
};
constexpr Chosen kChosen[] = {
    {"baseline", InstructionSet::kBaseline, false}, {"baseline_checked", InstructionSet::kBaseline, true},
    {"avx2", InstructionSet::kAvx2, false},         {"avx2_checked", InstructionSet::kAvx2, true},
    {"avx512", InstructionSet::kAvx512, false},     {"avx512_checked", InstructionSet::kAvx512, true},
};

class LoadGroup : public testing::TestWithParam<Chosen> {};

TEST_P(LoadGroup, ValuesOfEveryLoad) {
  if (GetParam().set > best_instruction_set()) GTEST_SKIP() << "this machine has no such instructions";
  std::mt19937 random(1);
  for (const Case& c : kCases) {
    Device device;
    const Module module(text_of(c), device.profile, device.memory, GetParam().set);
    std::vector<uint8_t> bytes(kThreads * kRecord);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    const uint8_t* in = device.upload(bytes);
    const uint32_t* out = device.zeros<uint32_t>(kThreads);
    LaunchOptions options;
    if (GetParam().checked) options.checks.bounds = options.checks.uninitialised = true;
    ASSERT_EQ(run(device, module, "k", {kThreads / 32}, {32}, pack_parameters(out, in), 0, options), "") << c.name;
    for (uint32_t t = 0; t < kThreads; ++t) {
      const uint8_t* record = &bytes[t * kRecord];
      const bool is_odd_case = std::string(c.name) == "words_between_halves_may_be_misaligned" && t % 2 == 1;
      const uint32_t want = c.expected ? (is_odd_case ? 0 : c.expected(record)) : t % 4 ? half(record, 6) : 5;
      ASSERT_EQ(out[t], want) << c.name << " thread " << t;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(All, LoadGroup, testing::ValuesIn(kChosen),
                         [](const auto& one) { return std::string(one.param.name); });

// If a lane may not read all bytes of a group, only the load that goes too far is at fault.
TEST(LoadGroupFault, IsTheLoadsOwn) {
  const std::string text = text_of({"",
                                    LOAD("%h1", "14") LOAD("%h2", "16") LOAD("%h3", "18") LOAD("%h4", "20")
                                        LOAD("%h5", "22") ZERO JOIN("%h5"),
                                    {}});
  Device device;
  const Module module(text, device.profile, device.memory);
  const uint8_t* in = device.zeros<uint8_t>(kThreads * kRecord);
  const uint32_t* out = device.zeros<uint32_t>(kThreads);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<long>(text.find("%rd1+22")), '\n');
  LaunchOptions options;
  options.checks.bounds = true;
  const std::string fault = run(device, module, "k", {kThreads / 32}, {32}, pack_parameters(out, in), 0, options);
  EXPECT_THAT(fault, HasSubstr("k line " + std::to_string(line) + ": ld.global.u16 reads byte 2,816"));
  EXPECT_THAT(fault, HasSubstr("block 3 thread 31"));
}

}  // namespace
}  // namespace ptx::emulator
