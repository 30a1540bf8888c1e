// A decoder whose driver fails: it reports one sentence and leaks nothing. The next request works or says why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "engine/gpu/gpu_steps.h"
#include "engine/profile.h"
#include "engine/token_source.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/faulty_driver.h"

namespace warpchat {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace ptx::cuda;

constexpr uint32_t kContext = 32;

class GpuFaults : public testing::Test {
 protected:
  std::unique_ptr<Steps> load(FaultyDriver& driver, LaunchMode launch = LaunchMode::kStream) const {
    return make_gpu_steps(
        model_.config, model_.tensors,
        {.device = driver.device(), .sizes = {.context = kContext, .batch = 8}, .launch = launch, .drafts = false});
  }
  // A prompt, tokens from the host, and tokens sampled by the device. Returns all logits, then the tokens. answered:
  // called when all have come, before the work under way is dropped.
  std::vector<float> request(
      Decoder& decoder, const std::function<void()>& answered = [] {}) const {
    std::vector<float> results = decode(decoder, some_tokens(8), {5, 1});
    const std::vector<float> tokens = run(decoder, answered);
    results.insert(results.end(), tokens.begin(), tokens.end());
    return results;
  }
  // The second half of `request`: tokens sampled by the device.
  std::vector<float> run(
      Decoder& decoder, const std::function<void()>& answered = [] {}) const {
    std::vector<float> results;
    const auto source = make_token_source(decoder, {SamplingParams{}, some_tokens(8), 8, 0, 4});
    const std::atomic<bool> stop = false;
    for (int i = 0; i < 4; ++i) results.push_back(static_cast<float>(*source->next(stop)));
    answered();
    return results;
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(TinyModelSpec::smallest(1), /*seed=*/1);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

// "action: cuCall failed with CUDA_ERROR_NAME (number): meaning".
auto says(const std::string& function, const std::string& code) {
  return AllOf(HasSubstr(": " + function + " failed with " + code + " ("), Not(HasSubstr("\n")));
}

TEST_F(GpuFaults, AtEachAllocationOfALoad) {
  for (const std::string function : {"cuMemAlloc", "cuMemHostAlloc"}) {
    uint64_t n_calls = 0;
    {
      FaultyDriver driver;
      load(driver);
      n_calls = driver.calls(function);
    }
    ASSERT_GE(n_calls, 3u);
    for (uint64_t call = 1; call <= n_calls; ++call) {
      FaultyDriver driver;
      driver.fail(function, call, CUDA_ERROR_OUT_OF_MEMORY);
      EXPECT_THAT(error_of([&] { load(driver); }), AllOf(says(function, "CUDA_ERROR_OUT_OF_MEMORY"),
                                                         HasSubstr("allocating "), HasSubstr("memory is full")))
          << call;
      EXPECT_EQ(driver.alive(), "") << function << " " << call;
    }
  }
}

// Fails the first and the last call of every function that a load calls.
TEST_F(GpuFaults, AtEachFunctionThatALoadCalls) {
  std::map<std::string, uint64_t> calls;
  {
    FaultyDriver driver;
    const std::unique_ptr<Steps> steps = load(driver);
    calls = driver.all_calls();
  }
  uint64_t n_faults = 0;
  for (const auto& [function, n_calls] : calls) {
    if (FaultyDriver::ends_something(function)) continue;
    for (const uint64_t call : {uint64_t{1}, n_calls}) {
      FaultyDriver driver;
      driver.fail(function, call, CUDA_ERROR_UNKNOWN);
      const std::string error = error_of([&] { load(driver); });
      if (!driver.has_failed()) continue;  // the number of queries by threads may differ
      ++n_faults;
      EXPECT_THAT(error, says(function, "CUDA_ERROR_UNKNOWN")) << call;
      EXPECT_EQ(driver.alive(), "") << function << " " << call;
    }
  }
  EXPECT_GE(n_faults, 20u);
}

TEST_F(GpuFaults, AKernelThatTheDriverRefusesIsNamedByItsLog) {
  FaultyDriver driver;
  driver.damage_modules(true);
  EXPECT_THAT(error_of([&] { load(driver); }),
              AllOf(HasSubstr("compiling the kernels (ptx line 4"), HasSubstr("frobnicate"),
                    HasSubstr("cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX")));
  EXPECT_EQ(driver.alive(), "");
  driver.damage_modules(false);
  EXPECT_EQ(error_of([&] { load(driver); }), "no error");
}

// Decode kernels are compiled during the first prompt. A failure there fails only that request.
TEST_F(GpuFaults, KernelsOfATokenAreCompiledAgainAfterAFailure) {
  FaultyDriver driver;
  Decoder decoder(model_.config, load(driver));
  driver.fail("cuModuleLoadDataEx", 1, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_THAT(error_of([&] { request(decoder); }), says("cuModuleLoadDataEx", "CUDA_ERROR_OUT_OF_MEMORY"));
  EXPECT_EQ(error_of([&] { request(decoder); }), "no error");
}

class GpuFaultsInMode : public GpuFaults, public testing::WithParamInterface<LaunchMode> {
 protected:
  // Number of calls that decoding makes, by function.
  std::map<std::string, uint64_t> calls_of_decoding() const {
    FaultyDriver driver;
    Decoder decoder(model_.config, load(driver, GetParam()));
    return driver.calls_of([&] { request(decoder); });
  }
  static std::string launch_function() {
    return GetParam() == LaunchMode::kGraph        ? "cuGraphLaunch"
           : GetParam() == LaunchMode::kPersistent ? "cuLaunchCooperativeKernel"
                                                   : "cuLaunchKernel";
  }
  std::vector<float> expected() const {
    FaultyDriver driver;
    Decoder decoder(model_.config, load(driver, GetParam()));
    return request(decoder);
  }
};

TEST_P(GpuFaultsInMode, WhileDecodingLeaveTheNextPassRight) {
  const std::vector<float> undisturbed = expected();
  for (const auto& [function, n_calls] : calls_of_decoding()) {
    for (const uint64_t call : {uint64_t{1}, n_calls}) {
      FaultyDriver driver;
      {
        Decoder decoder(model_.config, load(driver, GetParam()));
        driver.fail(function, call, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
        bool is_answered = false;
        const std::string error = error_of([&] { request(decoder, [&] { is_answered = !driver.has_failed(); }); });
        if (!driver.has_failed()) continue;  // the number of events in use at once may differ
        if (is_answered) {
          EXPECT_EQ(error, "no error") << function << " " << call << ": the rest is not awaited";
        } else {
          EXPECT_THAT(error, says(function, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")) << call;
        }
        EXPECT_EQ(request(decoder), undisturbed) << function << " " << call;
      }
      EXPECT_EQ(driver.alive(), "") << function << " " << call;
      if (n_calls == 1) break;
    }
  }
}

TEST_P(GpuFaultsInMode, ALostDeviceIsToldAtEveryRequestUntilTheModelIsLoadedAgain) {
  const std::vector<float> undisturbed = expected();
  for (const std::string& function : {std::string("cuStreamSynchronize"), launch_function()}) {
    for (const CUresult code : {CUDA_ERROR_UNKNOWN, CUDA_ERROR_LAUNCH_FAILED}) {
      FaultyDriver driver;
      {
        Decoder decoder(model_.config, load(driver, GetParam()));
        request(decoder);
        driver.fail(function, GetParam() == LaunchMode::kPersistent ? 1 : 2, code, FaultyDriver::Extent::kLost);
        const std::string name = code == CUDA_ERROR_UNKNOWN ? "CUDA_ERROR_UNKNOWN" : "CUDA_ERROR_LAUNCH_FAILED";
        EXPECT_THAT(error_of([&] { request(decoder); }), says(function, name));
        for (int again = 0; again < 2; ++again)
          EXPECT_THAT(error_of([&] { request(decoder); }), HasSubstr(" failed with " + name));
      }
      EXPECT_EQ(driver.alive(), "") << function;
      Decoder decoder(model_.config, load(driver, GetParam()));
      EXPECT_EQ(request(decoder), undisturbed);
    }
  }
}

// Each call of a persistent run fails once: in the first run, which compiles it, and in a later one. What was launched
// must be released, or the next run would wait forever.
class GpuFaultsInRuns : public GpuFaults {
 protected:
  struct Loaded {
    FaultyDriver driver;
    Decoder decoder;
    explicit Loaded(const GpuFaultsInRuns& test)
        : decoder(test.model_.config, test.load(driver, LaunchMode::kPersistent)) {}
  };
  // An undisturbed prompt, then a run in which that call fails.
  void fail_in_run(Loaded& on, const std::string& function, uint64_t call) const {
    bool is_answered = false;
    decode(on.decoder, some_tokens(8), {5, 1});
    on.driver.fail(function, call, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
    const std::string error = error_of([&] { run(on.decoder, [&] { is_answered = !on.driver.has_failed(); }); });
    const bool is_polled = function == "cuEventQuery" || function == "cuCtxSetCurrent";  // as often as waiting takes
    if (is_polled && !on.driver.has_failed()) return on.driver.fail("nothing", 1, CUDA_SUCCESS);
    EXPECT_TRUE(on.driver.has_failed()) << function << " " << call;
    if (is_answered) {
      EXPECT_EQ(error, "no error") << function << " " << call << ": the rest is not awaited";
    } else {
      EXPECT_THAT(error, says(function, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")) << call;
    }
  }
};

// Each call needs a model of its own: with $WARPCHAT_FULL_TESTS all calls, else the first, the last and one between.
std::vector<uint64_t> calls_to_fail(uint64_t n_calls) {
  const bool every = std::getenv("WARPCHAT_FULL_TESTS") != nullptr;
  std::vector<uint64_t> calls;
  for (uint64_t call = 1; call <= n_calls; ++call)
    if (every || call == 1 || call == (n_calls + 1) / 2 || call == n_calls) calls.push_back(call);
  return calls;
}

TEST_F(GpuFaultsInRuns, AtEveryCallLeaveTheNextOneRight) {
  std::vector<float> undisturbed;
  std::map<std::string, uint64_t> of_first, of_later;
  {
    Loaded on(*this);
    decode(on.decoder, some_tokens(8), {5, 1});
    of_first = on.driver.calls_of([&] { undisturbed = run(on.decoder); });
    decode(on.decoder, some_tokens(8), {5, 1});
    of_later = on.driver.calls_of([&] { EXPECT_EQ(run(on.decoder), undisturbed); });
  }
  const auto goes_on = [&](Loaded& on) {
    decode(on.decoder, some_tokens(8), {5, 1});
    return run(on.decoder);
  };
  for (const auto& [function, n_calls] : of_first) {
    for (const uint64_t call : calls_to_fail(n_calls)) {
      Loaded on(*this);
      fail_in_run(on, function, call);
      EXPECT_EQ(goes_on(on), undisturbed) << function << " " << call;
    }
  }
  Loaded on(*this);
  EXPECT_EQ(goes_on(on), undisturbed);
  for (const auto& [function, n_calls] : of_later) {
    for (const uint64_t call : calls_to_fail(n_calls)) {
      fail_in_run(on, function, call);
      EXPECT_EQ(goes_on(on), undisturbed) << function << " " << call;
    }
  }
}

// The launch was accepted, but no token ever comes. When asked afterwards, the driver says why.
TEST_F(GpuFaultsInRuns, AHostThatWaitsForTokensHearsThatNoneWillCome) {
  static int n_asked;
  const struct {
    CUresult (*answer)(CUevent);
    const char* error;
  } cases[] = {{[](CUevent) { return ++n_asked, CUDA_ERROR_LAUNCH_FAILED; },
                "asking the GPU: cuEventQuery failed with CUDA_ERROR_LAUNCH_FAILED ("},
               {[](CUevent) { return ++n_asked, CUDA_SUCCESS; }, "the persistent decoder ended without a result"}};
  for (const auto& c : cases) {
    Loaded on(*this);
    decode(on.decoder, some_tokens(8), {5, 1});
    n_asked = 0;
    on.driver.table().cuEventQuery = c.answer;
    on.driver.table().cuLaunchCooperativeKernel = [](auto...) { return CUDA_SUCCESS; };
    EXPECT_THAT(error_of([&] { run(on.decoder); }), HasSubstr(c.error));
    EXPECT_EQ(n_asked, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, GpuFaultsInMode, testing::ValuesIn(kLaunchModes),
                         [](const auto& c) { return std::string(name_of(c.param)); });

}  // namespace
}  // namespace warpchat
