// Models and devices in the worker: loading during a conversation, switching, failing, settings.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "app/chat/choices.h"
#include "app/chat/profile/compare_answers.h"
#include "models/text_format.h"
#include "tests/gui/worker_window.h"
#include "tests/support/threads/refused_threads.h"

namespace warpchat::gui {
namespace {

class ChatWorkerModelTest : public WorkerTest {
 protected:
  static ChatOptions without_model() {
    ChatOptions options = brief();
    options.model.clear();
    return options;
  }
  std::string write(const std::string& name, const std::vector<std::byte>& bytes) const {
    const std::string path = home_.path() + "/" + name;
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return path;
  }
};

TEST_F(ChatWorkerModelTest, TheConversationGoesOnOnAnotherDevice) {
  WorkerWindow window(brief());
  window.ask("one");
  const std::string first = window.messages()[1].content;
  for (const char* device : {"emulator:sm_90", "cpu"}) {
    window.post(LoadModel{"", device, std::nullopt, std::nullopt});
    window.until([&] { return window.state().model && window.state().model->device == device; }, device);
    EXPECT_TRUE(window.state().model->status.starts_with(std::string(device).substr(0, 3)));
    ASSERT_GE(window.messages().size(), 2u);
    EXPECT_EQ(window.messages()[1].content, first);
    const size_t n = window.messages().size();
    window.ask("more");
    EXPECT_EQ(window.messages().size(), n + 2);
    EXPECT_EQ(window.messages().back().status, MessageStatus::kComplete);
  }
  EXPECT_EQ(stored(window.open().id).size(), 6u);
  EXPECT_EQ(window.error(), "");
}

TEST_F(ChatWorkerModelTest, AnotherLaunchModeNeedsNoReload) {
  ChatOptions options = brief();
  options.device = "emulator:sm_90";
  options.launch = "stream";
  options.context = 128;
  WorkerWindow window(options);
  window.ask("one");
  const double load_seconds = window.state().model->load_seconds;
  window.post(LoadModel{"", std::nullopt, "graph", std::nullopt});
  window.until([&] { return window.state().model->launch == "graph"; }, "graphs");
  EXPECT_EQ(window.state().model->load_seconds, load_seconds);
  EXPECT_NE(window.state().model->status.find("launch graph"), std::string::npos);
  window.ask("two");
  EXPECT_EQ(window.messages().back().status, MessageStatus::kComplete);
}

TEST_F(ChatWorkerModelTest, AModelThatCannotBeLoadedLeavesTheOldOne) {
  WorkerWindow window(brief());
  window.ask("one");
  const LoadedModel before = *window.state().model;
  const struct {
    LoadModel wish;
    const char* says;
  } cases[] = {
      {{home_.path() + "/missing.gguf", std::nullopt, std::nullopt, std::nullopt}, "missing.gguf"},
      {{write("garbage.gguf", std::vector<std::byte>(64)), std::nullopt, std::nullopt, std::nullopt}, "garbage.gguf"},
      {{"", "cuda:7", std::nullopt, std::nullopt}, ""},
      {{"", "toaster", std::nullopt, std::nullopt}, "toaster"},
      {{"", std::nullopt, "sideways", std::nullopt}, "sideways"},
  };
  for (const auto& [wish, says] : cases) {
    const size_t n_notices = window.state().notices.size();
    window.post(wish);
    window.until([&] { return window.state().notices.size() > n_notices && !window.state().loading; }, "a fault");
    EXPECT_NE(window.error().find(says), std::string::npos) << window.error();
    EXPECT_EQ(window.state().model->path, before.path);
    EXPECT_EQ(window.state().model->device, "cpu");
  }
  window.ask("two");
  EXPECT_EQ(window.messages().size(), 4u);
  EXPECT_EQ(window.messages().back().status, MessageStatus::kComplete);
}

TEST_F(ChatWorkerModelTest, AContextThatDoesNotFitMemoryLeavesTheOldModel) {
  WorkerWindow window(brief());
  window.ask("one");
  window.post(LoadModel{"", std::nullopt, std::nullopt, std::numeric_limits<int32_t>::max()});
  window.until([&] { return !window.error().empty() && !window.state().loading; }, "a fault");
  const NoticeItem& notice = window.state().notices.back();
  EXPECT_EQ(notice.text.find("--"), std::string::npos) << notice.text;
  ASSERT_TRUE(load_of(notice));
  const int32_t fits = *load_of(notice)->context;
  EXPECT_EQ(notice.action_label, "Use a context of " + grouped(static_cast<uint64_t>(fits)));
  ASSERT_TRUE(window.state().model) << "it was unloaded for the other one, and is loaded again";
  EXPECT_EQ(window.state().model->context, 512u);
  window.ask("two");
  EXPECT_EQ(window.messages().back().status, MessageStatus::kComplete);
}

TEST_F(ChatWorkerModelTest, AFileThatIsRemovedWhileItIsLoadedKeepsAnswering) {
  ChatOptions options = brief();
  options.model = write("model.gguf", endless_model(7));
  WorkerWindow window(options);
  window.ask("one");
  std::filesystem::remove(options.model);
  window.ask("two");
  EXPECT_EQ(window.messages().back().status, MessageStatus::kComplete);
  window.post(LoadModel{});
  window.until([&] { return !window.error().empty() && !window.state().loading; }, "a fault");
  EXPECT_NE(window.error().find("model.gguf"), std::string::npos) << window.error();
  window.ask("three");
  EXPECT_EQ(window.messages().size(), 6u);
}

TEST_F(ChatWorkerModelTest, WithoutThreadsTheUserIsToldAndNothingHangs) {
  WorkerWindow window(brief());
  window.until_loaded();
  {
    const RefusedThreads refused;
    window.post(Send{"one"});
    window.until([&] { return window.error().starts_with("the system gives no thread to answer"); }, "no answer");
    window.post(LoadModel{});
    window.until([&] { return window.error().starts_with("the system gives no thread to load the model"); }, "no load");
    window.until_idle();
    EXPECT_EQ(window.state().taken_sends, 0u);
    EXPECT_TRUE(window.messages().empty());
  }
  window.ask("two");
  EXPECT_EQ(window.messages().back().status, MessageStatus::kComplete);
  EXPECT_EQ(window.messages().size(), 2u);
}

TEST_F(ChatWorkerModelTest, WithoutAModelAMessageIsKeptAndAnsweredOnceThereIsOne) {
  WorkerWindow window(without_model());
  window.post(Send{"hello"});
  window.until([&] { return window.state().open.phase == AnswerPhase::kWaiting && !window.state().notices.empty(); },
               "it waits");
  EXPECT_EQ(window.state().taken_sends, 1u);
  EXPECT_EQ(stored(window.open().id).size(), 1u);
  window.post(LoadModel{brief().model, std::nullopt, std::nullopt, std::nullopt});
  window.until([&] { return window.messages().size() == 2 && window.state().open.phase == AnswerPhase::kIdle; },
               "an answer");
  EXPECT_EQ(stored(window.open().id).size(), 2u);
}

TEST_F(ChatWorkerModelTest, AMessageThatNoLongerWaitsIsAnsweredWhenAskedFor) {
  WorkerWindow window(without_model());
  window.post(Send{"hello"});
  window.until([&] { return window.state().open.phase == AnswerPhase::kWaiting; }, "it waits");
  window.post(Stop{});
  window.post(LoadModel{brief().model, std::nullopt, std::nullopt, std::nullopt});
  window.until_loaded();
  EXPECT_EQ(window.state().open.phase, AnswerPhase::kIdle);
  EXPECT_EQ(window.messages().size(), 1u);
  window.post(Regenerate{window.messages()[0].key});
  window.until([&] { return window.messages().size() == 2 && window.state().open.phase == AnswerPhase::kIdle; },
               "an answer");
}

TEST_F(ChatWorkerModelTest, AnAnswerThatWaitsToBeReplacedIsBackWhenItNoLongerWaits) {
  WorkerWindow window(brief());
  window.ask("hello");
  const uint64_t answer = window.messages()[1].key;
  window.post(UnloadModel{});
  window.post(Regenerate{answer});
  window.until([&] { return window.state().open.phase == AnswerPhase::kWaiting; }, "it waits");
  EXPECT_EQ(window.messages().size(), 1u);
  window.post(Stop{});
  window.until_idle();
  ASSERT_EQ(window.messages().size(), 2u);
  EXPECT_EQ(window.messages()[1].key, answer);
}

TEST_F(ChatWorkerModelTest, WhatIsSentWhileAModelLoadsIsAnsweredByThatModel) {
  WorkerWindow window(brief());
  window.until_loaded();
  const std::string other = write("other.gguf", endless_model(9));
  window.post(LoadModel{other, std::nullopt, std::nullopt, std::nullopt});
  window.post(Send{"hello"});
  window.until([&] { return window.messages().size() == 2 && window.state().open.phase == AnswerPhase::kIdle; },
               "an answer");
  EXPECT_EQ(window.state().model->path, other);
  EXPECT_EQ(store()->load(window.open().id).summary.model, other);
}

TEST_F(ChatWorkerModelTest, AModelMayBeLoadedWhileAnAnswerStreams) {
  WorkerWindow window(endless());
  window.post(Send{"go on"});
  window.until_streams(5);
  window.post(LoadModel{write("other.gguf", endless_model(9)), std::nullopt, std::nullopt, 256});
  window.until([&] { return window.state().loading && window.messages()[1].tokens.size() > 20; }, "both go on");
  window.post(Stop{});
  window.until([&] { return window.state().model->name == "other"; }, "the other model takes over");
  EXPECT_EQ(window.messages()[1].status, MessageStatus::kStopped);
  EXPECT_EQ(window.state().model->context, 256u);
}

TEST_F(ChatWorkerModelTest, OnlyTheLastOfSeveralLoadsCounts) {
  WorkerWindow window(brief());
  window.until_loaded();
  const std::string second = write("second.gguf", endless_model(8)), third = write("third.gguf", endless_model(9));
  window.post(LoadModel{second, std::nullopt, std::nullopt, std::nullopt});
  window.post(LoadModel{third, std::nullopt, std::nullopt, std::nullopt});
  window.until([&] { return window.state().model->name == "third" && !window.state().loading; }, "the third");
  window.post(LoadModel{second, std::nullopt, std::nullopt, std::nullopt});
  window.post(CancelLoading{});
  window.until([&] { return !window.state().loading; }, "nothing is loaded any more");
  EXPECT_TRUE(window.state().model);
  EXPECT_EQ(window.error(), "") << "what the user has cancelled is no error";
  window.post(UnloadModel{});
  window.until([&] { return !window.state().model; }, "no model");
}

TEST_F(ChatWorkerModelTest, WhatTheUserHasSetStaysWithAnotherModel) {
  const auto with_temperature = [&](float temperature, const char* name) {
    TinyModelSpec spec;
    spec.n_layers = 1;
    GgufWriter writer = tiny_model(spec, 5);
    writer.add_float32("general.sampling.temp", temperature);
    return write(name, writer.bytes());
  };
  ChatOptions options = brief();
  options.temperature.reset();
  options.model = with_temperature(0.25f, "quarter.gguf");
  WorkerWindow window(options);
  window.until_loaded();
  const AnswerSettings settings = settings_of(window.state());
  EXPECT_EQ(settings.sampling.temperature, 0.25f);
  EXPECT_FALSE(settings.random_seed) << "the flags give one";
  window.post(SetChoice{"top-k", {.top_k = 7}});
  window.post(SetChoice{"n-predict", {.n_predict = 2}});
  window.post(LoadModel{with_temperature(0.5f, "half.gguf"), std::nullopt, std::nullopt, std::nullopt});
  window.until([&] { return window.state().model && window.state().model->name == "half"; }, "the other model");
  EXPECT_EQ(settings_of(window.state()).sampling.temperature, 0.5f);
  EXPECT_EQ(settings_of(window.state()).sampling.top_k, 7u);
  window.ask("hello");
  EXPECT_LE(window.messages()[1].tokens.size(), 2u);
}

TEST_F(ChatWorkerModelTest, AnAnswerThatFailsSaysWhyAndTheConversationIsKept) {
  std::vector<std::byte> bytes = endless_model(5);
  const GgufFile file = GgufFile::view(bytes, "overflowing");
  const TensorInfo& norm = *file.find_tensor("output_norm.weight");
  const float huge = std::numeric_limits<float>::max();
  for (size_t i = 0; i < norm.k(); ++i)
    std::memcpy(bytes.data() + (norm.data.data() - bytes.data()) + i * sizeof huge, &huge, sizeof huge);
  ChatOptions options = brief();
  options.model = write("overflowing.gguf", bytes);
  WorkerWindow window(options);
  window.ask("hello");
  ASSERT_EQ(window.messages().size(), 2u);
  EXPECT_EQ(window.messages()[1].status, MessageStatus::kFailed);
  EXPECT_FALSE(window.messages()[1].failure.empty());
  EXPECT_EQ(window.error(), "") << "the message shows it";
  EXPECT_EQ(stored(window.open().id).size(), 1u);
  window.post(LoadModel{brief().model, std::nullopt, std::nullopt, std::nullopt});
  window.until([&] { return window.state().model && window.state().model->path == brief().model; }, "a sound model");
  window.post(Regenerate{window.messages()[1].key});
  window.until([&] { return window.messages().size() == 2 && window.messages()[1].status == MessageStatus::kComplete; },
               "an answer");
}

TEST_F(ChatWorkerModelTest, AMessageThatDoesNotFitTheContextIsRefusedWithAContextThatHoldsIt) {
  ChatOptions options = brief();
  options.context = 64;
  WorkerWindow window(options);
  window.until_loaded();
  const Send wish{std::string(100, 'x') + " end"};
  window.post(wish);
  window.until([&] { return window.state().refused_sends == 1; }, "it is refused");
  ASSERT_TRUE(window.state().refusal);
  EXPECT_NE(window.state().refusal->reason.find("the context holds 64"), std::string::npos);
  EXPECT_EQ(window.error(), "") << "the composer shows it";
  EXPECT_TRUE(window.messages().empty());
  EXPECT_EQ(window.state().taken_sends, 0u);
  EXPECT_TRUE(window.state().conversations.empty());
  const int32_t larger = static_cast<int32_t>(window.state().refusal->larger_context);
  ASSERT_GT(larger, 64);
  window.post(LoadModel{"", std::nullopt, std::nullopt, larger});
  window.post(wish);
  window.until([&] { return window.messages().size() == 2 && window.state().open.phase == AnswerPhase::kIdle; },
               "an answer");
  EXPECT_FALSE(window.state().refusal);
}

TEST_F(ChatWorkerModelTest, TheModelsOfTheFoldersAreListed) {
  const std::string folder = home_.path() + "/warpchat/models";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(brief().model, folder + "/tiny-q4_k_m.gguf");
  std::ofstream(folder + "/broken-Q8_0.gguf") << "GGUF?";
  WorkerWindow window(brief());
  window.until([&] { return window.state().models.size() > 3; }, "three models, and what can be fetched");
  window.until_loaded();
  const std::vector<ModelChoice>& models = window.state().models;  // the flags' first, then the folders by name
  EXPECT_EQ(models[0].path, brief().model);
  EXPECT_EQ(models[1].quantisation, "Q8_0");
  EXPECT_EQ(models[1].fits, FitsMemory::kUnknown);
  EXPECT_EQ(models[2].quantisation, "Q4_K_M");
  EXPECT_EQ(models[2].bytes, std::filesystem::file_size(brief().model));
  EXPECT_EQ(models[2].fits, FitsMemory::kYes);
  EXPECT_EQ(models[2].kind, ModelChoice::Kind::kFile);
  EXPECT_EQ(models[3].kind, ModelChoice::Kind::kFetch);
  EXPECT_NE(models[3].about, "");
  EXPECT_EQ(window.state().devices.front().name, "cpu");
  EXPECT_EQ(window.state().devices.back().name, "emulator:sm_120");
}

TEST_F(ChatWorkerModelTest, TheProfileIsShownWhileWatched) {
  WorkerWindow window(brief());
  window.until_loaded();
  window.ask("unwatched");
  EXPECT_TRUE(window.state().profile->rows.empty());
  window.post(WatchProfile{true});
  window.ask("watched");
  window.until([&] { return window.state().profile->tokens.size() >= 3; }, "the answer's tokens");
  EXPECT_FALSE(window.state().profile->rows.empty());
  const std::string path = home_.path() + "/trace.json";
  window.post(ExportProfile{path});
  window.until([&] { return !window.state().notices.empty(); }, "it is written");
  EXPECT_EQ(window.error(), "");
  EXPECT_TRUE(std::filesystem::exists(path));
}

// The kept profile covers all passes of an answer and nothing else, also if it ends with a token without text.
TEST_F(ChatWorkerModelTest, WhatIsKeptOfAnAnswerAgreesWithIt) {
  ChatOptions options = brief();
  options.model = write("ending.gguf", build_tiny_model(TinyModelSpec::smallest(2), /*seed=*/3));
  options.n_predict = 400;
  options.temperature = 50.0f;  // every token is equally likely, including one that ends the answer
  WorkerWindow window(options);
  window.until_loaded();
  window.post(WatchProfile{true});
  bool has_ended_by_itself = false;
  for (int32_t seed = 1; seed <= 12 && !has_ended_by_itself; ++seed) {
    window.post(NewConversation{});
    window.post(SetChoice{"seed", {.seed = seed}});
    window.ask("hello");
    window.until([&] { return window.state().answers.size() == static_cast<size_t>(seed); }, "what the answer took");
    const AnswerProfile& kept = *window.state().answers.back();
    const ChatMessage& message = window.messages().back();
    has_ended_by_itself = message.cut == AnswerCut::kNone;
    EXPECT_EQ(kept.number, static_cast<uint64_t>(seed));
    EXPECT_EQ(kept.device, "cpu");
    EXPECT_EQ(kept.timings, *message.timings);
    const uint32_t n_tokens = kept.timings.generated_tokens;
    EXPECT_EQ(message.tokens.size() + has_ended_by_itself, n_tokens) << "the last has no text";
    EXPECT_EQ(kept.n_passes, n_tokens - 1) << "the prompt's pass gave the first";
    double seconds = 0;
    for (const OperationProfile& row : kept.rows) {
      const bool is_of_a_layer = row.name != "embed" && row.name != "norm_logits";
      EXPECT_EQ(row.calls, kept.n_passes * (is_of_a_layer ? 2 : 1)) << row.name;
      seconds += row.seconds;
    }
    EXPECT_EQ(kept.rows.size(), 8u);
    EXPECT_LE(seconds, kept.timings.generate_seconds);
    EXPECT_GT(seconds, 0);
  }
  EXPECT_TRUE(has_ended_by_itself) << "none of these seeds";
}

// The device is ahead of the tokens that are read. Everything that it computed counts, and is shared out over that.
TEST_F(ChatWorkerModelTest, WhatIsKeptOfAnAnswerAgreesWithItInEveryLaunchMode) {
  ChatOptions options = brief();
  options.model = write("two_layers.gguf", build_tiny_model(TinyModelSpec::smallest(2), /*seed=*/3));
  options.device = "emulator:sm_90";
  options.launch = "stream";
  options.context = 128;
  options.n_predict = 8;
  WorkerWindow window(options);
  window.until_loaded();
  window.post(WatchProfile{true});
  for (const char* mode : {"stream", "graph", "persistent"}) {
    window.post(LoadModel{"", std::nullopt, mode, std::nullopt});
    window.until([&] { return window.state().model->launch == mode; }, mode);
    const size_t n = window.state().answers.size();
    window.post(NewConversation{});
    window.ask("hello");
    window.until([&] { return window.state().answers.size() > n; }, "what the answer took");
    const AnswerProfile& kept = *window.state().answers.back();
    EXPECT_EQ(kept.launch, mode);
    EXPECT_EQ(kept.device, "emulator:sm_90");
    EXPECT_GE(kept.n_passes + 1, kept.timings.generated_tokens) << mode;
    uint64_t attention = 0, waiting_rows = 0;
    for (const OperationProfile& row : kept.rows) {
      if (row.name.find("attention") != std::string::npos) attention += row.calls;
      waiting_rows += row.wait_seconds > 0;
    }
    EXPECT_EQ(attention, 2 * kept.n_passes) << mode;
    EXPECT_EQ(waiting_rows > 0, std::string(mode) == "persistent") << mode;
  }
  EXPECT_EQ(window.error(), "");
  const auto& answers = window.state().answers;
  EXPECT_TRUE(compare_answers(*answers[0], *answers[1])
                  .sentence.starts_with("graph instead of stream: as many instructions a token"));
}

TEST(Quantisation, IsReadFromANameWhereItNamesOne) {
  const struct {
    const char *path, *quantisation;
  } cases[] = {
      {"/m/qwen2.5-3b-instruct-q4_k_m.gguf", "Q4_K_M"},
      {"SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"},
      {"big-Q6_K-00001-of-00003.gguf", "Q6_K"},  // first of several parts
      {"model-f16.gguf", "F16"},
      {"qwen2.5-3b-instruct.gguf", ""},  // its last word is not a quantisation
      {"plain.gguf", ""},
  };
  for (const auto& [path, quantisation] : cases) EXPECT_EQ(quantisation_in_name(path), quantisation) << path;
  EXPECT_EQ(name_of_file_type(15), "Q4_K_M");
  EXPECT_EQ(name_of_file_type(32), "BF16");
  EXPECT_EQ(name_of_file_type(4), "");
  EXPECT_EQ(name_of_file_type(UINT64_MAX), "");
}

}  // namespace
}  // namespace warpchat::gui
