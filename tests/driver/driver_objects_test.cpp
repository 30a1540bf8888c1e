// Contexts, memory, streams, events, modules and launches on the emulator's table: success, and the message of each
// failure.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "engine/driver/module.h"
#include "ptx/builder.h"
#include "tests/support/error_of.h"
#include "tests/support/test_device.h"

namespace warpchat {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using namespace ptx::cuda;

// y[i] += x[i] * factor
ptx::Kernel scaled_sum(uint32_t n) {
  ptx::Builder b("scaled_sum", ptx::sm_75);
  ptx::Global<ptx::f32> x = b.global<ptx::f32>("x", n), y = b.global<ptx::f32>("y", n);
  ptx::Reg<ptx::u32> factor = b.param<ptx::u32>("factor");
  ptx::Reg<ptx::u32> i = b.block() * 64 + b.thread();
  b.if_(i < n, [&] { y.store(i, y.load(i) + x.load(i) * b.convert<ptx::f32>(factor)); });
  return b.finish(ptx::Launch{(n + 63) / 64, 64});
}

// Reads far beyond x.
ptx::Kernel wild_read() {
  ptx::Builder b("wild_read", ptx::sm_75);
  ptx::Global<ptx::f32> x = b.global<ptx::f32>("x", 1);
  x.store(0, x.load(int64_t{1} << 40));
  return b.finish(ptx::Launch{1, 32});
}

struct Gpu : ::testing::Test {
  ContextPointer context = Context::open(*test_device().table, test_device().gpu);
};

TEST_F(Gpu, AModuleRunsOnAStream) {
  constexpr uint32_t kN = 100;
  const Module module(context, {scaled_sum(kN)});
  const Stream stream(context);
  std::vector<float> x(kN), y(kN, 1.0f);
  std::iota(x.begin(), x.end(), 0.0f);
  const DeviceMemory device_x(context, kN * 4, "x"), device_y(context, kN * 4, "y");
  stream.upload(device_x.address(), std::as_bytes(std::span(x)));
  stream.upload(device_y.address(), std::as_bytes(std::span(y)));
  module.kernel(0).launch(stream, {device_x, device_y, 3u});
  stream.download(std::as_writable_bytes(std::span(y)), device_y.address());
  stream.wait();
  for (uint32_t i = 0; i < kN; ++i) EXPECT_EQ(y[i], 1.0f + 3.0f * static_cast<float>(i));
}

TEST_F(Gpu, EventsOrderStreamsAndMeasure) {
  const Module module(context, {scaled_sum(1)});
  const Stream first(context), second(context);
  const DeviceMemory x(context, 4, "x"), y(context, 4, "y");
  const GpuEvent before(context, GpuEvent::Timing::kOn), after(context, GpuEvent::Timing::kOn);
  EXPECT_NO_THROW(GpuEvent(context).wait()) << "an event that was never recorded counts as complete";
  first.fill(x.address(), 0, 4);
  first.fill(y.address(), 0, 4);
  first.record(before);
  module.kernel(0).launch(first, {x, y, 1u});
  first.record(after);
  second.wait_for(after);
  float result = -1;
  second.download(std::as_writable_bytes(std::span(&result, 1)), y.address());
  second.wait();
  EXPECT_EQ(result, 0.0f);
  EXPECT_TRUE(after.has_come());
  EXPECT_GE(after.seconds_since(before), 0.0);
}

TEST_F(Gpu, MemoryIsGivenBack) {
  const uint64_t before = context->memory().free_bytes;
  {
    DeviceMemory first(context, 1 << 20, "a test");
    const DeviceMemory moved = std::move(first);
    EXPECT_LE(context->memory().free_bytes, before - (1 << 20));
    const HostMemory pinned(context, 4096, "a test");
    EXPECT_EQ(pinned.as<uint32_t>().size(), 1024u);
  }
  EXPECT_EQ(context->memory().free_bytes, before);
}

TEST_F(Gpu, AFullMemorySaysWhatItWasFor) {
  EXPECT_THAT(
      error_of([&] { DeviceMemory(context, uint64_t{1} << 50, "weights"); }),
      AllOf(HasSubstr("allocating 1,125,899,906,842,624 bytes of GPU memory for weights: cuMemAlloc failed with "
                      "CUDA_ERROR_OUT_OF_MEMORY (2)"),
            HasSubstr("a smaller context")));
}

TEST_F(Gpu, RefusedTextBringsTheCompilersLog) {
  ptx::Kernel broken = scaled_sum(1);
  const size_t at = broken.entry.find("fma.rn.f32");
  const size_t mul = at == std::string::npos ? broken.entry.find("mul") : at;
  ASSERT_NE(mul, std::string::npos);
  broken.entry.insert(mul, "frobnicate.f32 %a, %b;\n  ");
  // The emulator names the word, a GPU's compiler the line and what follows the word.
  EXPECT_THAT(error_of([&] { Module(context, {broken}); }),
              AllOf(HasSubstr("compiling the kernels ("),
                    AnyOf(HasSubstr("frobnicate"), testing::ContainsRegex("line [0-9]+; fatal.*near '.f32'")),
                    HasSubstr("CUDA_ERROR_INVALID_PTX")));
}

// Has n parameters and does nothing.
ptx::Kernel of_numbers(uint32_t n) {
  ptx::Builder b("of_numbers_" + std::to_string(n), ptx::sm_75);
  for (uint32_t i = 0; i < n; ++i) b.param<ptx::u32>("number" + std::to_string(i));
  return b.finish(ptx::Launch{1, 32});
}

// Also in release builds: the driver would read beyond the arguments.
TEST_F(Gpu, ArgumentsThatDoNotFitAreRefused) {
  const Module module(context, {scaled_sum(1), of_numbers(48), of_numbers(49)});
  const Stream stream(context);
  const DeviceMemory x(context, 4, "x");
  const auto refusal = [&](size_t kernel, const std::vector<Argument>& arguments) {
    return error_of([&] { module.kernel(kernel).launch(stream, arguments, 1); });
  };
  EXPECT_EQ(refusal(1, std::vector<Argument>(48)), "no error");
  const struct {
    size_t kernel;
    std::vector<Argument> arguments;
    const char* says;
  } rows[] = {
      {2, std::vector<Argument>(49), "launching of_numbers_49: 49 arguments for 49 parameters, at most 48"},
      {1, std::vector<Argument>(49), "launching of_numbers_48: 49 arguments for 48 parameters, at most 48"},
      {1, std::vector<Argument>(47), "launching of_numbers_48: 47 arguments for 48 parameters, at most 48"},
      {0, {x, 1u, 1u}, "launching scaled_sum: parameter y is an address, the argument is not"},
      {0, {x, x, x}, "launching scaled_sum: parameter factor is a number, the argument is not"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(refusal(row.kernel, row.arguments),
              std::string(row.says) + ", which is a fault of warpchat: please report it");
}

// Alternating on one thread, like two models of a window.
TEST(EmulatedTargets, WorkSideBySide) {
  struct Side {
    explicit Side(const char* name)
        : device(choose_device(name)),
          context(Context::open(*device.table, device.gpu)),
          module(context, {scaled_sum(1)}),
          stream(context),
          x(context, 4, "x"),
          y(context, 4, "y") {}
    DeviceChoice device;
    ContextPointer context;
    Module module;
    Stream stream;
    DeviceMemory x, y;
  };
  const auto before = [](const DeviceChoice& device) {
    return Context::open(*device.table, device.gpu)->memory().free_bytes;
  };
  const uint64_t free_bytes = before(choose_device("emulator:sm_80"));
  {
    Side a("emulator:sm_80"), b("emulator:sm_86");
    for (const float factor : {2.0f, 3.0f}) {
      for (Side* side : {&a, &b}) {
        side->context->make_current();
        const float one = side == &a ? 1.0f : 10.0f, zero = 0;
        side->stream.upload(side->x.address(), std::as_bytes(std::span(&one, 1)));
        side->stream.upload(side->y.address(), std::as_bytes(std::span(&zero, 1)));
        side->module.kernel(0).launch(side->stream, {side->x, side->y, static_cast<uint32_t>(factor)});
        float sum = 0;
        side->stream.download(std::as_writable_bytes(std::span(&sum, 1)), side->y.address());
        side->stream.wait();
        EXPECT_EQ(sum, one * factor);
      }
    }
  }
  EXPECT_EQ(before(choose_device("emulator:sm_80")), free_bytes);
}

// A fault stays with its context until everything is released.
TEST(FaultyKernel, IsReportedWhenTheHostWaits) {
  const DeviceChoice& device = test_device();
  drop_test_context();
  {
    const ContextPointer context = Context::open(*device.table, device.gpu);
    const Module module(context, {wild_read()});
    const Stream stream(context);
    const DeviceMemory x(context, 4, "x");
    module.kernel(0).launch(stream, {x});
    EXPECT_THAT(error_of([&] { stream.wait(); }),
                AllOf(HasSubstr("computing on the GPU: cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS"),
                      HasSubstr("fault of warpchat")));
  }
  EXPECT_NO_THROW(Stream(keep_new_test_context()).wait()) << "a fresh context works";
}

// Every error below gives one sentence with the call, CUDA's name and a next step.
TEST(DriverErrors, SayWhatTheyMean) {
  struct Row {
    CUresult code;
    const char *name, *meaning;
  };
  constexpr Row kRows[] = {
      {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "nvidia-smi"},
      {CUDA_ERROR_NOT_PERMITTED, "CUDA_ERROR_NOT_PERMITTED", "/dev/nvidia"},
      {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "restart"},
      {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "update"},
      {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "conversation is kept"},
      {CUDA_ERROR_MAP_FAILED, "CUDA_ERROR_MAP_FAILED", ""},  // no sentence of ours: CUDA's is used
      {static_cast<CUresult>(4711), "an unknown error", "does not know"},
  };
  for (const Row& row : kRows)
    EXPECT_THAT(error_of([&] { check(emulator_table(), row.code, "cuThing", "doing things"); }),
                AllOf(HasSubstr("doing things: cuThing failed with"), HasSubstr(row.name), HasSubstr(row.meaning)));
}

}  // namespace
}  // namespace warpchat
