// Seeded faults: each is reported word for word, and its corrected twin passes.
#include "ptx/verifier.h"

#include <gtest/gtest.h>

#include "ptx/builder.h"
#include "ptx/instruction_table.h"

namespace ptx::testing {
namespace {

int line = 0, cause = 0;  // source lines of the faulty call, and of the branch that causes it

std::string filled(std::string text) {
  const auto replace = [&](const std::string& mark, int n) {
    for (size_t at; (at = text.find(mark)) != text.npos;) {
      text.replace(at, mark.size(), "(tests/ptx/verifier_test.cpp:" + std::to_string(n) + ")");
    }
  };
  replace("{line}", line);
  replace("{cause}", cause);
  return text;
}

struct Fault {
  const char* name;
  std::function<void(Builder&)> faulty, mended;
  const char* report;  // after "ptx: kernel"
};
class VerifierTest : public ::testing::TestWithParam<Fault> {};

std::string report_of(const std::function<void(Builder&)>& build) {
  try {
    Builder b("kernel", sm_80);
    build(b);
    b.finish(Launch{1, 64});
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST_P(VerifierTest, ReportsTheFault) {
  const std::string report = report_of(GetParam().faulty);
  EXPECT_EQ(report, "ptx: kernel" + filled(GetParam().report));
}

TEST_P(VerifierTest, PassesTheMendedTwin) { EXPECT_EQ(report_of(GetParam().mended), ""); }

const Fault kFaults[] = {
    {"value_of_a_branch",
     [](Builder& b) {
       std::vector<Reg<u32>> kept;
       b.if_(b.block() == 0, [&] { cause = __LINE__, kept.push_back(b.thread() * 2); });
       line = __LINE__, b.popc(kept[0]);
     },
     [](Builder& b) {
       Var<u32> kept = b.var("kept", 0u);
       b.if_(b.block() == 0, [&] { kept = b.thread() * 2; });
       b.popc(kept);
     },
     " line 16 {line}: %mul {cause} is read, but not every way here gives it a value; read it only where it is made"},
    {"variable_without_value",
     [](Builder& b) {
       cause = __LINE__;
       Var<f32> sum = b.var<f32>("sum");
       cause = __LINE__ - 1;
       b.for_("i", 0, b.block(), 1, [&](Reg<u32> i) { sum = b.convert<f32>(i); });
       line = __LINE__, b.ex2(sum);
     },
     [](Builder& b) {
       Var<f32> sum = b.var<f32>("sum");
       b.for_("i", 0, 4, 1, [&](Reg<u32> i) { sum = b.convert<f32>(i); });  // at least once
       b.ex2(sum);
     },
     " line 22 {line}: %sum {cause} is read, but not every way here gives it a value; assign the variable first"},
    {"variable_assigned_in_one_arm",
     [](Builder& b) {
       Var<u32> n = b.var<u32>("n");
       cause = __LINE__ - 1;
       b.if_else(
           b.block() == 0, [&] { n = 1; }, [] {});
       line = __LINE__, b.popc(n);
     },
     [](Builder& b) {
       Var<u32> n = b.var<u32>("n");
       b.if_else(
           b.block() == 0, [&] { n = 1; }, [&] { n = 2; });
       b.popc(n);
     },
     " line 17 {line}: %n {cause} is read, but not every way here gives it a value; assign the variable first"},
    {"value_under_a_guard",
     [](Builder& b) {
       std::vector<Reg<u32>> kept;
       b.predicated(b.thread() == 0, [&] { cause = __LINE__, kept.push_back(b.thread() + 1); });
       line = __LINE__, b.popc(kept[0]);
     },
     [](Builder& b) {
       b.predicated(b.thread() == 0, [&] {
         Reg<u32> next = b.thread() + 1;
         b.popc(next);  // under the same guard
       });
     },
     " line 13 {line}: %add {cause} is read, but not every way here gives it a value; read it only where it is made"},
    {"barrier_for_some_threads",
     [](Builder& b) { cause = __LINE__, b.if_(b.thread() < 32, [&] { line = __LINE__, b.barrier(); }); },
     [](Builder& b) { b.if_(b.block() < 32, [&] { b.barrier(); }); },
     " line 13 {line}: bar.sync waits for the whole block, which may have diverged in line 12 {cause} by %lt, which "
     "depends "
     "on %tid.x; move it out, or vouch for the condition with uniform()"},
    {"barrier_in_a_ragged_loop",
     [](Builder& b) {
       cause = __LINE__, b.for_("i", b.thread(), 100, 64, [&](Reg<u32>) { line = __LINE__, b.barrier(); });
     },
     [](Builder& b) { b.for_("i", b.block(), 100, 64, [&](Reg<u32>) { b.barrier(); }); },
     " line 15 {line}: bar.sync waits for the whole block, which may have diverged in line 13 {cause} by %ge, which "
     "depends "
     "on %tid.x; move it out, or vouch for the condition with uniform()"},
    {"barrier_after_some_returned",
     [](Builder& b) {
       cause = __LINE__, b.return_if(b.thread() >= b.param<u32>("n"));
       line = __LINE__, b.barrier();
     },
     [](Builder& b) {
       b.return_if(b.block() >= b.param<u32>("n"));
       b.barrier();
     },
     " line 16 {line}: bar.sync waits for the whole block, which may have diverged in line 15 {cause} by %ge, which "
     "depends "
     "on %tid.x; move it out, or vouch for the condition with uniform()"},
    {"barrier_under_a_variable",
     [](Builder& b) {
       Var<u32> n = b.var("n", 0u);
       b.if_(b.lane() == 0, [&] { n = 1; });  // the value differs between lanes, not the control flow
       cause = __LINE__, b.if_(n == 1, [&] { line = __LINE__, b.barrier(); });
     },
     [](Builder& b) {
       Var<u32> n = b.var("n", 0u);
       b.if_(b.block() == 0, [&] { n = 1; });
       b.if_(n == 1, [&] { b.barrier(); });
     },
     " line 18 {line}: bar.sync waits for the whole block, which may have diverged in line 17 {cause} by %eq_2, which "
     "depends on %laneid; move it out, or vouch for the condition with uniform()"},
    {"barrier_under_a_load",
     [](Builder& b) {
       Global<u32> n = b.global<u32>("n", 1);
       cause = __LINE__, b.if_(n.load() == 1, [&] { line = __LINE__, b.barrier(); });
     },
     [](Builder& b) {
       Global<u32> n = b.global<u32>("n", 1);
       b.if_(b.uniform(n.load()) == 1, [&] { b.barrier(); });
       b.if_(n.load(0, kReadOnly) == 1, [&] { b.barrier(); });  // constant between the threads' loads
     },
     " line 18 {line}: bar.sync waits for the whole block, which may have diverged in line 17 {cause} by %eq, which "
     "depends "
     "on %n_value; move it out, or vouch for the condition with uniform()"},
    {"guarded_barrier",
     [](Builder& b) { b.predicated(b.thread() == 0, [&] { cause = line = __LINE__, b.barrier(); }); },
     [](Builder& b) { b.predicated(b.block() == 0, [&] { b.barrier(); }); },
     " line 12 {line}: bar.sync waits for the whole block, which may have diverged in line 12 {cause} by %eq, which "
     "depends "
     "on %tid.x; move it out, or vouch for the condition with uniform()"},
    // A block barrier under a condition that is uniform per warp still hangs; one for the arriving warps does not.
    {"block_barrier_for_some_warps",
     [](Builder& b) { cause = __LINE__, b.if_(b.warp() == 0, [&] { line = __LINE__, b.barrier(); }); },
     [](Builder& b) { b.if_(b.warp() == 0, [&] { b.barrier(1, 32); }); },
     " line 14 {line}: bar.sync waits for the whole block, which may have diverged in line 13 {cause} by %eq, which "
     "depends "
     "on %tid.x; move it out, or vouch for the condition with uniform()"},
    {"shuffle_in_a_split_warp",
     [](Builder& b) { cause = __LINE__, b.if_(b.lane() < 16, [&] { line = __LINE__, b.shuffle_xor(b.thread(), 1); }); },
     [](Builder& b) {
       b.if_(b.lane() < 16, [&] { b.shuffle_xor(b.thread(), 1, 0xffff); });  // the mask names the lanes
       b.if_(b.warp() == 1, [&] { b.shuffle_xor(b.thread(), 1); });
     },
     " line 14 {line}: shfl.sync.bfly.b32 waits for the whole warp, which may have diverged in line 13 {cause} by %lt, "
     "which "
     "depends on %laneid; move it out, or vouch for the condition with warp_uniform()"},
    {"mma_in_a_split_warp",
     [](Builder& b) {
       Shared<f16> tile = b.shared<f16>("tile", 64);
       cause = __LINE__, b.if_(b.lane() < 8, [&] { line = __LINE__, b.ldmatrix<1>(tile); });
     },
     [](Builder& b) {
       Shared<f16> tile = b.shared<f16>("tile", 64);
       Reg<u32> leader = b.shuffle(b.thread(), 0);
       b.if_(leader < 8, [&] { b.ldmatrix<1>(tile); });  // every lane has lane 0's value
     },
     " line 15 {line}: ldmatrix.sync.aligned.m8n8.x1.shared.b16 waits for the whole warp, which may have diverged in "
     "line "
     "14 "
     "{cause} by %lt, which depends on %laneid; move it out, or vouch for the condition with warp_uniform()"},
    {"misaligned_by_an_offset",
     [](Builder& b) {
       Global<u8> quants = b.global<u8>("quants");
       line = __LINE__, (quants + b.thread() * 144 + 2).as<u32>().load<4>();
     },
     [](Builder& b) {
       Global<u8> quants = b.global<u8>("quants");
       (quants + b.thread() * 144 + 16).as<u32>().load<4>();
     },
     " line 17 {line}: ld.global.v4.u32 needs 16-byte alignment, %quants_2+2 has 2"},
    {"misaligned_by_a_stride",
     [](Builder& b) {
       Global<u8> quants = b.global<u8>("quants");
       line = __LINE__, (quants + b.thread() * 210).as<u32>().load();
     },
     [](Builder& b) {
       Global<u8> quants = b.global<u8>("quants");
       (quants + b.thread() * 212).as<u32>().load();
     },
     " line 17 {line}: ld.global.u32 needs 4-byte alignment, %quants_2 has 2; if it is more, vouch for it with "
     "aligned()"},
    {"alignment_from_a_parameter",
     [](Builder& b) {
       Global<f32> x = b.global<f32>("x");
       line = __LINE__, (x + b.param<u32>("start")).load<4>();
     },
     [](Builder& b) {
       Global<f32> x = b.global<f32>("x");
       Reg<u32> start = b.param<u32>("start");
       (x + start).aligned(16).load<4>();
       (x + b.multiple_of(4, start)).load<4>();
       (x + (start & ~3u)).load<4>();
       (x + start * 4).load<4>();
     },
     " line 18 {line}: ld.global.v4.f32 needs 16-byte alignment, %x_2 has 4; if it is more, vouch for it with "
     "aligned()"},
    {"alignment_in_a_loop",
     [](Builder& b) {
       Global<f32> x = b.global<f32>("x");
       b.for_("i", b.lane(), 128, 32, [&](Reg<u32> i) { line = __LINE__, x.load<2>(i); });
     },
     [](Builder& b) {
       Global<f32> x = b.global<f32>("x");
       b.for_("i", b.lane() * 2, 128, 64, [&](Reg<u32> i) { x.load<2>(i); });
     },
     " line 22 {line}: ld.global.v2.f32 needs 8-byte alignment, %x_2 has 4; if it is more, vouch for it with "
     "aligned()"},
    {"misaligned_copy",
     [](Builder& b) {
       Shared<u8> ring = b.shared<u8>("ring", 64);
       Global<u8> from = b.global<u8>("from");
       line = __LINE__, b.copy_async(ring + 8, from, Bytes<16>{});
     },
     [](Builder& b) {
       Shared<u8> ring = b.shared<u8>("ring", 64);
       Global<u8> from = b.global<u8>("from");
       b.copy_async(ring + 8, from + 8, Bytes<8>{});
     },
     " line 16 {line}: cp.async.cg.shared.global needs 16-byte alignment, %ring+8 has 8"},
    {"too_much_static_shared_memory", [](Builder& b) { b.shared<f32>("tile", 12289); },
     [](Builder& b) { b.shared<f32>("tile", 12288); }, ": static shared memory takes 49156 bytes, sm_80 has 49152"},
    {"too_much_shared_memory",
     [](Builder& b) {
       b.shared<u8>("tile", 1024);
       b.dynamic_shared<u8>("ring", 163 * 1024 - 1023);
     },
     [](Builder& b) {
       b.shared<u8>("tile", 1024);
       b.dynamic_shared<u8>("ring", 163 * 1024 - 1024);
     },
     ": shared memory takes 166913 bytes, sm_80 has 166912"},
    {"too_many_constants", [](Builder& b) { b.constant<u32>("table", std::vector<uint32_t>(16385)); },
     [](Builder& b) { b.constant<u32>("table", std::vector<uint32_t>(16384)); },
     ": constant memory takes 65540 bytes, sm_80 has 65536"},
    {"too_many_parameters",
     [](Builder& b) {
       for (int i = 0; i < 4096; ++i) b.param<u64>("p" + std::to_string(i));
     },
     [](Builder& b) {
       for (int i = 0; i < 4095; ++i) b.param<u64>("p" + std::to_string(i));
     },
     ": the parameter list takes 32768 bytes, sm_80 has 32764"},
    {"too_many_threads", [](Builder& b) { b.max_threads(1025); }, [](Builder& b) { b.max_threads(1024); },
     ": a block of 1025 threads; at most 1024 fit"},
    {"name_taken",
     [](Builder& b) {
       b.param<u32>("n");
       line = __LINE__, b.shared<u32>("n", 4);
     },
     [](Builder& b) {
       b.param<u32>("n");
       b.shared<u32>("m", 4);
     },
     " {line}: the name n is declared twice"},
    {"no_name", [](Builder& b) { line = __LINE__, b.param<u32>("2n"); }, [](Builder& b) { b.param<u32>("n2"); },
     " {line}: \"2n\" names nothing; expected letters, digits and underscores, a letter first"},
};
INSTANTIATE_TEST_SUITE_P(Faults, VerifierTest, ::testing::ValuesIn(kFaults),
                         [](const auto& row) { return std::string(row.param.name); });

// Faults that the builder's types prevent, planted into the instructions.
struct Planted {
  const char* name;
  std::function<void(Body&, const Operand&, const Operand&)> plant;  // after x: f32 and n: u32
  const char* report;                                                // empty: clean
};
class PlantedTest : public ::testing::TestWithParam<Planted> {};

void add(Body& body, const char* spelling, std::vector<Operand> operands, int n_results, Operand guard = {}) {
  body.code.push_back({.spelling = spelling,
                       .form = find_form(spelling),
                       .operands = std::move(operands),
                       .n_results = n_results,
                       .guard = std::move(guard)});
}

TEST_P(PlantedTest, IsReported) {
  Body body{"kernel", sm_80};
  body.symbols.push_back({Space::kParam, "size", Type::kU32, 1, 4});
  const Operand x = new_register(body, Type::kF32, "x", {}), n = new_register(body, Type::kU32, "n", {});
  add(body, "mov.f32", {x, immediate_operand(0, Type::kF32)}, 1);
  add(body, "mov.u32", {n, immediate_operand(0, Type::kU32)}, 1);
  GetParam().plant(body, x, n);
  std::string report;
  for (const Finding& finding : verify(body)) report += finding.what + "\n";
  EXPECT_EQ(report, GetParam().report);
}

Operand parameter(int64_t offset, int symbol = 0) {
  return {.kind = Operand::Kind::kAddress, .symbol = symbol, .offset = offset};
}

const Planted kPlanted[] = {
    {"nothing",
     [](Body& b, const Operand&, const Operand& n) {
       add(b, "add.u32", {n, n, n}, 1);
     },
     ""},
    {"wrong_register",
     [](Body& b, const Operand& x, const Operand& n) {
       add(b, "add.u32", {n, n, x}, 1);
     },
     "add.u32 operand 3 needs u32, %x is f32\n"},
    {"wrong_result",
     [](Body& b, const Operand& x, const Operand& n) {
       add(b, "mul.wide.u32", {n, n, n}, 1), (void)x;
     },
     "mul.wide.u32 operand 1 needs u64, %n is u32\n"},
    {"wrong_constant",
     [](Body& b, const Operand&, const Operand& n) {
       add(b, "add.u32", {n, n, immediate_operand(0, Type::kF32)}, 1);
     },
     "add.u32 operand 3 needs u32, found the constant 0f00000000\n"},
    {"too_few_operands",
     [](Body& b, const Operand&, const Operand& n) {
       add(b, "add.u32", {n, n}, 1);
     },
     "add.u32 takes 3 operands, found 2\n"},
    {"too_many_operands",
     [](Body& b, const Operand&, const Operand& n) {
       add(b, "bar.sync", {n, n, n}, 0);
     },
     "bar.sync takes 1 to 2 operands, found 3\n"},
    {"value_for_an_address",
     [](Body& b, const Operand&, const Operand& n) {
       add(b, "ld.global.u32", {n, n}, 1);
     },
     "ld.global.u32 operand 2 needs an address, found %n\n"},
    {"short_list",
     [](Body& b, const Operand& x, const Operand&) {
       add(b, "st.shared.v4.f32", {parameter(0), list_operand({x, x})}, 0);
     },
     "st.shared.v4.f32 operand 2 needs 4 values, found {%x, %x}\n"},
    {"guard_without_predicate", [](Body& b, const Operand&, const Operand& n) { add(b, "trap", {}, 0, n); },
     "the guard of trap needs pred, %n is u32\n"},
    {"no_instruction",
     [](Body& b, const Operand&, const Operand& n) {
       add(b, "frobnicate.u32", {n, n}, 1);
     },
     "there is no instruction frobnicate.u32\n"},
    {"label_nowhere",
     [](Body& b, const Operand&, const Operand&) { add(b, "bra", {label_operand(new_label(b, "away"))}, 0); },
     "bra to $away, an undefined label\n"},
    {"label_twice",
     [](Body& b, const Operand&, const Operand&) {
       const int label = new_label(b, "here");
       place_label(b, label, Where{});
       place_label(b, label, Where{});
     },
     "label $here is already in line 13 (:0)\n"},
    {"parameter_too_wide",
     [](Body& b, const Operand&, const Operand&) {
       add(b, "ld.param.u64", {new_register(b, Type::kU64, "wide", {}), parameter(0)}, 1);
     },
     "ld.param.u64 reads past the end of parameter size, a u32\n"},
    {"parameter_past_its_end",
     [](Body& b, const Operand&, const Operand& n) {
       add(b, "ld.param.u32", {n, parameter(4)}, 1);
     },
     "ld.param.u32 reads past the end of parameter size, a u32\n"},
    {"not_a_parameter",
     [](Body& b, const Operand&, const Operand& n) {
       b.symbols.push_back({Space::kShared, "tile", Type::kU32, 4, 4});
       add(b, "ld.param.u32", {n, parameter(0, 1)}, 1);
     },
     "ld.param.u32 reads tile, which is no parameter\n"},
    {"name_twice",
     [](Body& b, const Operand&, const Operand&) {
       b.symbols.push_back({Space::kShared, "size", Type::kU32, 4, 4});
     },
     "the name size is declared twice\n"},
};
INSTANTIATE_TEST_SUITE_P(Faults, PlantedTest, ::testing::ValuesIn(kPlanted),
                         [](const auto& row) { return std::string(row.param.name); });

// All findings of a kernel come in one error, in text order.
TEST(VerifierMessages, ListEveryFinding) {
  const std::string report = report_of([](Builder& b) {
    Var<u32> n = b.var<u32>("n");
    b.popc(n), line = __LINE__;
    b.if_(b.thread() == 0, [&] { b.barrier(), cause = __LINE__; });
  });
  EXPECT_EQ(report.substr(0, report.find(" is read")),
            filled("ptx: kernel line 11 {line}: %n (tests/ptx/verifier_test.cpp:" + std::to_string(line - 1) + ")"));
  EXPECT_NE(report.find(filled("\n  kernel line 14 {cause}: bar.sync waits")), report.npos) << report;
}

}  // namespace
}  // namespace ptx::testing
