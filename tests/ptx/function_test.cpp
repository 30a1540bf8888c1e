// Device functions: kernels that call one give right answers, a module holds it once, and calls are checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "ptx/builder.h"
#include "ptxas.h"
#include "tests/emulator/harness.h"

namespace ptx::testing {
namespace {

using emulator::Device;
using emulator::pack_parameters;

constexpr uint32_t kThreads = 64, kValues = 200;

// out[0] = the sum of x[0, n), for the 64 threads that share barrier `id`; -1 where n is 0.
FunctionPointer sum_function(Target target) {
  Builder b("sum_of", target);
  Reg<u32> thread = b.argument<u32>("thread", Sharing::kNone);
  Reg<u32> id = b.argument<u32>("id", Sharing::kWarp), n = b.argument<u32>("n", Sharing::kWarp);
  b.shared_argument("memory");
  Global<s32> x = b.global_argument<s32>("x", Sharing::kWarp, 4), out = b.global_argument<s32>("out", Sharing::kWarp);
  b.inlined([&] {
    b.if_(n == 0, [&] {
      b.if_(thread == 0, [&] { out.store(0, -1); });
      b.return_();
    });
    Shared<s32> head = b.shared<s32>("head", 1), parts = b.shared<s32>("parts", kThreads);
    Var<s32> part = b.var("part", 0);
    b.for_("i", thread, n, kThreads, [&](Reg<u32> i) { part += x.load(i); });
    parts.store(thread, part);
    b.barrier(id, kThreads);
    b.if_(thread == 0, [&] {
      Var<s32> sum = b.var("sum", 0);
      b.for_("j", 0, kThreads, 1, [&](Reg<u32> j) { sum += parts.load(j); });
      head.store(0, sum);
      out.store(0, head.load());
    });
  });
  return b.finish_function();
}

// A block of 64 threads sums all of x.
Kernel sum_kernel(const FunctionPointer& sum, Target target) {
  Builder b("sum", target);
  Global<s32> x = b.global<s32>("x", kValues), out = b.global<s32>("out", 1);
  Reg<u32> n = b.param<u32>("n");
  b.call(sum, {b.thread(), 1u, n, b.shared<u8>("memory", sum->shared_bytes), x, out});
  return b.finish(Launch{1, kThreads});
}

// Two teams of a block sum one half each, twice, with separate shared memory.
Kernel halves_kernel(const FunctionPointer& sum, Target target) {
  Builder b("halves", target);
  Global<s32> x = b.global<s32>("x", kValues), out = b.global<s32>("out", 8);
  Shared<u8> memory = b.shared<u8>("memory", 2 * sum->shared_bytes);
  Reg<u32> team = b.warp_uniform(b.thread() / kThreads), first = team * (kValues / 2);
  b.for_("round", 0, 2, 1, [&](Reg<u32>) {
    b.call(sum, {b.thread() % kThreads, team + 1, b.var("n", kValues / 2), memory + team * sum->shared_bytes, x + first,
                 out + team * 4});
    b.barrier(team + 1, kThreads);
  });
  return b.finish(Launch{1, 2 * kThreads});
}

// Returns "" or the fault. Parameters in the kernel's order.
template <class... T>
std::string run(Device& device, const Kernel& kernel, const std::string& text, T... parameters) {
  const emulator::Module module(text, device.profile, device.memory);
  emulator::LaunchOptions options{.checks = emulator::Checks::all(), .seed = 7, .weak_memory = true};
  return emulator::run(device, module, kernel.name.c_str(), {1, 1, 1}, {kernel.launch.threads.x, 1, 1},
                       pack_parameters(parameters...), 0, options, /*threads=*/1);
}

struct Sums {
  Device device;
  std::vector<int32_t> x = std::vector<int32_t>(kValues), out = std::vector<int32_t>(8);
  int32_t *x_at, *out_at;
  Sums() {
    std::iota(x.begin(), x.end(), -50);
    x_at = device.upload(x), out_at = device.upload(out);
  }
  void fetch() { out = device.download(out_at, out.size()); }
};

TEST(Function, SumsForKernelsOfDifferentTeams) {
  const FunctionPointer sum = sum_function(sm_80);
  const std::vector<Kernel> kernels = {sum_kernel(sum, sm_80), halves_kernel(sum, sm_80)};
  const std::string text = module_text(kernels);
  Sums sums;
  ASSERT_EQ(run(sums.device, kernels[0], text, sums.x_at, sums.out_at, kValues), "");
  sums.fetch();
  EXPECT_EQ(sums.out[0], std::accumulate(sums.x.begin(), sums.x.end(), 0));
  ASSERT_EQ(run(sums.device, kernels[1], text, sums.x_at, sums.out_at), "");
  sums.fetch();
  EXPECT_EQ(sums.out[0], std::accumulate(sums.x.begin(), sums.x.begin() + kValues / 2, 0));
  EXPECT_EQ(sums.out[4], std::accumulate(sums.x.begin() + kValues / 2, sums.x.end(), 0));
}

TEST(Function, ReturnsEarlyToTheCaller) {
  const Kernel kernel = sum_kernel(sum_function(sm_80), sm_80);
  Sums sums;
  ASSERT_EQ(run(sums.device, kernel, kernel.text, sums.x_at, sums.out_at, 0u), "");
  sums.fetch();
  EXPECT_EQ(sums.out[0], -1);
}

size_t count(const std::string& text, const std::string& what) {
  size_t n = 0;
  for (size_t at = 0; (at = text.find(what, at)) != text.npos; at += what.size()) ++n;
  return n;
}

TEST(Function, StandsOnceInAModule) {
  const FunctionPointer sum = sum_function(sm_80);
  const std::vector<Kernel> kernels = {sum_kernel(sum, sm_80), halves_kernel(sum, sm_80)};
  const std::string text = module_text(kernels);
  EXPECT_EQ(count(text, ".func sum_of("), 1u);
  EXPECT_EQ(count(text, "call.uni sum_of, ("), 2u);
  EXPECT_LT(text.find(".func sum_of("), text.find(".visible .entry"));
  for (const Kernel& kernel : kernels) EXPECT_EQ(count(kernel.text, ".func sum_of("), 1u) << kernel.name;
}

TEST(Function, StandsOnce) {
  const std::vector<Kernel> kernels = {sum_kernel(sum_function(sm_80), sm_80),
                                       halves_kernel(sum_function(sm_80), sm_80)};
  EXPECT_EQ(count(module_text(kernels), ".func sum_of("), 1u);
}

TEST(Function, RefusesDifferentOnesOfOneName) {
  Builder b("sum_of", sm_80);
  b.argument<u32>("n", Sharing::kNone);
  const FunctionPointer other = b.finish_function();
  Builder caller("caller", sm_80);
  caller.call(other, {caller.thread()});
  const std::vector<Kernel> kernels = {sum_kernel(sum_function(sm_80), sm_80), caller.finish(Launch{1, kThreads})};
  EXPECT_THROW(module_text(kernels), Error);
}

TEST(Function, AssemblesWithoutSpills) {
  if (find_ptxas().empty()) GTEST_SKIP() << "no ptxas";
  for (Target target : {sm_75, sm_90, sm_120}) {
    const FunctionPointer sum = sum_function(target);
    const std::vector<Kernel> kernels = {sum_kernel(sum, target), halves_kernel(sum, target)};
    const Assembly assembly = assemble(module_text(kernels), target);
    EXPECT_TRUE(assembly.accepted) << assembly.output;
  }
}

struct Fault {
  const char* name;
  std::function<void(Builder&, const FunctionPointer&)> call;
  const char* report;  // a part of it; nullptr: no fault
};
class FaultyCallTest : public ::testing::TestWithParam<Fault> {};

TEST_P(FaultyCallTest, IsReported) {
  std::string report;
  try {
    Builder b("kernel", sm_80);
    GetParam().call(b, sum_function(sm_80));
    b.finish(Launch{1, kThreads});
  } catch (const Error& error) {
    report = error.what();
  }
  if (GetParam().report)
    EXPECT_NE(report.find(GetParam().report), report.npos) << report;
  else
    EXPECT_EQ(report, "");
}

// x and out 16-byte aligned, or out at `offset` bytes; n as given.
template <class N>
void call_with(Builder& b, const FunctionPointer& sum, const N& n, int64_t offset = 0) {
  Global<s32> x = b.global<s32>("x", kValues);
  b.call(sum, {b.thread(), 1u, n, b.shared<u8>("memory", sum->shared_bytes), x, (x.as<u8>() + offset).as<s32>()});
}

const Fault kFaults[] = {
    {"none", [](Builder& b, const FunctionPointer& sum) { call_with(b, sum, b.block()); }, nullptr},
    {"too_few_arguments", [](Builder& b, const FunctionPointer& sum) { b.call(sum, {b.thread()}); },
     "sum_of takes 6 arguments, found 1"},
    {"wide_for_narrow", [](Builder& b, const FunctionPointer& sum) { call_with(b, sum, wide(b.block())); },
     "sum_of argument 3, n, needs u32"},
    {"value_of_a_thread", [](Builder& b, const FunctionPointer& sum) { call_with(b, sum, b.thread()); },
     "sum_of argument 3, n, must be the same in the whole warp"},
    {"misaligned_address", [](Builder& b, const FunctionPointer& sum) { call_with(b, sum, b.block(), 8); },
     "sum_of argument 6, out, needs 16-byte alignment"},
    {"parted_warp",
     [](Builder& b, const FunctionPointer& sum) { b.if_(b.lane() < 7, [&] { call_with(b, sum, b.block()); }); },
     "the call of sum_of waits for the whole warp"},
    {"under_a_guard",
     [](Builder& b, const FunctionPointer& sum) {
       b.predicated(b.block() == 0, [&] { call_with(b, sum, b.block()); });
     },
     "a call inside predicated()"},
};
INSTANTIATE_TEST_SUITE_P(Calls, FaultyCallTest, ::testing::ValuesIn(kFaults),
                         [](const auto& row) { return std::string(row.param.name); });

std::string refusal_of(const std::function<void(Builder&)>& build) {
  try {
    Builder b("function", sm_80);
    build(b);
    b.finish_function();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Function, RefusesWhatOnlyKernelsHave) {
  EXPECT_NE(refusal_of([](Builder& b) { b.thread(); }).find("has no arguments"), std::string::npos);
  const auto with_argument = [](const std::function<void(Builder&)>& build) {
    return refusal_of([&](Builder& b) {
      b.argument<u32>("n", Sharing::kNone);
      build(b);
    });
  };
  EXPECT_EQ(with_argument([](Builder& b) { b.thread(); }), "");
  EXPECT_NE(with_argument([](Builder& b) { b.param<u32>("m"); }).find("declares m"), std::string::npos);
  EXPECT_NE(with_argument([](Builder& b) { b.shared<u32>("cells", 4); }).find("declares cells"), std::string::npos);
  EXPECT_NE(with_argument([](Builder& b) { b.return_(); }).find("returns before its end"), std::string::npos);
  EXPECT_NE(with_argument([](Builder& b) { b.call(sum_function(sm_80), {}); }).find("only kernels call"),
            std::string::npos);
}

}  // namespace
}  // namespace ptx::testing
