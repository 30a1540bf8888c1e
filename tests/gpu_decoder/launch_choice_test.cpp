// The choice among launch modes: what is measured when, what the status line says, and that answers continue after
// failures. Times are this machine's, so no test expects a certain mode to win.
#include "engine/gpu/launch_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gpu/measured_tokens.h"
#include "engine/profile.h"
#include "tests/support/decoder_cases.h"
#include "tests/support/error_of.h"
#include "tests/support/faulty_driver.h"

namespace warpchat {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace ptx::cuda;

const auto kAllReady = [](LaunchMode) { return true; };

void measure(LaunchChoice& choice, LaunchMode mode, double seconds) {
  for (uint32_t i = 0; i < LaunchChoice::kTokens; ++i) choice.add(mode, seconds);
}

TEST(LaunchChoice, MeasuresWhatIsReadyAndLooksAgainForTheRest) {
  LaunchChoice choice;
  const auto persistent_waits = [](LaunchMode mode) { return mode != LaunchMode::kPersistent; };
  const auto expect_next = [&](const auto& is_ready, LaunchMode mode, uint32_t tokens) {
    const LaunchChoice::Part part = choice.next(is_ready);
    EXPECT_EQ(part.mode, mode) << name_of(part.mode);
    EXPECT_EQ(part.tokens, tokens);
  };
  expect_next(persistent_waits, LaunchMode::kStream, 15);
  for (int i = 0; i < 5; ++i) choice.add(LaunchMode::kStream, 2e-3);
  expect_next(persistent_waits, LaunchMode::kStream, 10);  // an answer ended in between
  EXPECT_EQ(choice.description(), "auto (measured while it answers)");
  measure(choice, LaunchMode::kStream, 2e-3);
  expect_next(persistent_waits, LaunchMode::kGraph, 15);
  measure(choice, LaunchMode::kGraph, 1e-3);
  choice.add(LaunchMode::kGraph, 100);  // the terminal was paused
  expect_next(persistent_waits, LaunchMode::kGraph, 16);
  EXPECT_FALSE(choice.is_settled());
  expect_next(kAllReady, LaunchMode::kPersistent, 15);
  measure(choice, LaunchMode::kPersistent, 1.5e-3);
  EXPECT_TRUE(choice.is_settled());
  expect_next(kAllReady, LaunchMode::kGraph, UINT32_MAX);
  EXPECT_EQ(choice.description(), "graph (fastest: graph 1.00, persistent 1.50, stream 2.00 ms a token)");
}

TEST(LaunchChoice, LeavesOutWhatDoesNotWorkAndSaysWhy) {
  LaunchChoice choice;
  choice.leave_out(LaunchMode::kPersistent, "no room\nand a log of many lines");
  EXPECT_EQ(choice.description(), "auto (measured while it answers; not persistent: no room)");
  measure(choice, LaunchMode::kStream, 2e-3);
  measure(choice, LaunchMode::kGraph, 1e-3);
  EXPECT_EQ(choice.description(), "graph (fastest: graph 1.00, stream 2.00 ms a token; not persistent: no room)");
  choice.leave_out(LaunchMode::kGraph, "it broke later");
  EXPECT_EQ(choice.next(kAllReady).mode, LaunchMode::kStream);
  EXPECT_EQ(choice.description(),
            "stream (fastest: stream 2.00 ms a token; not graph: it broke later; not persistent: no room)");
}

class AutomaticLaunch : public testing::Test {
 protected:
  std::unique_ptr<Steps> load(FaultyDriver& driver, std::optional<LaunchMode> launch) const {
    return make_gpu_steps(model_.config, model_.tensors, {driver.device(), {.context = 64, .batch = 8}, launch, {}});
  }
  // Tokens are sampled, so a misplaced token changes all that follow.
  std::vector<Token> answer(Decoder& decoder, uint32_t n_tokens = 50) const {
    SamplingParams sampling;
    sampling.seed = 7;
    decoder.forward(some_tokens(5), 0, Logits::kLast);
    const auto source = make_token_source(decoder, {sampling, some_tokens(5), 5, 4, n_tokens});
    const std::atomic<bool> stop = false;
    std::vector<Token> tokens;
    for (uint32_t i = 0; i < n_tokens; ++i) tokens.push_back(source->next(stop).value());
    return tokens;
  }
  std::vector<Token> undisturbed(uint32_t n_tokens = 50) const {
    FaultyDriver driver;
    Decoder decoder(model_.config, load(driver, LaunchMode::kStream));
    return answer(decoder, n_tokens);
  }
  // Generates answers until a mode is chosen, and checks each. Returns the status line.
  std::string settled(FaultyDriver& driver, const std::vector<Token>& expected) const {
    std::unique_ptr<Steps> own = load(driver, std::nullopt);
    Steps& steps = *own;
    Decoder decoder(model_.config, std::move(own));
    EXPECT_THAT(steps.description(), HasSubstr("launch auto (measured while it answers"));
    do {
      EXPECT_EQ(answer(decoder), expected);
    } while (!steps.is_launch_mode_final());
    EXPECT_EQ(answer(decoder), expected) << "in the mode that was chosen";
    EXPECT_THAT(steps.description(), Not(HasSubstr("\n")));
    return steps.description();
  }

  const std::vector<std::byte> bytes_ = build_tiny_model(TinyModelSpec::smallest(1), /*seed=*/2);
  const DecodableModel model_{GgufFile::view(bytes_, "tiny")};
};

TEST_F(AutomaticLaunch, MeasuresEveryModeWhileItAnswers) {
  const std::vector<Token> expected = undisturbed();
  FaultyDriver driver;
  const std::string status = settled(driver, expected);
  EXPECT_THAT(status, HasSubstr(" (fastest: "));
  for (const std::string_view name : kLaunchModeNames) EXPECT_THAT(status, HasSubstr(" " + std::string(name) + " "));
}

TEST_F(AutomaticLaunch, SettlesForThoseWhoMeasureSomethingElse) {
  for (const uint32_t context : {1u, 6u, 40u}) {  // the shorter ones have no token to measure
    std::unique_ptr<Steps> own =
        make_gpu_steps(model_.config, model_.tensors, {test_device(), {.context = context}, std::nullopt, {}});
    Steps& steps = *own;
    Decoder decoder(model_.config, std::move(own));
    const std::vector<float> expected = decode(decoder, some_tokens(1), {1});
    settle_launch_mode(decoder);
    EXPECT_EQ(steps.is_launch_mode_final(), context == 40);
    EXPECT_FALSE(steps.profile().is_enabled()) << "as before";
    EXPECT_EQ(decode(decoder, some_tokens(1), {1}), expected);
  }
}

// If a mode fails, the answer continues in another one with the same tokens, and the status line says why.
struct LaunchFault {
  const char* name;
  void (*break_it)(DriverTable&);
  const char* says;  // in the status line
  LaunchMode mode;
  const char* of_named;  // error if the mode was requested by name; null: like `says`, at the first answer
};
const LaunchFault kLaunchFaults[] = {
    {"compile",
     [](DriverTable& table) {
       table.cuModuleLoadDataEx = [](CUmodule* module, const void* text, auto... rest) {
         const bool is_persistent =
             std::string_view(static_cast<const char*>(text)).find("persistent_") != std::string_view::npos;
         return is_persistent ? CUDA_ERROR_INVALID_PTX : emulator_table().cuModuleLoadDataEx(module, text, rest...);
       };
     },
     "not persistent: compiling the kernels: cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX",
     LaunchMode::kPersistent, "compiling the kernels: cuModuleLoadDataEx failed with CUDA_ERROR_INVALID_PTX"},
    {"fit",
     [](DriverTable& table) {
       table.cuOccupancyMaxActiveBlocksPerMultiprocessor = [](int* blocks, auto...) {
         return *blocks = 0, CUDA_SUCCESS;
       };
     },
     "not persistent: the GPU cannot run the persistent decoder, whose blocks must all be resident",
     LaunchMode::kPersistent, "the GPU cannot run the persistent decoder, whose blocks must all be resident"},
    {"launch",
     [](DriverTable& table) {
       table.cuLaunchCooperativeKernel = [](auto...) { return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE; };
     },
     "not persistent: persistent_decoder", LaunchMode::kPersistent, nullptr},
    {"start", [](DriverTable& table) { table.cuLaunchCooperativeKernel = [](auto...) { return CUDA_SUCCESS; }; },
     "not persistent: the persistent decoder ended without a result", LaunchMode::kPersistent, nullptr},
    {"capture",
     [](DriverTable& table) {
       table.cuStreamBeginCapture = [](auto...) { return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; };
     },
     "not graph: recording a token: cuStreamBeginCapture failed", LaunchMode::kGraph, nullptr},
    {"graph", [](DriverTable& table) { table.cuGraphLaunch = [](auto...) { return CUDA_ERROR_OUT_OF_MEMORY; }; },
     "not graph: computing a token: cuGraphLaunch failed", LaunchMode::kGraph, nullptr},
};

TEST_F(AutomaticLaunch, GoesOnWithoutAModeThatDoesNotWork) {
  const std::vector<Token> expected = undisturbed();
  for (const LaunchFault& fault : kLaunchFaults) {
    FaultyDriver driver;
    fault.break_it(driver.table());
    EXPECT_THAT(settled(driver, expected), HasSubstr(fault.says)) << fault.name;
  }
}

TEST_F(AutomaticLaunch, WhereTheGpuHasNoCooperativeLaunchesIsWithoutThem) {
  const std::vector<Token> expected = undisturbed();
  FaultyDriver driver;
  DeviceChoice device = driver.device();
  device.gpu.can_cooperate = false;
  const auto steps = make_gpu_steps(model_.config, model_.tensors, {device, {.context = 64}, std::nullopt, {}});
  EXPECT_THAT(steps->description(), HasSubstr("; not persistent: the GPU has no cooperative launches)"));
}

TEST_F(AutomaticLaunch, ANamedModeThatDoesNotWorkIsAnError) {
  for (const LaunchFault& fault : kLaunchFaults) {
    FaultyDriver driver;
    fault.break_it(driver.table());
    std::unique_ptr<Steps> own = load(driver, LaunchMode::kStream);
    Steps& steps = *own;
    Decoder decoder(model_.config, std::move(own));
    const std::string at_load = error_of([&] { steps.set_launch_mode(fault.mode); });
    EXPECT_THAT(at_load, HasSubstr(fault.of_named != nullptr ? fault.of_named : "no error")) << fault.name;
    if (fault.of_named == nullptr) {
      const std::string reason(std::string_view(fault.says).substr(std::string_view(fault.says).find(": ") + 2));
      EXPECT_THAT(error_of([&] { answer(decoder); }), HasSubstr(reason)) << fault.name;
    }
  }
}

// If every mode fails, no single mode is blamed.
TEST_F(AutomaticLaunch, ALostDeviceIsAnErrorAsInEveryMode) {
  FaultyDriver driver;
  std::unique_ptr<Steps> own = load(driver, std::nullopt);
  Steps& steps = *own;
  Decoder decoder(model_.config, std::move(own));
  answer(decoder, 3);
  driver.fail("cuGraphLaunch", 1, CUDA_ERROR_LAUNCH_FAILED, FaultyDriver::Extent::kLost);
  EXPECT_THAT(error_of([&] { answer(decoder); }), HasSubstr("failed with CUDA_ERROR_LAUNCH_FAILED"));
  EXPECT_THAT(steps.description(), Not(HasSubstr("not graph")));
}

// Before the first token, only what it needs is compiled; afterwards, only what the answer needs.
TEST_F(AutomaticLaunch, CompilesForTheFirstTokenFirst) {
  static std::mutex mutex;
  static std::string compiled;
  const auto is_compiled = [](const std::string& what) {
    std::lock_guard lock(mutex);
    return compiled.find(".entry " + what) != std::string::npos;
  };
  compiled.clear();
  FaultyDriver driver;
  driver.table().cuModuleLoadDataEx = [](CUmodule* module, const void* text, auto... rest) {
    {
      std::lock_guard lock(mutex);
      compiled += static_cast<const char*>(text);
    }
    return emulator_table().cuModuleLoadDataEx(module, text, rest...);
  };
  Decoder decoder(model_.config,
                  make_gpu_steps(model_.config, model_.tensors,
                                 {driver.device(), {.context = 64, .batch = 8, .sequences = 2}, std::nullopt, {}}));
  const auto embedding_of = [&](PassKind kind, uint32_t columns) {
    const LaunchList list =
        launch_list(text_decoder(model_.config), model_.config, formats_of(model_.tensors), {kind, columns, 64});
    return name_of(*list.first<EmbeddingSpec>());
  };
  const std::string of_token = embedding_of(PassKind::kDecode, 1), of_batch = embedding_of(PassKind::kSmallBatch, 2);
  for (const char* needed : {"embedding_", "kv_scatter_", "gemm_", "sample_", "gemv_"})
    EXPECT_TRUE(is_compiled(needed)) << needed << " for a prompt's first token";
  for (const std::string& later : {of_token, of_batch, std::string("persistent_")})
    EXPECT_FALSE(is_compiled(later)) << later;
  EXPECT_EQ(answer(decoder, 1).size(), 1u);
  for (const std::string& later : {of_batch, std::string("persistent_")}) EXPECT_FALSE(is_compiled(later)) << later;
  answer(decoder, 2);
  EXPECT_TRUE(is_compiled(of_token));
  EXPECT_FALSE(is_compiled(of_batch));
}

}  // namespace
}  // namespace warpchat
