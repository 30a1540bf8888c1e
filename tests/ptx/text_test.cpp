// The emitted text as a whole, to the byte: names, comments, order.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "example_kernels.h"
#include "ptx/builder.h"

namespace ptx::testing {
namespace {

Kernel row_sums(Target target) {
  Builder b("row_sums", target);
  Global<f32> x = b.global<f32>("x", 64 * 100);
  Global<f32> sums = b.global<f32>("sums", 64, 4);
  Reg<f32> scale = b.param<f32>("scale");
  Shared<f32> slot = b.shared<f32>("slot", 1);
  Reg<u32> row = b.uniform(b.block()).named("row");
  Var<f32> sum = b.var("sum", 0.0f);
  b.for_("column", b.lane(), 100, kWarpSize,
         [&](Reg<u32> column) { b.region("add", [&] { sum += x.load(row * 100 + column, kReadOnly); }); });
  for (uint32_t distance = 16; distance > 0; distance /= 4) sum += b.shuffle_xor(sum, distance);
  b.if_(b.lane() == 0, [&] { slot.store(0, sum); });
  b.barrier();
  b.raw("pmevent 3;");
  b.if_(b.thread() == 0, [&] { sums.store(row, slot.load() * scale); });
  b.min_blocks_per_sm(2);
  return b.finish(Launch{64, 32});
}

constexpr const char* kRowSums = R"(.version 7.0
.target sm_80
.address_size 64

.visible .entry row_sums(
  .param .u64 .ptr .global .align 16 x,  // f32 [6400]
  .param .u64 .ptr .global .align 4 sums,  // f32 [64]
  .param .f32 scale
)
.maxntid 32
.minnctapersm 2
{
  .reg .pred %ge, %lt, %eq, %eq_2;
  .reg .b32 %slot, %block, %row, %lane, %column, %mul, %add, %thread;
  .reg .b64 %x_generic, %x, %sums_generic, %sums, %x_2, %sums_2;
  .reg .f32 %scale, %sum, %x_value, %sum_2, %sum_3, %sum_4, %slot_value, %mul_f32;
  .shared .align 16 .b8 slot[4];
  ld.param.u64 %x_generic, [x];
  cvta.to.global.u64 %x, %x_generic;
  ld.param.u64 %sums_generic, [sums];
  cvta.to.global.u64 %sums, %sums_generic;
  ld.param.f32 %scale, [scale];
  mov.u32 %slot, slot;
  mov.u32 %block, %ctaid.x;
  mov.u32 %lane, %laneid;
  mov.u32 %thread, %tid.x;
  mov.u32 %row, %block;  // the same in the whole block (tests/ptx/text_test.cpp:20)
  mov.f32 %sum, 0f00000000;
  // for column = lane to 100 step 32 (tests/ptx/text_test.cpp:22)
  mov.u32 %column, %lane;
  setp.ge.u32 %ge, %column, 100;
  @%ge bra $column_end;
$column:
  // tag: add
  mul.lo.u32 %mul, %row, 100;
  add.u32 %add, %mul, %column;
  mad.wide.u32 %x_2, %add, 4, %x;
  ld.global.nc.f32 %x_value, [%x_2];
  add.rn.f32 %sum, %sum, %x_value;
  // end tag: add
  add.u32 %column, %column, 32;
  setp.lt.u32 %lt, %column, 100;
  @%lt bra $column;
$column_end:
  shfl.sync.bfly.b32 %sum_2, %sum, 16, 31, 0xffffffff;
  add.rn.f32 %sum, %sum, %sum_2;
  shfl.sync.bfly.b32 %sum_3, %sum, 4, 31, 0xffffffff;
  add.rn.f32 %sum, %sum, %sum_3;
  shfl.sync.bfly.b32 %sum_4, %sum, 1, 31, 0xffffffff;
  add.rn.f32 %sum, %sum, %sum_4;
  setp.eq.u32 %eq, %lane, 0;
  @!%eq bra $endif;
  st.shared.f32 [%slot], %sum;
$endif:
  bar.sync 0;
  pmevent 3;  // raw (tests/ptx/text_test.cpp:27)
  setp.eq.u32 %eq_2, %thread, 0;
  @!%eq_2 bra $endif_2;
  ld.shared.f32 %slot_value, [%slot];
  mul.rn.f32 %mul_f32, %slot_value, %scale;
  mad.wide.u32 %sums_2, %row, 4, %sums;
  st.global.f32 [%sums_2], %mul_f32;
$endif_2:
  ret;
}
)";

TEST(TextTest, IsToTheByte) { EXPECT_EQ(row_sums(sm_80).text, kRowSums); }

TEST(TextTest, IsTheSameEveryTime) {
  for (const ExampleKernel& example : kExampleKernels) {
    EXPECT_EQ(example.build(sm_90).text, example.build(sm_90).text) << example.name;
  }
}

TEST(TextTest, HasTheOldestVersionThatWillDo) {
  struct Case {
    const char* why;
    Target target;
    std::function<void(Builder&, Reg<f32>)> build;
    int version;
  };
  const Case kCases[] = {
      {"the target's own", sm_75, [](Builder& b, Reg<f32> x) { b.rsqrt(x); }, 63},
      {"tanh", sm_75, [](Builder& b, Reg<f32> x) { b.tanh(x); }, 70},
      {"the target's own", sm_90, [](Builder& b, Reg<f32> x) { b.tanh(x); }, 78},
      {"bulk copies", sm_90, [](Builder& b, Reg<f32>) { b.commit_bulk(); }, 80},
      {"sm_90a", sm_90a, [](Builder&, Reg<f32>) {}, 80},
      {"many parameters", sm_75,
       [](Builder& b, Reg<f32>) {
         for (int i = 0; i < 600; ++i) b.param<u64>("p" + std::to_string(i));
       },
       81},
  };
  for (const Case& c : kCases) {
    Builder b("versioned", c.target);
    c.build(b, b.param<f32>("x"));
    const Kernel kernel = b.finish();
    EXPECT_EQ(kernel.version.number, c.version) << c.why;
    EXPECT_EQ(kernel.text.find(".version " + spell(kernel.version) + "\n.target " + spell(c.target)), 0u);
  }
}

TEST(KernelTest, SaysWhatALaunchNeeds) {
  Builder b("launched", sm_80);
  b.param<u16>("small");
  b.global<f32>("x", 10);
  b.param<u32>("n");
  b.param<f64>("scale");
  b.shared<f32>("tile", 3);
  b.shared<u64>("next", 1);
  b.dynamic_shared<u8>("ring", 100);
  b.dynamic_shared<f32>("stage", 4);
  const Kernel kernel = b.finish(Launch{{4, 2}, 96}, Cost{.bytes = 7, .flops = 9});
  struct Expected {
    const char* name;
    Type type;
    bool pointer;
    uint64_t elements;
    uint32_t offset;
  };
  const Expected kExpected[] = {{"small", Type::kU16, false, 1, 0},
                                {"x", Type::kF32, true, 10, 8},
                                {"n", Type::kU32, false, 1, 16},
                                {"scale", Type::kF64, false, 1, 24}};
  ASSERT_EQ(kernel.parameters.size(), std::size(kExpected));
  for (size_t i = 0; i < std::size(kExpected); ++i) {
    EXPECT_EQ(kernel.parameters[i].name, kExpected[i].name);
    EXPECT_EQ(kernel.parameters[i].type, kExpected[i].type);
    EXPECT_EQ(kernel.parameters[i].pointer, kExpected[i].pointer);
    EXPECT_EQ(kernel.parameters[i].elements, kExpected[i].elements);
    EXPECT_EQ(kernel.parameters[i].offset, kExpected[i].offset);
  }
  EXPECT_EQ(kernel.parameter_bytes, 32u);
  EXPECT_EQ(kernel.static_shared_bytes, 24u);    // 12, then 8 aligned to 16
  EXPECT_EQ(kernel.dynamic_shared_bytes, 128u);  // 100, then 16 aligned to 16
  EXPECT_EQ(kernel.launch.blocks.total(), 8u);
  EXPECT_EQ(kernel.launch.threads.x, 96u);
  EXPECT_EQ(kernel.cost.bytes, 7u);
  EXPECT_TRUE(kernel.notes.empty());
}

TEST(KernelTest, PartsTakeTurnsWithSharedMemory) {
  Builder b("turns", sm_80);
  b.shared<f32>("always", 3);
  b.in_turn([&] {
    b.shared<f32>("tile", 5);
    b.in_turn([&] { b.shared<u8>("inner", 1); });  // begins where all turns begin
    b.shared<f32>("next", 4);
  });
  b.in_turn([&] { b.shared<u64>("tile", 2, 32); });
  b.shared<f32>("after", 1);
  const Kernel kernel = b.finish(Launch{1, 32});
  for (const char* line : {".shared .align 16 .b8 always[12]", ".shared .align 32 .b8 shared_in_turn[48]",
                           ".shared .align 16 .b8 after[4]", "mov.u32 %tile, shared_in_turn;",
                           "mov.u32 %next, shared_in_turn+32;", "mov.u32 %tile_2, shared_in_turn;"}) {
    EXPECT_NE(kernel.text.find(line), std::string::npos) << line << " is missing from\n" << kernel.text;
  }
  EXPECT_EQ(kernel.static_shared_bytes, 84u);  // 12, then 48 aligned to 32, then 4
}

TEST(KernelTest, NotesRawLines) {
  const Kernel kernel = row_sums(sm_80);
  ASSERT_EQ(kernel.notes.size(), 1u);
  EXPECT_EQ(kernel.notes[0], "row_sums line 56 (tests/ptx/text_test.cpp:27): a raw line, which nothing verifies");
}

TEST(KernelTest, SeveralMakeAModule) {
  const std::vector<Kernel> kernels = {vector_add(5, sm_80), gemv_s8(2, 32, sm_80), row_sums(sm_80)};
  const std::string text = module_text(kernels);
  EXPECT_EQ(text.find(".version 7.0\n.target sm_80\n"), 0u);
  for (const Kernel& kernel : kernels) EXPECT_NE(text.find(kernel.entry), text.npos) << kernel.name;
}

std::string error_of(const std::function<void()>& build) {
  try {
    build();
    return "no error";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(KernelTest, ErrorsAreSentences) {
  EXPECT_EQ(error_of([] { module_text({}); }), "ptx: a module needs at least one kernel");
  EXPECT_EQ(error_of([] {
              module_text(std::vector{vector_add(1, sm_80), vector_add(2, sm_80)});
            }),
            "ptx: the module has two kernels named vector_add");
  EXPECT_EQ(error_of([] {
              module_text(std::vector{vector_add(1, sm_80), row_sums(sm_86)});
            }),
            "ptx: row_sums is built for sm_86, the module for sm_80");
  EXPECT_EQ(error_of([] {
              Builder b("wide", sm_80);
              b.warp();
              b.finish(Launch{1, {16, 16}});
            }),
            "ptx: wide: warp() counts warps of one-dimensional blocks, the launch has blocks of 16 x 16 x 1 threads");
  EXPECT_EQ(error_of([] { Builder("k", Target{70}); }), "ptx: target sm_70 is unknown");
  EXPECT_EQ(error_of([] { parse_target("sm_9x"); }),
            "ptx: target \"sm_9x\" is unknown; expected one like sm_75 or sm_90a");
  EXPECT_EQ(error_of([] { target_of_capability(7, 0); }),
            "ptx: compute capability 7.0 is no target of this builder, which knows 7.5 to 12.1");
}

// The developers' page shows the code that compiles here, and that the emulator runs.
TEST(ReadmeTest, ShowsTheKernelThatIsTested) {
  const auto contents = [](const std::string& name) {
    std::ifstream file(WARPCHAT_SOURCE_DIR "/" + name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string page = contents("ptx/README.md"), code = contents("tests/ptx/readme_kernel.h");
  const size_t start = page.find("```cpp\n") + 7, end = page.find("```", start);
  ASSERT_LT(end, page.size());
  const std::string shown = page.substr(start, end - start);
  EXPECT_EQ(shown, code.substr(code.find("#include")));
  EXPECT_LT(std::count(shown.begin(), shown.end(), '\n'), 40);
}

TEST(TargetTest, CapabilitiesAndNames) {
  EXPECT_EQ(target_of_capability(8, 6), sm_86);
  EXPECT_EQ(target_of_capability(12, 7), Target{121});  // newer than this table: runs code for 12.1
  EXPECT_EQ(parse_target("sm_90a"), sm_90a);
  EXPECT_EQ(spell(sm_90a), "sm_90a");
  EXPECT_TRUE(runs(sm_90a, sm_90));
  EXPECT_FALSE(runs(sm_100, sm_90a));
}

// Many registers of one name become one range; other types get another name.
TEST(Text, DeclaresManyRegistersOfANameAtOnce) {
  Builder b("ranges", sm_80);
  Global<f32> x = b.global<f32>("x", 64);
  Global<u32> n = b.global<u32>("n", 64);
  for (uint32_t i = 0; i < 8; ++i) {
    Reg<f32> value = x.load(i);
    x.store(i, b.fma(value, value, value + 1.0f));  // add of f32 and, below, of u32
    n.store(i, n.load(i) + 1u);
  }
  const std::string text = b.finish(Launch{1, 32}).text;
  EXPECT_NE(text.find(".reg .f32 %x_value, %add, %fma, %x_value_<9>, %add_<9>, %fma_<9>;"), std::string::npos) << text;
  EXPECT_NE(text.find(".reg .b32 %n_value, %add_b32, %n_value_<9>, %add_b32_<9>;"), std::string::npos) << text;
}

}  // namespace
}  // namespace ptx::testing
