// A conversation whose device fails: it is kept, the user gets one sentence, and it continues or says why not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/gpu/gpu_steps.h"
#include "engine/session/local_responder.h"
#include "tests/support/faulty_driver.h"
#include "tests/support/scripted_chat.h"
#include "tests/support/test_files.h"
#include "tests/support/tiny_model.h"

namespace warpchat {
namespace {

using namespace std::chrono_literals;
using namespace ptx::cuda;
using ::testing::HasSubstr;
using ::testing::Not;
using Extent = FaultyDriver::Extent;

class SessionFaults : public testing::Test {
 protected:
  static std::string path_of(uint32_t model) {
    static const TemporaryFile half(build_tiny_model(TinyModelSpec::smallest(1, TensorType::kF16), /*seed=*/5)),
        bytes(build_tiny_model(TinyModelSpec::smallest(1, TensorType::kQ8_0), /*seed=*/6));
    return (model == 0 ? half : bytes).path();
  }
  static std::unique_ptr<Model> load_on_cpu(uint32_t which, uint32_t context) {
    ModelOptions options;
    options.path = path_of(which);
    options.context = context;
    options.threads = 1;
    return Model::load(options);
  }
  // A model whose decoder runs on the driver with faults on demand.
  std::unique_ptr<Model> load(uint32_t which = 0, uint32_t context = 256, LaunchMode launch = LaunchMode::kStream) {
    std::unique_ptr<Model> model = load_on_cpu(which, context);
    model->decoder.reset();
    model->decoder =
        std::make_unique<Decoder>(model->config, make_gpu_steps(model->config, model->tensors,
                                                                {.device = driver_.device(),
                                                                 .sizes = {.context = context, .batch = 16},
                                                                 .launch = launch,
                                                                 .drafts = false}));
    return model;
  }
  static AnswerOptions greedy() {
    AnswerOptions options;
    options.sampling.temperature = 0;
    options.max_tokens = 12;
    return options;
  }

  // What a session without faults answers to this text after that conversation.
  std::string answer_to(const std::vector<Message>& before, const std::string& text) {
    const std::unique_ptr<Model> model = load();
    LocalResponder responder(*model);
    ScriptedChat chat(responder, greedy());
    chat.messages = before;
    return chat.ask(text).text;
  }

  FaultyDriver driver_;
};

// A call during an answer, by launch mode.
struct ModeFault {
  LaunchMode launch;
  const char* function;
  uint64_t call;
};
class SessionFaultsInMode : public SessionFaults, public testing::WithParamInterface<ModeFault> {
 protected:
  std::unique_ptr<Model> load_in_mode() { return load(0, 256, GetParam().launch); }
  // An answer that the fault cuts short.
  CollectedAnswer cut_answer(ScriptedChat& chat, CUresult code, Extent extent) {
    driver_.fail(GetParam().function, GetParam().call, code, extent);
    chat.send("tell me of the sea");
    CollectedAnswer cut = chat.collect();
    EXPECT_TRUE(driver_.has_failed()) << "the answer had ended before";
    EXPECT_EQ(cut.end.reason, EndReason::kFailed);
    EXPECT_GE(cut.end.timings.generated_tokens, 1u);
    EXPECT_THAT(cut.end.error, HasSubstr(std::string(GetParam().function) + " failed with CUDA_ERROR_"));
    EXPECT_THAT(cut.end.error, Not(HasSubstr("\n")));
    EXPECT_EQ(chat.messages.size(), 2u);
    EXPECT_EQ(chat.messages.front().content, "tell me of the sea");
    EXPECT_EQ(chat.messages.back().content, cut.text);
    return cut;
  }
};

TEST_P(SessionFaultsInMode, AFailedCallEndsTheAnswerAndTheNextOneIsRight) {
  const std::unique_ptr<Model> model = load_in_mode();
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy());
  cut_answer(chat, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, Extent::kOnce);
  const std::vector<Message> kept = chat.messages;
  chat.send("and more");
  const CollectedAnswer next = chat.collect();
  EXPECT_EQ(next.end.error, "");
  EXPECT_EQ(next.end.timings.reused_tokens, 0u) << "the cache is unknown after a failure";
  EXPECT_EQ(next.text, answer_to(kept, "and more"));
}

TEST_P(SessionFaultsInMode, ALostDeviceKeepsTheConversationForAnotherModel) {
  std::vector<Message> kept;
  {
    const std::unique_ptr<Model> model = load_in_mode();
    LocalResponder responder(*model);
    ScriptedChat chat(responder, greedy());
    const CollectedAnswer cut = cut_answer(chat, CUDA_ERROR_UNKNOWN, Extent::kLost);
    EXPECT_THAT(cut.end.error, HasSubstr("the GPU stopped answering; the conversation is kept: load the model again"));
    kept = chat.messages;

    chat.send("and more");
    const CollectedAnswer refused = chat.collect();
    EXPECT_EQ(refused.end.reason, EndReason::kFailed);
    EXPECT_THAT(refused.end.error, HasSubstr("load the model again"));
    ASSERT_EQ(chat.messages.size(), 3u) << "the question stays, so that it can be asked again";
    EXPECT_EQ(chat.messages[2].content, "and more");
  }
  EXPECT_EQ(driver_.alive(), "");
  const std::unique_ptr<Model> again = load_in_mode();
  LocalResponder responder(*again);
  ScriptedChat chat(responder, greedy());
  chat.messages = kept;
  chat.send("and more");
  const CollectedAnswer answer = chat.collect();
  EXPECT_EQ(answer.end.error, "");
  EXPECT_EQ(answer.text, answer_to(kept, "and more"));
}

INSTANTIATE_TEST_SUITE_P(Modes, SessionFaultsInMode,
                         testing::Values(ModeFault{LaunchMode::kStream, "cuLaunchKernel", 60},
                                         ModeFault{LaunchMode::kGraph, "cuGraphLaunch", 3},
                                         ModeFault{LaunchMode::kPersistent, "cuLaunchCooperativeKernel", 1}),
                         [](const auto& c) { return std::string(name_of(c.param.launch)); });

// Decode kernels are compiled during the first prefill.
TEST_F(SessionFaults, MemoryThatRunsOutInTheFirstAnswerIsAskedForAgain) {
  const std::unique_ptr<Model> model = load();
  LocalResponder responder(*model);
  ScriptedChat chat(responder, greedy());
  driver_.fail("cuModuleLoadDataEx", 1, CUDA_ERROR_OUT_OF_MEMORY);  // while compiling for the second token
  chat.send("tell me of the sea");
  const CollectedAnswer none = chat.collect();
  EXPECT_EQ(none.end.reason, EndReason::kFailed);
  EXPECT_THAT(none.end.error, HasSubstr("CUDA_ERROR_OUT_OF_MEMORY (2): the GPU's memory is full"));
  EXPECT_EQ(none.end.timings.generated_tokens, 1u);
  chat.regenerate();
  EXPECT_EQ(chat.collect().text, answer_to({}, "tell me of the sea"));
}

// Loads, asks for two tokens and unloads, each time with another model, context, launch mode and device.
TEST_F(SessionFaults, AHundredSwitchesLeaveNothingBehind) {
  const DriverTable& table = emulator_table();
  CUdevice gpu = 0;
  CUcontext context = nullptr;  // keeps the context alive: its last release would free everything
  driver_.device();             // starts the driver
  ASSERT_EQ(table.cuDeviceGet(&gpu, 0), CUDA_SUCCESS);
  ASSERT_EQ(table.cuDevicePrimaryCtxRetain(&context, gpu), CUDA_SUCCESS);
  ASSERT_EQ(table.cuCtxSetCurrent(context), CUDA_SUCCESS);
  const auto free_bytes = [&] {
    size_t free = 0, total = 0;
    EXPECT_EQ(table.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
    return free;
  };
  const uint64_t free_before = free_bytes();
  for (uint32_t i = 0; i < 100; ++i) {
    const uint32_t positions = 64 + i % 7 * 16;
    const std::unique_ptr<Model> model =
        i % 5 == 4 ? load_on_cpu(i % 2, positions) : load(i % 2, positions, kLaunchModes[i % kLaunchModes.size()]);
    AnswerOptions options = greedy();
    options.max_tokens = 2;
    LocalResponder responder(*model);
    ScriptedChat chat(responder, options);
    chat.send("hello");
    ASSERT_EQ(chat.collect().end.error, "");
  }
  EXPECT_EQ(free_bytes(), free_before);
  EXPECT_EQ(driver_.alive(), "");
  EXPECT_EQ(table.cuDevicePrimaryCtxRelease(gpu), CUDA_SUCCESS);
}

}  // namespace
}  // namespace warpchat
